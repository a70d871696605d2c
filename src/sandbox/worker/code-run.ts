/** One run of a program in the worker: starts the code, runs its jobs, and reports how it ended. */
import { deserialize, serialize } from "bun:jsc";
import { payloadOf } from "../binding-value.ts";
import { codeFile, wrapped } from "../code/wrapper.ts";
import type { CallGroup, FailureReason, LogEntry } from "../contract.ts";
import { answerKind, callKind } from "../guest/kinds.ts";
import { compute } from "../host/compute.ts";
import { Files, type FileUse } from "../host/files.ts";
import { loadSkill } from "../host/skills.ts";
import { displayedTooMuch, valueTooLarge } from "../limit-errors.ts";
import { maxDisplayedValues, maxJoinedChars } from "../limits.ts";
import {
  type CallMessage,
  computing,
  type FromWorker,
  type ParkedMessage,
  type ResumeMessage,
  type RunMessage,
  type SettleMessage,
  stateOfPlace,
  stopReason,
} from "../messages.ts";
import { Pages, type ProgramImage, type StateParts } from "../program-image.ts";
import { ReplayedWorld } from "../replay/world.ts";
import { CallsByTool, type SeenCalls } from "../seen-calls.ts";
import { CallGate } from "./call-gate.ts";
import {
  type CodeResult,
  type GuestError,
  guestFailure,
  outOfMemory,
  stoppedFailure,
  thrownFailure,
} from "./code-result.ts";
import { LogBuffer } from "./log-buffer.ts";
import { ProgramTimers } from "./program-timers.ts";
import { type HostCalls, keptContextBytes, type ReusableContext } from "./reusable-context.ts";

/** The time limit of a program does not count while it waits for a timer that fires later than this, and for nothing else. */
const longTimerMs = 60_000;

/** At most this many calls wait to cross together, so that the main thread makes some while the program goes on. */
const maxJoinedCalls = 8;

export interface Ended {
  result: CodeResult;
  calls: readonly SeenCalls[];
  /** The first lines of the log. */
  logs: readonly LogEntry[];
  /** Whether something was displayed. */
  displayed: boolean;
  /** Whether the engine may run another execution. */
  reusable: boolean;
  /** The memory that the program took. */
  usedBytes: number;
  registry: string | undefined;
}

const atStart = () => ({
  /** CPU time of the code so far. */
  usedMs: 0,
  displayedBytes: 0,
  displayed: 0,
  /** Whether the program waits for a timer that fires late, and for nothing else. */
  isAsleep: false,
});

/** What an execution keeps outside the engine's memory: plain data. It is saved in parts, because most parts rarely change. */
export interface HostState extends ReturnType<typeof atStart> {
  /** The transpiled code. */
  code: string;
  gate: CallGate["state"];
  logs: LogBuffer["state"];
  calls: CallsByTool["state"];
  /** When each timer fires, in milliseconds since 1970. */
  timers: Map<number, number>;
  /** The names of skills that are being loaded. */
  loading: Map<number, string>;
  registry: string | undefined;
}

export interface RunParts {
  run: RunMessage | ResumeMessage;
  /** The transpiled code: the body of an async function. */
  code: string;
  /** Whether the program is saved before each of its calls leaves. */
  isKept: boolean;
  send: (message: FromWorker) => void;
  /** Called once. */
  onEnd: (ended: Ended) => void;
  /** The pages of its last image. */
  pages?: Pages;
  /** The state of an execution that was parked. */
  saved?: HostState | undefined;
}

/** Writes the same bytes as node:v8, which takes longer to load. */
const inBuffer = { binaryType: "nodebuffer" } as const;

const codePart = 0;
const logsPart = 1;
const restPart = 2;

/** The state of an execution that was saved. */
export function stateOf(parts: StateParts): HostState {
  const rest = deserialize(parts.get(restPart)) as Omit<HostState, "code" | "logs">;
  return { ...rest, code: parts.get(codePart).toString(), logs: deserialize(parts.get(logsPart)) };
}

/** The groups of functions that a server has beside its tools. */
const groups: ReadonlyMap<number, CallGroup> = new Map([
  [callKind.resources, "resources"],
  [callKind.prompts, "prompts"],
  [callKind.skills, "skills"],
]);

