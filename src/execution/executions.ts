/**
 * The executions of a process, and those in the store. An execution whose id was handed out can be asked for later: here, in another
 * process, or after its process has died.
 */
import { existsSync } from "node:fs";
import { deserialize } from "node:v8";
import type { Environment } from "../config/environment.ts";
import { ownersFolder, storeFile } from "../config/locations.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { continuesElsewhere } from "../policy/desk.ts";
import type { CheckMode, Outcome, Limits as SandboxLimits } from "../sandbox/contract.ts";
import type { OpenCall } from "../sandbox/keeper.ts";
import type { CallMessage } from "../sandbox/messages.ts";
import { toolId } from "../sandbox/seen-calls.ts";
import { openDatabase } from "../store/database.ts";
import { ExecutionStore, type StoredCall, type StoredExecution } from "../store/executions.ts";
import { isOwnerAlive, Owner } from "../store/owner.ts";
import { atMost } from "../time-limit.ts";
import { newId } from "../trace/id.ts";
import type { HostIdentity } from "../trace/record.ts";
import { continueExecution, type ExecuteRequest, type ExecutionParts, execute, limitsOf } from "./execute.ts";
import { KeptExecution, type StoreAccess, type StoredProgram } from "./kept-execution.ts";

export interface ExecutionsOptions {
  env: Environment;
  /** The config file; null for the demo. */
  config: string | null;
  log: Log;
  /** Without it, a program that another build has saved is lost here. */
  otherBuilds?: OtherBuilds | undefined;
}

/** Executables of other builds, which continue the programs that they have saved. `engine` is the mark of a build. */
export interface OtherBuilds {
  has(engine: string): boolean;
  /** Starts a process of that build, which continues the execution. False if it does not. Throws what starting throws. */
  continue(engine: string, id: string): Promise<boolean>;
  /** Keeps the executable of this process. It never throws. */
  keepOwn(engine: string): void;
  /** Removes executables that none of these builds has. */
  removeAllBut(engines: readonly string[]): void;
}

/** Whether programs of both builds continue in each other. The version in the marks does not matter. */
function isSameEngine(one: string | null, other: string): boolean {
  return one?.split(" ").at(-1) === other.split(" ").at(-1);
}

/** What it takes to continue an execution, and to list it: the stored JSON. */
interface StoredRequest {
  source: string;
  /** The limits of the request, for a program that has not started. */
  asked: ExecuteRequest["limits"];
  limits: SandboxLimits;
  check: CheckMode | undefined;
  isForAgent: boolean;
  host: HostIdentity | undefined;
  claim?: string | undefined;
  /** The working directory of servers that name none. */
  cwd: string;
}

/** How far an execution is. */
export type Progress =
  | { state: "running"; calls: string[] }
  /** Waits for a timer alone. `until` is in milliseconds since 1970. */
  | { state: "asleep"; until: number }
  /** Its process has died, or gave it up. It can be continued. */
  | { state: "stopped" }
  /** Its process has died, and it cannot be continued. */
  | { state: "lost"; why: string }
  | { state: "ended"; ok: boolean };

/** A call that a stored execution waits for. */
export interface OpenCallState {
  /** The tool id. */
  tool: string;
  /** The line of the code. */
  line: number | undefined;
  state: StoredCall["state"];
}

/** An execution that somebody follows. */
export interface FollowedExecution {
  readonly id: string;
  /** In milliseconds since 1970. */
  readonly startedAt: number;
  /** Rejects with EXECUTION_LOST or EXECUTION_NOT_FOUND. */
  readonly outcome: Promise<Outcome>;
  progress(): Promise<Progress>;
  /** Keeps the execution, and later its outcome, because its id is told to somebody. Resolves when it is stored, if that is soon. */
  handOut(): Promise<void>;
  /** Whether somebody has its id. */
  readonly isHandedOut: boolean;
  cancel(): void;
}

export interface StartOptions {
  /** Keeps the execution from its start. Otherwise it is kept when it waits for long, or when its id is handed out. */
  isBackground?: boolean | undefined;
}

