/**
 * The executions of a process, and those in the store. An execution whose id was handed out can be asked for later: here, in another
 * process, or after its process has died.
 */

import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { atMost } from "../../base/time-limit.ts";
import { megabyte } from "../../base/units.ts";
import type { OpenCall } from "../../sandbox/checkpoint-contract.ts";
import type { FailureReason, Outcome } from "../../sandbox/contract.ts";
import type { CallMessage, SettleMessage } from "../../sandbox/messages.ts";
import { calledId } from "../../sandbox/seen-calls.ts";
import type { BriefExecution, StoredExecution } from "../../store/executions.ts";
import type { ExecutionWriter } from "../../store/jobs.ts";
import { continueExecution, type ExecuteRequest, type ExecutionParts, execute, limitsOf } from "../execute.ts";
import { sessionName } from "../program-reads.ts";
import { LastPrograms } from "../saved/last-programs.ts";
import type { ExecutionSpan, ExecutionStates } from "../telemetry.ts";
import { newId } from "../trace/id.ts";
import { startedByOf } from "../trace/record.ts";
import { mayAsk, type RequestingAgent } from "./asker.ts";
import { type CheckpointerOptions, ExecutionCheckpointer, type StoreAccess, type Taken } from "./checkpointer.ts";
import { CopyTurns } from "./copy-turns.ts";
import { type RecordedSoFar, recordedSoFar, type TraceRecording } from "./recording.ts";
import { type FollowedExecution, type Progress, programSavingMs, RunningExecution } from "./running-execution.ts";
import {
  type ExecutionsOptions,
  isOfOtherBuild,
  notFound,
  StoredExecutions,
  type StoredRequest,
} from "./stored-executions.ts";
import { cancelledOutcome, lostOutcome, outcomeJson, outcomeOf } from "./stored-outcome.ts";
import { readHead, readProgram, type StoredProgram } from "./stored-program.ts";

/** Time for running calls to be answered when the process ends. Agents wait about two seconds for the end. */
const lastAnswersMs = 1_000;

/** Time for programs to end before a process that leaves saves them. Their callers would have to ask again. */
const finishMs = 1_000;

/** How often a process that ends looks which executions it can give up. */
const drainLookMs = 50;

/** How often the store is looked at for what other processes want of executions. */
const executionLookMs = 500;

/** Runs of a saved program that an agent gets, the latest first. */
const maxToldRuns = 5;

export interface StartOptions {
  /** Keeps the execution from its start. Otherwise it is kept when it waits for long, or when its id is handed out. */
  isBackground?: boolean | undefined;
  /** The id, if it must be a certain one. No other execution may have it. */
  id?: string | undefined;
}

export class Executions implements AsyncDisposable {
  readonly #options: ExecutionsOptions;
  /** The executions in the store. */
  readonly stored: StoredExecutions;
  readonly #running = new Map<string, RunningExecution>();
  readonly #left: string[] = [];
  readonly #turns = new CopyTurns();
  readonly #last = new LastPrograms();
  /** The outcomes of programs that an agent has run nearly the same for the third time. */
  readonly repeated: Pick<WeakSet<Outcome>, "has"> = this.#last.repeated;
  /** Executions that are being taken over. */
  readonly #taking = new Map<string, Promise<RunningExecution | undefined>>();
  /** Parts whose executions have been ended. */
  readonly #ended = new WeakSet<ExecutionParts>();
  #isClosing = false;