export class CodeRun implements HostCalls {
  readonly #context: ReusableContext;
  readonly #run: RunMessage | ResumeMessage;
  readonly #code: string;
  readonly #send: (message: FromWorker) => void;
  readonly #onEnd: (ended: Ended) => void;
  readonly #logs: LogBuffer;
  readonly #calls: CallsByTool;
  readonly #files: Files;
  /** The folder on disk. */
  readonly #registry: string;
  readonly #gate: CallGate;
  #timers: ProgramTimers;
  readonly #pages: Pages;
  /** The names of skills that are being loaded. */
  readonly #loading = new Map<number, string>();
  /** By their JSON. */
  readonly #targets = new Map<string, ReturnType<typeof targetIn>>();
  #isKept: boolean;
  #isSettlingAll = false;
  /** Calls of a program that is kept, which are made once it is saved. */
  #unsaved: CallMessage[] = [];
  /** Calls that leave together, at the latest when the program waits. */
  #outgoing: CallMessage[] = [];
  /** Answers and timers that wait until the program has a place to compute again. */
  #delayed: (() => void)[] = [];
  /** Whether a copy was asked for. */
  #wantsCopy = false;
  readonly #state: ReturnType<typeof atStart>;
  readonly #stop: Int32Array;
  #deadline: number;
  /** When the code began to run; undefined while it waits. */
  #runningSince: number | undefined;
  #over = false;
  readonly world: ReplayedWorld | undefined;