/** An execution of this process. */
export class RunningExecution implements FollowedExecution {
  readonly id: string;
  readonly startedAt: number;
  readonly parts: ExecutionParts;
  readonly outcome: Promise<Outcome>;
  readonly #kept: KeptExecution;
  readonly #cancelled = new AbortController();

  constructor(
    { id, startedAt, kept, parts }: { id: string; startedAt: number; kept: KeptExecution; parts: ExecutionParts },
    work: (signal: AbortSignal) => Promise<Outcome>,
  ) {
    this.id = id;
    this.startedAt = startedAt;
    this.parts = parts;
    this.#kept = kept;
    this.outcome = this.#ended(work);
    // Nobody may wait for it.
    this.outcome.catch(() => {});
  }

  async progress(): Promise<Progress> {
    const running = this.parts.sandbox.running(this.id);
    const until = running?.sleepsUntil;
    if (until !== undefined) return { state: "asleep", until };
    return { state: "running", calls: running?.openCalls.map(toolId) ?? [] };
  }

  /** Whether a call is under way. */
  get isCalling(): boolean {
    return this.#kept.isCalling;
  }

  /** Whether it was given up, so that another process can continue it. */
  get isReleased(): boolean {
    return this.#kept.isReleased;
  }

  /** Resolves when the execution of a background program is in the store. Rejects if it cannot be stored. */
  async stored(): Promise<void> {
    await this.#kept.begun;
  }

  async handOut(): Promise<void> {
    this.#kept.want();
    this.parts.sandbox.running(this.id)?.keep();
    // A program is saved when it waits. Until then it may compute for long.
    await atMost(savingMs, this.#kept.saved);
  }

  get isHandedOut(): boolean {
    return this.#kept.isWanted;
  }

  cancel(): void {
    this.#cancelled.abort();
  }

  /** Ends the execution here. If its id was handed out, another process can continue it. */
  stop(): void {
    const { isWanted } = this.#kept;
    if (isWanted) this.#kept.release();
    this.#cancelled.abort(isWanted ? continuesElsewhere : undefined);
  }

  async #ended(work: (signal: AbortSignal) => Promise<Outcome>): Promise<Outcome> {
    const outcome = await work(this.#cancelled.signal);
    await this.#kept.ended(outcome);
    return outcome;
  }
}

/** Time for a program that waits to be saved. */
const savingMs = 2_000;

/** Time for calls that are under way to be answered when the process ends. Agents wait about two seconds for the end. */
const lastAnswersMs = 1_000;

/** How often the store is looked at for what other processes want. */
const lookMs = 500;

const dayMs = 86_400_000;
const megabyte = 1_048_576;

export class Executions implements AsyncDisposable {
  readonly #options: ExecutionsOptions;
  readonly #running = new Map<string, RunningExecution>();
  #access: Promise<StoreAccess & { end: () => void }> | undefined;
  #watch: NodeJS.Timeout | undefined;
  readonly #left: string[] = [];
  #mark = 0;

  constructor(options: ExecutionsOptions) {
    this.#options = options;
  }