  constructor(options: ExecutionsOptions) {
    this.#options = options;
    this.stored = new StoredExecutions(options, (id) => this.#running.get(id)?.cancel());
  }

  /** Starts an execution. The outcome rejects only with FILE_NOT_WRITABLE, if a background program cannot be stored. */
  start(
    request: Omit<ExecuteRequest, "id" | "checkpointer">,
    parts: ExecutionParts,
    { isBackground = false, id = newId(Date.now()) }: StartOptions = {},
  ): RunningExecution {
    const startedAt = Date.now();
    const { source, check, isForAgent = false, unattended, host, claim, starter, program, repeats, dryRun } = request;
    const isDryRun = dryRun !== undefined;
    const session = isForAgent ? sessionName(starter, parts) : undefined;
    const limits = limitsOf(request, parts);
    const { cwd } = parts;
    const asked = request.limits;
    const { door, person } = parts.config;
    const startedBy = startedByOf(request);
    const { telemetry } = parts;
    const spanned = { id, trace: request.trace, door, person: person?.id, startedBy, program: program?.name };
    const span = telemetry?.execution({ ...spanned, isContinued: false });
    const stored: StoredRequest = {
      source,
      asked,
      limits,
      check,
      isForAgent,
      unattended,
      host,
      door,
      person: person && { id: person.id, name: person.name },
      claim,
      starter,
      program,
      repeats,
      session,
      isDryRun,
      cwd,
      trace: span ? span.trace : request.trace,
    };
    const begun = {
      id,
      source,
      parts,
      isForAgent,
      unattended,
      host,
      program: program?.name,
      repeats,
      session,
      isDryRun,
    };
    const recording = parts.recorder?.begin(begun);
    const identity = { id, startedAt, request: JSON.stringify(stored), recording, isDryRun };
    const checkpointer = this.#checkpointer(identity, parts, isBackground);
    const about = { id, startedAt, starter, checkpointer, parts, isBackground };
    const running = this.#run(about, async (signal) => {
      if (isBackground) await checkpointer.begun;
      const origin = request.origin ?? request.signal;
      const lastProgram = () => this.#last.of(starter);
      const runsOf = (name: string) => this.stored.runsOf(name, maxToldRuns, parts, starter);
      const asked = { ...request, id, signal, origin, checkpointer, recording, span, lastProgram, runsOf };
      const outcome = await execute(asked, parts);
      if (!program && !isDryRun) this.#last.note(source, outcome, starter);
      return outcome;
    });
    // Its outcome rejects with the same error.
    if (isBackground) running.handOut().catch(() => {});
    return running;
  }

  /**
   * Finds an execution of this config: one of this process, of another one, or one whose process has died, which is continued here.
   * `asker` is the agent that asks; without it, the user does. Throws EXECUTION_NOT_FOUND, EXECUTION_LOST.
   */
  async follow(id: string, parts: ExecutionParts, asker?: RequestingAgent): Promise<FollowedExecution> {
    const running = this.#running.get(id);
    if (running && asker && !(await mayAsk(asker, running.starter))) throw notFound(id);
    if (running) return running;
    const access = await this.stored.open(parts);
    const row = await this.stored.rowOf(id, asker);
    if (row.state === "ended" || (await this.stored.isAlive(row))) return this.#followStored(row, access, parts);
    if (!this.stored.isOfView(row) || (await this.#isContinuedElsewhere(row)))
      return this.#followStored(row, access, parts);
    return (await this.#take(row, parts)) ?? this.follow(id, parts, asker);
  }

  /** Whether another build has saved the program, and its executable runs it now. */
  async #isContinuedElsewhere(row: StoredExecution): Promise<boolean> {
    if (row.engine === null || !isOfOtherBuild(row)) return false;
    return (await this.#options.otherBuilds?.continue(row.engine, row.id)) === true;
  }

  /** Waits for an execution of another process, and continues it here if that process dies. */
  #followStored(row: StoredExecution, { writer }: StoreAccess, parts: ExecutionParts): FollowedExecution {
    const { id, startedAt } = row;
    let outcome: Promise<Outcome> | undefined;
    const wait = async (): Promise<Outcome> => {
      for (;;) {
        const now = await this.stored.rowOf(id);
        if (now.state === "ended") {
          const { outcome = "", value } = await writer.do("outcome", id, {});
          return outcomeOf({ outcome, value });
        }
        // What runs for a person is continued where the person's workspace is: in the daemon, or in serve --http.
        const isOurs = this.stored.isOfView(now);
        if (isOurs && !(await this.stored.isAlive(now))) return (await this.follow(id, parts)).outcome;
        await Bun.sleep(executionLookMs);
      }
    };
    return {
      id,
      startedAt,
      get outcome() {
        outcome ??= wait();
        return outcome;
      },
      progress: async () => this.progressOf(await this.stored.rowOf(id)),
      handOut: () => Promise.resolve(),
      isHandedOut: true,
      isReleased: false,
      cancel: () => void writer.do("askToCancel", id, {}).catch(() => {}),
    };
  }

  /** How far a stored execution is. */
  async progressOf(row: BriefExecution): Promise<Progress> {
    const running = this.#running.get(row.id);
    if (running) return running.progress();
    if (row.state === "ended") return { state: "ended", ok: row.isOk, reason: row.reason as FailureReason | undefined };
    if (!(await this.stored.isAlive(row))) {
      if (this.stored.isOfLostBuild(row)) return { state: "lost", why: otherBuild };
      return row.unsaved === null ? { state: "stopped" } : { state: "lost", why: whyLost(row.unsaved) };
    }
    return row.wakeAt === null ? { state: "running", calls: [] } : { state: "asleep", until: row.wakeAt };
  }

  /** Cancels an execution of this config, wherever it runs. Returns false if it has ended. Throws EXECUTION_NOT_FOUND. */
  async cancel(id: string, parts: ExecutionParts): Promise<boolean> {
    const running = this.#running.get(id);
    if (running) {
      running.cancel();
      return true;
    }
    const access = await this.stored.open(parts);
    const { writer } = access;
    const row = await this.stored.rowOf(id);
    if (row.state === "ended") return false;
    if (await this.stored.isAlive(row)) await writer.do("askToCancel", id, {});
    else if (!(await this.#endUnrun(row, cancelledOutcome(row), access, parts))) return this.cancel(id, parts);
    return true;
  }

  /** Ends an execution that no process runs. False if a process has taken it meanwhile. */
  async #endUnrun(
    row: StoredExecution,
    outcome: Outcome,
    { writer, owner }: StoreAccess,
    parts: ExecutionParts,
  ): Promise<boolean> {
    if (!(await writer.do("claim", row.id, { owner, from: row.owner }))) return false;
    const recording = parts.recorder && recordingOf(row, await this.#savedProgram(row, writer), parts);
    await writer.do("ended", row.id, { ...(await outcomeJson(outcome)), isOk: false });
    recording?.ended(outcome);
    spanOf(row, parts)?.ended(outcome);
    return true;
  }

  /** Number of executions that run or wait in this process. */
  get size(): number {
    return this.#running.size;
  }

  /** What the executions of this process do. One that has no turn yet is queued. */
  get states(): ExecutionStates {
    const states = { running: 0, waiting: 0, queued: 0 };
    for (const { id, parts, isWaiting } of this.#running.values()) {
      if (!parts.sandbox.running(id)) states.queued += 1;
      else if (isWaiting) states.waiting += 1;
      else states.running += 1;
    }
    return states;
  }

  /** Whether a call of an execution is running. */
  get isCalling(): boolean {
    return [...this.#running.values()].some(({ isCalling }) => isCalling);
  }

  /**
   * Continues the executions of this config, door and person that no process runs, if a caller has their ids or they are in `asked`.
   * `partsAt` has the parts whose servers work in that folder. Throws FILE_NOT_WRITABLE.
   */
  async adopt(
    parts: ExecutionParts,
    partsAt: (cwd: string) => ExecutionParts,
    asked: readonly string[] = [],
  ): Promise<void> {
    for (const row of await this.stored.unfinished(parts)) {
      const isFit = this.stored.isOfView(row) && (row.isWanted || asked.includes(row.id));
      // Another request may take it over at this moment.
      if (isFit) await this.#taking.get(row.id)?.catch(() => {});
      if (!isFit || this.#running.has(row.id) || (await this.stored.isAlive(row))) continue;
      if (isOfOtherBuild(row)) {
        await this.#leaveToOtherBuild(row);
        continue;
      }
      const { cwd } = JSON.parse(row.request) as StoredRequest;
      await this.#take(row, partsAt(cwd));
    }
  }

  /**
   * Continues an execution of this config, door and person. Undefined if it has ended, or a process runs it. Throws EXECUTION_NOT_FOUND,
   * EXECUTION_LOST, and CANCELLED if executions end here.
   */
  async takeOver(id: string, parts: ExecutionParts): Promise<RunningExecution | undefined> {
    if (this.#running.has(id)) return undefined;
    await this.stored.open(parts);
    const row = await this.stored.rowOf(id);
    if (row.state === "ended" || (await this.stored.isAlive(row))) return undefined;
    return this.#take(row, parts);
  }

  /** Ends an execution of this config, behind any door, that cannot be continued. Nothing happens if it has ended, or a process runs it. */
  async giveUp(id: string, why: string, parts: ExecutionParts): Promise<void> {
    const access = await this.stored.open(parts);
    const row = await this.#options.store.executions.get(id);
    if (row?.state === "open") await this.#endUnrun(row, lostOutcome(row, why), access, parts);
  }

  async #leaveToOtherBuild({ engine, id }: StoredExecution): Promise<void> {
    const { otherBuilds, log } = this.#options;
    if (engine === null || !otherBuilds?.has(engine)) return;
    try {
      await otherBuilds.continue(engine, id);
    } catch (error) {
      log.warn(`Cannot continue ${id} with the version that has saved it: ${messageOf(error)}`);
    }
  }

  /** Whether an execution runs or waits in this process. */
  has(id: string): boolean {
    return this.#running.has(id);
  }

  /** Ends the executions that run with these parts. Those whose id was handed out stay in the store, to be continued. */
  async endOf(parts: ExecutionParts): Promise<void> {
    this.#ended.add(parts);
    await Promise.allSettled(this.#taking.values());
    await this.#end([...this.#running.values()].filter((each) => each.parts === parts));
  }

  /**
   * Gives up the executions that another process can continue, each as soon as no call of it is running. Callers that wait for outcomes still
   * get the ones of short programs, and otherwise the ids. Resolves when none is left and `isNeeded` says no, or after `withinMs`.
   */
  async drain(withinMs: number, isNeeded: () => boolean): Promise<void> {
    const begunAt = performance.now();
    const [finishBefore, deadline] = [begunAt + finishMs, begunAt + withinMs];
    const kept = () => [...this.#running.values()].filter(({ isHandedOut }) => isHandedOut);
    for (let left = kept(); (left.length > 0 || isNeeded()) && performance.now() < deadline; left = kept()) {
      const others = performance.now() < finishBefore ? [] : [...this.#running.values()];
      for (const each of others) if (!each.isHandedOut && each.mayLeave) void each.leave();
      await this.#end(left.filter(({ isCalling }) => !isCalling));
      await Bun.sleep(drainLookMs);
    }
  }

  /** Saves the programs that still run, as far as they can be. Their callers get their ids. Resolves within the time for a save. */
  async leave(): Promise<void> {
    const left = [...this.#running.values()].filter(({ isHandedOut }) => !isHandedOut);
    await atMost(programSavingMs, Promise.all(left.map((each) => each.leave())));
  }

  async #end(ending: readonly RunningExecution[]): Promise<void> {
    const kept = ending.filter(({ isHandedOut }) => isHandedOut);
    const deadline = performance.now() + lastAnswersMs;
    for (const each of ending) if (!each.isHandedOut) each.stop();
    while (kept.some(({ isCalling }) => isCalling) && performance.now() < deadline) await Bun.sleep(10);
    for (const each of kept) each.stop();
    await Promise.allSettled(ending.map(({ outcome }) => outcome));
    // An execution may have ended meanwhile.
    for (const each of kept) if (each.isReleased) this.#left.push(each.id);
  }

  /** The executions that this process has given up, so that another process can continue them. */
  get left(): readonly string[] {
    return this.#left;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await Promise.allSettled(this.#taking.values());
    await this.#end([...this.#running.values()]);
    await this.stored.close();
  }

  /** Undefined if another process was first. Throws CANCELLED if executions end here. */
  async #take(row: StoredExecution, parts: ExecutionParts): Promise<RunningExecution | undefined> {
    const { id } = row;
    const taking = this.#taking.get(id) ?? this.#takeOver(row, parts).finally(() => this.#taking.delete(id));
    this.#taking.set(id, taking);
    return taking;
  }

  async #takeOver(row: StoredExecution, parts: ExecutionParts): Promise<RunningExecution | undefined> {
    const access = await this.stored.open(parts);
    const { writer, owner } = access;
    const { id, startedAt } = row;
    if (row.unsaved !== null) throw lost(row, whyLost(row.unsaved));
    if (isOfOtherBuild(row)) {
      const [version] = row.engine?.split(" ") ?? [];
      throw lost(row, otherBuild, `Continue it with that build, of version ${version}.`);
    }
    // If its files cannot be brought here, another process may continue it.
    await (await parts.sharedWorkspace())?.bring();
    if (!(await writer.do("claim", id, { owner, from: row.owner }))) return undefined;
    const {
      source,
      asked,
      limits,
      check,
      isForAgent,
      unattended,
      host,
      starter,
      program: saved,
      trace,
    } = JSON.parse(row.request) as StoredRequest;
    const { head, program } = await this.#savedProgram(row, writer);
    const { open, sent } = await openCalls(id, access);
    if (this.#isClosing || this.#ended.has(parts)) {
      await writer.do("release", id, { owner });
      this.#left.push(id);
      throw new ClaudikinsError("CANCELLED", `The execution "${id}" was not continued, because claudikins ends`);
    }
    const recordedCount = program?.execution.recorded.length ?? 0;
    const calls = open.map(({ message }) => message.call);
    const taken = { access, calls, sent, program: head && { head, recordedCount } };
    const recording = recordingOf(row, { program }, parts);
    const checkpointer = this.#checkpointer({ id, startedAt, request: row.request, recording }, parts, true, taken);
    const span = spanOf(row, parts);
    const observed = { checkpointer, recording, trace, span };
    const running = this.#run({ id, startedAt, starter, checkpointer, parts }, (signal) => {
      // The session that has started it is over. A client of `serve --http` is known by its id.
      const within = starter ? undefined : parts.sessions.ofConnection();
      const about = { id, source, check, isForAgent, unattended, host, starter, signal, program: saved, within };
      const request = { ...about, ...observed };
      // It was stored before it started, so no call has left.
      if (!program) return execute({ ...request, limits: asked }, parts);
      return continueExecution(request, { program, open, limits }, parts);
    });
    void running.handOut();
    return running;
  }

  /** The calls of an execution that has not ended, as they were recorded until it was last saved. Undefined if there is no such recording. */
  async recordedSoFar(row: StoredExecution, parts: ExecutionParts): Promise<RecordedSoFar | undefined> {
    const { writer } = await this.stored.open(parts);
    const { program } = await this.#savedProgram(row, writer);
    return program?.timeline && recordedSoFar(program.timeline, parts);
  }

  /** The saved program without its pages. Empty if none was saved, or another build has saved it. */
  async #savedProgram(row: StoredExecution, writer: ExecutionWriter): Promise<SavedProgram> {
    const stored = isOfOtherBuild(row) ? undefined : await this.#options.store.executions.program(row.id);
    if (!stored) return {};
    const head = readHead(stored);
    const records = await writer.do("records", row.id, { ...head.image.manifest, records: head.records });
    return { head, program: await readProgram(head, records) };
  }

  #checkpointer(
    identity: Pick<CheckpointerOptions, "id" | "startedAt" | "request" | "recording" | "isDryRun">,
    parts: ExecutionParts,
    fromStart: boolean,
    taken?: Taken,
  ): ExecutionCheckpointer {
    const { config, log } = this.#options;
    const { maxMb, totalMb } = parts.config.executions;
    return new ExecutionCheckpointer({
      ...identity,
      config,
      log,
      maxBytes: maxMb * megabyte,
      roomBytes: totalMb * megabyte,
      turns: this.#turns,
      fromStart,
      taken,
      open: () => this.stored.open(parts),
      workspace: () => parts.sharedWorkspace(),
    });
  }

  #run(
    about: ConstructorParameters<typeof RunningExecution>[0],
    work: (signal: AbortSignal) => Promise<Outcome>,
  ): RunningExecution {
    const { id } = about;
    const running = new RunningExecution(about, work);
    this.#running.set(id, running);
    void running.outcome.finally(() => this.#running.delete(id)).catch(() => {});
    return running;
  }
}

interface SavedProgram {
  head?: ReturnType<typeof readHead> | undefined;
  program?: StoredProgram | undefined;
}

/** Records a stored execution together with what was recorded before it was saved. */
function recordingOf(
  { id, request }: StoredExecution,
  { program }: SavedProgram,
  parts: ExecutionParts,
): TraceRecording | undefined {
  const {
    program: saved,
    source,
    isForAgent,
    unattended,
    host,
    repeats,
    session,
  } = JSON.parse(request) as StoredRequest;
  const { timeline } = program ?? {};
  const begun = { id, source, parts, isForAgent, unattended, host, repeats, session, program: saved?.name, timeline };
  return parts.recorder?.begin(begun);
}

/** Tells telemetry of a stored execution. It stays in the trace in which it was started. */
function spanOf({ id, request }: StoredExecution, { telemetry }: ExecutionParts): ExecutionSpan | undefined {
  if (!telemetry) return undefined;
  const stored = JSON.parse(request) as StoredRequest;
  const { trace, door, person, program } = stored;
  const startedBy = startedByOf(stored);
  const spanned = { id, trace, door, person: person?.id, startedBy, program: program?.name };
  return telemetry.execution({ ...spanned, isContinued: true });
}

/** The calls that a stored program waits for, and the calls that were sent, with whether they may be sent again. */
async function openCalls(
  id: string,
  { writer }: StoreAccess,
): Promise<{ open: OpenCall[]; sent: Map<number, boolean> }> {
  const open: OpenCall[] = [];
  const sent = new Map<number, boolean>();
  for (const { call, isSent, isAnswered, repeatable } of await writer.do("calls", id, {})) {
    const message = (await writer.do("message", id, { call })) as CallMessage;
    if (isSent) sent.set(call, repeatable);
    if (isAnswered) open.push({ message, answer: (await writer.do("answer", id, { call })) as SettleMessage });
    else if (!isSent || repeatable) open.push({ message });
    else open.push({ message, answer: unknownAnswer(message) });
  }
  return { open, sent };
}

/** The answer of a call that may have been sent, and that may not be repeated. Its effect is unknown. */
function unknownAnswer(made: CallMessage): SettleMessage {
  const error = {
    name: "ToolError",
    code: "CALL_OUTCOME_UNKNOWN",
    message: `claudikins was interrupted during ${calledId(made)}, and nobody knows whether the call took effect`,
    hint: "Look whether it did before calling the tool again.",
  };
  return { type: "settle", call: made.call, error };
}

const otherBuild = "another build of claudikins has saved it";

function whyLost(unsaved: string): string {
  return `its process has ended, and its program was not saved: ${unsaved}`;
}

function lost({ id }: StoredExecution, why: string, hint?: string): ClaudikinsError {
  return new ClaudikinsError("EXECUTION_LOST", `The execution "${id}" cannot be continued: ${why}`, {
    hint: hint ?? "Run the program again, after looking which of its calls took effect.",
  });
}