  constructor(context: ReusableContext, { run, code, isKept, send, onEnd, pages = new Pages(), saved }: RunParts) {
    this.#context = context;
    this.#run = run;
    this.#code = code;
    this.#send = send;
    this.#onEnd = onEnd;
    this.#isKept = isKept;
    this.#pages = pages;
    if (run.replaysFrom !== undefined && run.seed) this.world = new ReplayedWorld(run.replaysFrom, run.seed);
    const { usedMs, displayedBytes, displayed, isAsleep } = saved ?? atStart();
    this.#state = { usedMs, displayedBytes, displayed, isAsleep };
    this.#logs = new LogBuffer((entries) => send({ type: "logs", entries }), run.limits.logBytes, saved?.logs);
    this.#calls = new CallsByTool(saved?.calls);
    const made = (call: CallMessage) => {
      this.#calls.made(call);
      if (this.#isKept) this.#unsaved.push(call);
      else this.#sendSoon(call);
    };
    this.#gate = new CallGate(run.limits, made, saved?.gate);
    const onUse = run.tellsFiles ? (use: FileUse) => send({ type: "file", ...use }) : undefined;
    this.#files = new Files(run.mounts, { onUse });
    this.#files.registryPath = saved?.registry;
    this.#registry = run.mounts.registry;
    this.#stop = new Int32Array(run.state);
    this.#deadline = performance.now() + (run.deadline - Date.now());
    context.enter(this, run.limits);
    this.#timers = this.#timersAt(saved?.timers);
    for (const [id, skill] of saved?.loading ?? []) this.load(id, skill);
  }

  /** Saves the program soon, and from now on before each of its calls leaves. */
  keep(): void {
    this.#isKept = true;
    if (!this.#over) this.#wantCopy();
  }

  /**
   * Takes the execution out of the worker, if it only waits for answers. It continues with `saved` in another context that has loaded its
   * memory, or here after `stay`. Undefined if it cannot be parked now, or has a timer that fires within `nearMs`.
   */
  park(nearMs: number, isWhole: boolean): Omit<ParkedMessage, "type"> | undefined {
    if (this.#over || this.#loading.size > 0 || this.#unsaved.length > 0 || this.#delayed.length > 0) return undefined;
    if (this.#timers.wakeAt - Date.now() < nearMs) return undefined;
    const copy = this.#copy(isWhole);
    if (!copy.saved) return undefined;
    this.#over = true;
    this.#context.leave();
    this.#timers.stop();
    return { ...copy, reusable: this.#context.usedBytes <= keptContextBytes };
  }

  /** Continues the program after it was parked. */
  stay(): void {
    this.#over = false;
    this.#context.enter(this, this.#run.limits);
    this.#timers = this.#timersAt(this.#timers.state);
  }

  #timersAt(saved?: ReadonlyMap<number, number>): ProgramTimers {
    const fire = (id: number) => {
      if (this.#timers.clear(id)) this.#enter(() => this.#context.callGuest("fire", id));
    };
    return new ProgramTimers((id) => this.#inPlace(() => fire(id)), saved, this.world);
  }

  /** Asks when a copy may be made: copies of several programs must not be in memory together. */
  #wantCopy(): void {
    if (this.#wantsCopy) return;
    this.#wantsCopy = true;
    this.#send({ type: "wantsCopy", bytes: this.#context.usedBytes });
  }

  /** Sends a copy of the program, and the calls that may be made once the copy is saved. */
  copy(isWhole: boolean): void {
    if (this.#over) return;
    this.#wantsCopy = false;
    const calls = this.#unsaved;
    this.#unsaved = [];
    this.#send({ type: "checkpoint", calls, ...this.#copy(isWhole) });
  }

  /** The current state of the waiting program, without `saved` if its memory cannot be copied. */
  #copy(isWhole: boolean): Pick<ParkedMessage, "saved" | "wakeAt" | "open"> {
    this.#logs.flush();
    const { wakeAt } = this.#timers;
    const saved = this.#image(isWhole);
    return { saved, wakeAt: Number.isFinite(wakeAt) ? wakeAt : undefined, open: this.#gate.made };
  }

  #image(isWhole: boolean): ProgramImage | undefined {
    const { now } = this.#context;
    const image = this.#pages.next(isWhole);
    if (!this.#context.save(image)) return undefined;
    const rest: Omit<HostState, "code" | "logs"> = {
      ...this.#state,
      gate: this.#gate.state,
      calls: this.#calls.saved,
      timers: this.#timers.state,
      loading: this.#loading,
      registry: this.#files.registryPath,
    };
    image.addPart(codePart, Buffer.from(this.#code));
    image.addPart(logsPart, serialize(this.#logs.state, inBuffer));
    image.addPart(restPart, serialize(rest, inBuffer));
    return { ...image.end(), isWhole, now, at: Date.now(), isAsleep: this.#state.isAsleep };
  }

  start(): void {
    const { deadline } = this.#run;
    const namespaces = this.#run.namespaces.map(({ description: _, ...each }) => each);
    const seed = this.#run.seed ?? [...crypto.getRandomValues(new Uint32Array(4))];
    const settings = JSON.stringify({ namespaces, seed, timeoutMs: deadline - Date.now() });
    this.#enter(() => {
      const main = this.#context.evaluate(wrapped(this.#code), codeFile);
      this.#context.callGuest("start", settings, main);
    });
    this.#wait();
  }

  /** Calls that the program makes after any of the answers leave together. */
  settleAll(messages: readonly SettleMessage[]): void {
    this.#isSettlingAll = true;
    for (const message of messages) this.settle(message);
    this.#isSettlingAll = false;
    this.#sendCalls();
    if (this.world && !this.#over) this.#tellWaiting();
  }

  settle(message: SettleMessage): void {
    this.#inPlace(() => this.#settle(message));
  }

  #settle(message: SettleMessage): void {
    if (this.#over) return;
    const { call } = message;
    this.#gate.answered(call);
    this.#calls.answered(message);
    if (message.at !== undefined) this.world?.moveTo(message.at);
    this.#enter(() => {
      const [kind, payload] =
        "error" in message ? [answerKind.error, JSON.stringify(message.error)] : payloadOf(message);
      this.#context.settle(call, kind, payload);
    });
  }

  /** In milliseconds since 1970. */
  moveDeadline(deadline: number): void {
    this.#deadline = performance.now() + (deadline - Date.now());
  }

  /** Call this when the stop flag may have changed while the code waits. */
  checkStopped(): void {
    if (this.#reasonToStop() !== undefined) this.#enter(() => {});
  }

  /** Continues the program in the place that it has asked for. */
  placed(): void {
    for (let next = this.#delayed.shift(); next; next = this.#delayed.shift()) next();
    this.#wait();
  }

  /**
   * Does the work now if the program has a place to compute, and otherwise as soon as it has one. Until then, the state of the program must
   * not change, because it may be copied.
   */
  #inPlace(work: () => void): void {
    if (this.#delayed.length === 0 && this.#mayCompute()) {
      work();
      this.#wait();
      return;
    }
    this.#delayed.push(work);
    if (this.#delayed.length === 1) this.#send({ type: "wantsPlace" });
  }

  #mayCompute(): boolean {
    const { waits, runs, lacksPlace } = computing;
    const before = Atomics.compareExchange(this.#stop, stateOfPlace, waits, runs);
    return before !== lacksPlace || this.#reasonToStop() !== undefined;
  }

  /** From now on, others may take its place. */
  #wait(): void {
    if (!this.#over) Atomics.compareExchange(this.#stop, stateOfPlace, computing.runs, computing.waits);
  }

  /** Runs something in the engine, and then all jobs that it made possible. */
  #enter(work: () => void): void {
    if (this.#over) return;
    this.#wake();
    this.#runningSince = performance.now();
    try {
      if (this.#reasonToStop() === undefined) {
        if (this.world) this.world.within(() => this.#replay(work));
        else {
          work();
          this.#pump();
        }
      }
    } catch (error) {
      this.#finish(thrownFailure(error, this.#reasonToStop()));
      return;
    } finally {
      this.#state.usedMs += performance.now() - this.#runningSince;
      Atomics.store(this.#stop, 2, this.#state.usedMs);
      this.#runningSince = undefined;
    }
    const stopped = this.#reasonToStop();
    if (stopped !== undefined) this.#finish(stoppedFailure(stopped));
    else if (!this.#over) this.#whenIdle();
    if (this.#over) return;
    if (!this.#isSettlingAll) this.#sendCalls();
    if (this.#unsaved.length > 0) this.#wantCopy();
    this.#logs.flush();
    if (this.world && !this.#isSettlingAll) this.#tellWaiting();
  }

  #replay(work: () => void): void {
    work();
    this.#pump();
  }

  #tellWaiting(): void {
    const open = this.#gate.made.length;
    const { wakeAt } = this.#timers;
    if (open > 0) this.#send({ type: "waits", open, wakeAt: Number.isFinite(wakeAt) ? wakeAt : undefined });
  }

  /** Fires the first timer of a replay. */
  wake(): void {
    this.#timers.wake();
  }

  #pump(): void {
    while (!this.#over && this.#reasonToStop() === undefined && this.#context.runJobs());
  }

  /** Called when no job can run: the code has ended, or waits for an answer or a timer, or waits forever. */
  #whenIdle(): void {
    if (this.#gate.open > 0 || this.#loading.size > 0) return;
    if (this.#timers.size > 0) {
      // Nobody waits for the times of a replay or a dry run.
      if (this.world) this.#timers.wake();
      else if (this.#run.mounts.scratch !== undefined) this.#timers.skip();
      else if (this.#timers.wakeAt - Date.now() > longTimerMs) this.#fallAsleep();
      return;
    }
    if (this.#context.askGuest("waiting") || this.#context.askGuest("finish") || this.#over) return;
    this.#finish(
      guestFailure({
        name: "DeadlockError",
        code: "NEVER_SETTLES",
        message: "The code waits for a promise that can never settle: no call or timer is left to settle it",
        hint: "Resolve or reject the promise that is awaited, or do not await it.",
      }),
    );
  }

  #fallAsleep(): void {
    this.#state.isAsleep = true;
    this.#send({ type: "sleeps", until: this.#timers.wakeAt });
    if (this.#isKept) this.#wantCopy();
  }

  #wake(): void {
    if (!this.#state.isAsleep) return;
    this.#state.isAsleep = false;
    this.#send({ type: "awake" });
  }

  #reasonToStop(): FailureReason | undefined {
    const flag = Atomics.load(this.#stop, 0);
    if (flag === stopReason.cancelled) return "cancelled";
    const now = performance.now();
    if (flag === stopReason.timeout || now > this.#deadline) return "timeout";
    return this.#state.usedMs + (now - (this.#runningSince ?? now)) > this.#run.limits.cpuMs ? "cpu" : undefined;
  }

  log(level: string, text: string, open?: number): void {
    this.#logs.add(level, text, open === 1);
  }

  display(json: string): string | undefined {
    if (this.#state.displayed === maxDisplayedValues) return JSON.stringify(displayedTooMuch());
    const bytes = this.#state.displayedBytes + Buffer.byteLength(json);
    const { limits } = this.#run;
    if (bytes > limits.valueBytes) return JSON.stringify(valueTooLarge("The displayed values are", bytes, limits));
    this.#state.displayedBytes = bytes;
    this.#state.displayed += 1;
    this.#send({ type: "display", json });
    return undefined;
  }

  call(call: number, text: string): string | undefined {
    const end = text.indexOf("\n");
    const argsEnd = text.indexOf("\n", end + 1);
    const target = this.#targets.getOrInsertComputed(text.slice(0, end), targetIn);
    const args = text.slice(end + 1, argsEnd);
    // A spread that comes first is far quicker than one after other properties.
    const refused = this.#gate.add({ ...target, type: "call", call, args, line: lineIn(text.slice(argsEnd)) });
    return refused && JSON.stringify(refused);
  }

  load(id: number, skill: string): void {
    this.#loading.set(id, skill);
    const loaded = (work: () => void) =>
      this.#inPlace(() => {
        this.#loading.delete(id);
        this.#enter(work);
      });
    void loadSkill(skill, this.#files, this.#registry).then(
      (code) =>
        loaded(() => {
          const body = this.#context.evaluate(wrapped(code), `skills/${skill}.ts`);
          this.#context.callGuest("loaded", id, body);
        }),
      (error) => loaded(() => this.#context.callGuest("loadFailed", id, JSON.stringify(error))),
    );
  }

  setTimer(id: number, delayMs: number): void {
    this.#timers.set(id, delayMs);
  }

  clearTimer(id: number): void {
    this.#timers.clear(id);
  }

  done(json: string | undefined, notes?: string): void {
    const { limits } = this.#run;
    const bytes = json === undefined ? 0 : Buffer.byteLength(json);
    if (bytes <= limits.valueBytes) this.#finish({ ok: true, json, notes });
    else this.#finish(guestFailure(valueTooLarge("The value is", bytes, limits)));
  }

  failed(errorJson: string): void {
    // A stop is an exception inside, which the code may have caught and reported as its own failure.
    const stopped = this.#reasonToStop();
    const error: GuestError = JSON.parse(errorJson);
    // The engine throws null if there is no memory for the error, unless the code may have thrown it itself.
    const isUnsaid =
      error.name === "Thrown" && error.message === "null" && !/\b(?:throw\s+null|reject\(\s*null)\b/.test(this.#code);
    if (stopped !== undefined) this.#finish(stoppedFailure(stopped, error));
    else this.#finish(guestFailure(isUnsaid ? outOfMemory : error));
  }

  compute(name: string, argsJson: string): string {
    return this.world?.compute(name, argsJson) ?? compute(name, argsJson);
  }

  file(operation: string, argsJson: string): string {
    return this.#files.run(operation, argsJson);
  }

  #sendSoon(call: CallMessage): void {
    if (call.args.length > maxJoinedChars) {
      this.#sendCalls();
      this.#send(call);
      return;
    }
    this.#outgoing.push(call);
    if (this.#outgoing.length === maxJoinedCalls) this.#sendCalls();
  }

  #sendCalls(): void {
    const calls = this.#outgoing;
    if (calls.length === 0) return;
    this.#outgoing = [];
    this.#send(JSON.stringify(calls));
  }

  stopped(): boolean {
    // The program computes for long: its calls must not wait for the end.
    this.#sendCalls();
    return this.#reasonToStop() !== undefined;
  }

  #finish(result: CodeResult): void {
    if (this.#over) return;
    this.#over = true;
    this.#sendCalls();
    this.#context.leave();
    this.#timers.stop();
    this.#logs.flush(true);
    // An engine that ran out of memory or stack, or was stopped, is not used again. One that has grown too large ends with its
    // worker, which returns its memory at once.
    const { usedBytes } = this.#context;
    const reusable = (result.ok || result.reason === "threw") && usedBytes <= keptContextBytes;
    const displayed = this.#state.displayed > 0;
    const registry = this.#files.registryPath;
    this.#onEnd({ result, calls: this.#calls.all, logs: this.#logs.first, displayed, reusable, usedBytes, registry });
  }
}

function targetIn(json: string): Pick<CallMessage, "namespace" | "name" | "group" | "raw" | "isPage"> {
  const [namespace, name, kind] = JSON.parse(json) as [string, string, number];
  const isPage = kind === callKind.page;
  return {
    ...{ namespace, name, group: groups.get(kind) ?? ("tools" as const) },
    raw: kind === callKind.raw || isPage,
    ...(isPage ? { isPage } : {}),
  };
}

/** The line of the executed code in the innermost frame of a stack. Transpiling keeps lines. */
function lineIn(stack: string): number | undefined {
  const line = frameOfCode.exec(stack)?.[1];
  return line === undefined ? undefined : Number(line);
}

const frameOfCode = new RegExp(`[ (]${RegExp.escape(codeFile)}:(\\d{1,7})`);