  /** Starts an execution. The outcome rejects only with FILE_NOT_WRITABLE, if a background program cannot be stored. */
  start(
    request: Omit<ExecuteRequest, "id" | "kept">,
    parts: ExecutionParts,
    { isBackground = false }: StartOptions = {},
  ): RunningExecution {
    const id = newId(Date.now());
    const startedAt = Date.now();
    const { source, check, isForAgent = false, host, claim } = request;
    const limits = limitsOf(request, parts);
    const { cwd } = parts;
    const stored: StoredRequest = { source, asked: request.limits, limits, check, isForAgent, host, claim, cwd };
    const kept = this.#kept({ id, startedAt, request: JSON.stringify(stored) }, parts, isBackground);
    const running = this.#run(id, startedAt, kept, parts, async (signal) => {
      if (isBackground) await kept.begun;
      return execute({ ...request, id, signal, origin: request.origin ?? request.signal, kept }, parts);
    });
    if (isBackground) void running.handOut();
    return running;
  }

  /**
   * Finds an execution of this config: one of this process, of another one, or one whose process has died, which is continued here.
   * Throws EXECUTION_NOT_FOUND, EXECUTION_LOST.
   */
  async follow(id: string, parts: ExecutionParts): Promise<FollowedExecution> {
    const running = this.#running.get(id);
    if (running) return running;
    const { store } = await this.#open(parts);
    const row = this.#rowOf(id, store);
    if (row.state === "ended" || (await this.#isAlive(row))) return this.#followStored(row, store, parts);
    if (await this.#isContinuedElsewhere(row, parts)) return this.#followStored(row, store, parts);
    return (await this.#takeOver(row, parts)) ?? this.follow(id, parts);
  }

  /** Whether another build has saved the program, and its executable runs it now. */
  async #isContinuedElsewhere(row: StoredExecution, parts: ExecutionParts): Promise<boolean> {
    const { engine } = await this.#open(parts);
    if (!row.isSaved || row.engine === null || isSameEngine(row.engine, engine)) return false;
    return (await this.#options.otherBuilds?.continue(row.engine, row.id)) === true;
  }

  /** Waits for an execution of another process, and continues it here if that process dies. */
  #followStored(row: StoredExecution, store: ExecutionStore, parts: ExecutionParts): FollowedExecution {
    const { id, startedAt } = row;
    let outcome: Promise<Outcome> | undefined;
    const wait = async (): Promise<Outcome> => {
      for (;;) {
        const now = this.#rowOf(id, store);
        if (now.state === "ended") return JSON.parse(store.outcome(id) ?? "") as Outcome;
        if (!(await this.#isAlive(now))) return (await this.follow(id, parts)).outcome;
        await Bun.sleep(lookMs);
      }
    };
    return {
      id,
      startedAt,
      get outcome() {
        outcome ??= wait();
        return outcome;
      },
      progress: () => this.progressOf(this.#rowOf(id, store)),
      handOut: () => Promise.resolve(),
      isHandedOut: true,
      cancel: () => store.askToCancel(id),
    };
  }

  /** Whether an execution of this config is stored with this claim. */
  async hasClaim(id: string, claim: string, parts: ExecutionParts): Promise<boolean> {
    if (!existsSync(storeFile(this.#options.env))) return false;
    const row = (await this.#open(parts)).store.get(id);
    return row?.config === this.#options.config && (JSON.parse(row.request) as StoredRequest).claim === claim;
  }

  async #isAlive({ owner }: StoredExecution): Promise<boolean> {
    return owner !== null && (await isOwnerAlive(ownersFolder(this.#options.env), owner));
  }

  /** The executions of this config that are stored, newest first. */
  async list(parts: ExecutionParts): Promise<StoredExecution[]> {
    if (!existsSync(storeFile(this.#options.env))) return [];
    const { store } = await this.#open(parts);
    return store.list(this.#options.config);
  }

  /** A stored execution of this config, and the calls that it waits for. Throws EXECUTION_NOT_FOUND. */
  async look(id: string, parts: ExecutionParts): Promise<{ row: StoredExecution; calls: OpenCallState[] }> {
    const { store } = await this.#open(parts);
    const row = this.#rowOf(id, store);
    const calls = store.calls(id).map(({ message, state }) => {
      const made = JSON.parse(message) as CallMessage;
      return { tool: toolId(made), line: made.line, state };
    });
    return { row, calls };
  }

  /** How far a stored execution is. */
  async progressOf(row: StoredExecution): Promise<Progress> {
    const running = this.#running.get(row.id);
    if (running) return running.progress();
    if (row.state === "ended") return { state: "ended", ok: row.isOk };
    if (!(await this.#isAlive(row))) {
      if (await this.#isOfLostBuild(row)) return { state: "lost", why: otherBuild };
      return row.unsaved === null ? { state: "stopped" } : { state: "lost", why: whyLost(row.unsaved) };
    }
    return row.wakeAt === null ? { state: "running", calls: [] } : { state: "asleep", until: row.wakeAt };
  }

  /** Whether only another build can continue the program, and its executable is gone. */
  async #isOfLostBuild({ isSaved, engine }: StoredExecution): Promise<boolean> {
    const access = await this.#access;
    if (!isSaved || engine === null || !access || isSameEngine(engine, access.engine)) return false;
    return this.#options.otherBuilds?.has(engine) !== true;
  }

  /** Cancels an execution of this config, wherever it runs. Returns false if it has ended. Throws EXECUTION_NOT_FOUND. */
  async cancel(id: string, parts: ExecutionParts): Promise<boolean> {
    const running = this.#running.get(id);
    if (running) {
      running.cancel();
      return true;
    }
    const { store, owner } = await this.#open(parts);
    const row = this.#rowOf(id, store);
    if (row.state === "ended") return false;
    if (await this.#isAlive(row)) store.askToCancel(id);
    else if (store.claim(id, owner, row.owner)) store.ended(id, JSON.stringify(cancelledOutcome(row)), false);
    else return this.cancel(id, parts);
    return true;
  }

  /** Number of executions that run or wait in this process. */
  get size(): number {
    return this.#running.size;
  }

  /** Whether a call of an execution is under way. */
  get isCalling(): boolean {
    return [...this.#running.values()].some(({ isCalling }) => isCalling);
  }

  /**
   * Continues the executions of this config that no process runs, if somebody wants them or they are in `asked`. `partsAt` has the parts
   * whose servers work in that folder. Throws FILE_NOT_WRITABLE.
   */
  async adopt(
    parts: ExecutionParts,
    partsAt: (cwd: string) => ExecutionParts,
    asked: readonly string[] = [],
  ): Promise<void> {
    if (!existsSync(storeFile(this.#options.env))) return;
    const { store, engine } = await this.#open(parts);
    for (const row of store.open(this.#options.config)) {
      const isFit = row.isWanted || asked.includes(row.id);
      if (!isFit || this.#running.has(row.id) || (await this.#isAlive(row))) continue;
      if (row.isSaved && !isSameEngine(row.engine, engine)) {
        await this.#leaveToOtherBuild(row);
        continue;
      }
      const { cwd } = JSON.parse(row.request) as StoredRequest;
      await this.#takeOver(row, partsAt(cwd));
    }
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
    await this.#end([...this.#running.values()].filter((each) => each.parts === parts));
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
    clearInterval(this.#watch);
    await this.#end([...this.#running.values()]);
    const access = await this.#access?.catch(() => undefined);
    access?.end();
  }

  #rowOf(id: string, store: ExecutionStore): StoredExecution {
    const row = store.get(id);
    if (row?.config === this.#options.config) return row;
    if (!row) {
      throw new ClaudikinsError("EXECUTION_NOT_FOUND", `There is no execution "${id}"`, {
        hint: "To list the executions that run or wait: claudikins executions list",
      });
    }
    throw new ClaudikinsError("EXECUTION_NOT_FOUND", `The execution "${id}" belongs to another config`, {
      hint:
        row.config === null ? "It is the demo's: use it where no config file is found." : `Add --config ${row.config}`,
    });
  }

  async #takeOver(row: StoredExecution, parts: ExecutionParts): Promise<RunningExecution | undefined> {
    const access = await this.#open(parts);
    const { store, owner, engine } = access;
    const { id, startedAt } = row;
    if (row.unsaved !== null) throw lost(row, whyLost(row.unsaved));
    if (row.isSaved && !isSameEngine(row.engine, engine)) {
      const [version] = row.engine?.split(" ") ?? [];
      throw lost(row, otherBuild, `Continue it with that build, of version ${version}.`);
    }
    if (!store.claim(id, owner, row.owner)) return undefined;
    const { source, asked, limits, check, isForAgent, host } = JSON.parse(row.request) as StoredRequest;
    const saved = store.program(id);
    const calls = store.calls(id);
    const sent = new Map(calls.filter(({ state }) => state === "sent").map((each) => [each.call, each.repeatable]));
    const kept = this.#kept({ id, startedAt, request: row.request }, parts, true, { access, sent });
    const open = calls.map(openCallOf);
    const running = this.#run(id, startedAt, kept, parts, (signal) => {
      const request = { id, source, check, isForAgent, host, signal, kept };
      // It was stored before it started, so no call has left.
      if (!saved) return execute({ ...request, limits: asked }, parts);
      const program = deserialize(saved) as StoredProgram;
      return continueExecution(request, { program, open, limits }, parts);
    });
    void running.handOut();
    return running;
  }

  #kept(
    told: { id: string; startedAt: number; request: string },
    parts: ExecutionParts,
    fromStart: boolean,
    taken?: ConstructorParameters<typeof KeptExecution>[0]["taken"],
  ): KeptExecution {
    const { config, log } = this.#options;
    const maxBytes = parts.config.executions.maxMb * megabyte;
    return new KeptExecution({ ...told, config, log, maxBytes, fromStart, taken, open: () => this.#open(parts) });
  }

  #run(
    id: string,
    startedAt: number,
    kept: KeptExecution,
    parts: ExecutionParts,
    work: (signal: AbortSignal) => Promise<Outcome>,
  ): RunningExecution {
    const running = new RunningExecution({ id, startedAt, kept, parts }, work);
    this.#running.set(id, running);
    void running.outcome.finally(() => this.#running.delete(id)).catch(() => {});
    return running;
  }

  #open(parts: ExecutionParts): Promise<StoreAccess> {
    this.#access ??= this.#openStore(parts).catch((error: unknown) => {
      this.#access = undefined;
      throw error;
    });
    return this.#access;
  }

  async #openStore({ sandbox, config }: ExecutionParts): Promise<StoreAccess & { end: () => void }> {
    const { env } = this.#options;
    const [database, engine] = await Promise.all([openDatabase(storeFile(env)), sandbox.buildMark()]);
    const owner = await Owner.take(ownersFolder(env));
    const store = new ExecutionStore(database);
    for (const row of store.old(Date.now() - config.executions.keepDays * dayMs)) {
      if (!(await this.#isAlive(row))) store.remove(row.id);
    }
    this.#options.otherBuilds?.removeAllBut(store.waiting().flatMap((each) => each.engine ?? []));
    this.#watch ??= setInterval(() => this.#look(store, owner.name), lookMs).unref();
    const end = () => {
      owner[Symbol.dispose]();
      database.close();
    };
    const keepBuild = () => this.#options.otherBuilds?.keepOwn(engine);
    return { store, owner: owner.name, engine, keepBuild, end };
  }

  /** Cancels what other processes want to be cancelled. */
  #look(store: ExecutionStore, owner: string): void {
    try {
      const { mark } = store;
      if (mark === this.#mark) return;
      this.#mark = mark;
      for (const id of store.cancelled(owner)) this.#running.get(id)?.cancel();
    } catch (error) {
      this.#options.log.debug(`Cannot read the store of executions: ${messageOf(error)}`);
    }
  }
}

/** Calls that cannot have left are made, and so are those that may be repeated. Nobody knows what became of the others. */
function openCallOf({ call, message, state, repeatable, answer }: StoredCall): OpenCall {
  const made = JSON.parse(message) as CallMessage;
  if (answer !== null) return { message: made, answer: JSON.parse(answer) };
  if (state !== "sent" || repeatable) return { message: made };
  const error = {
    name: "ToolError",
    code: "CALL_OUTCOME_UNKNOWN",
    message: `claudikins was interrupted during ${toolId(made)}, and nobody knows whether the call took effect`,
    hint: "Look whether it did before calling the tool again.",
  };
  return { message: made, answer: { type: "settle", call, error } };
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

function cancelledOutcome({ id, startedAt, changedAt }: StoredExecution): Outcome {
  const receipt = { id, durationMs: changedAt - startedAt, calls: 0, failures: 0, tools: {}, charsIn: 0, charsOut: 0 };
  const error = { name: "Error", message: "The execution was cancelled", stack: "" };
  return { ok: false, reason: "cancelled", error, logs: [], display: [], receipt };
}
