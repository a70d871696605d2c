/** Runs programs. Each execution has its own worker, which can always be stopped. */
import { availableParallelism, loadavg } from "node:os";
import { startWorker } from "../off-thread.ts";
import { atMost, type Clock, TimeLimit } from "../time-limit.ts";
import type {
  Bindings,
  CallWatcher,
  CheckMode,
  KnownFunction,
  Limits,
  Mounts,
  Namespace,
  Outcome,
} from "./contract.ts";
import { buildMark } from "./engine/build-mark.ts";
import { compiledEngine, forgetEngine } from "./engine/wasm.ts";
import type { ExecutionState } from "./execution.ts";
import { guestScript } from "./guest/bundle.ts" with { type: "macro" };
import type { Keeper, OpenCall, SavedExecution } from "./keeper.ts";
import { answersTo } from "./known-tools.ts";
import { plainFailure } from "./limit-errors.ts";
import {
  type CallMessage,
  type CheckpointMessage,
  type Failure,
  type FromWorker,
  phase,
  stopReason,
  type ToWorker,
  type WorkerResult,
} from "./messages.ts";
import { Places } from "./places.ts";
import { ProgramWorker, type WorkerSource } from "./program-worker.ts";
import { Recorder } from "./recorder.ts";

/** Time for a worker to stop by itself before it is terminated. On a busy machine it takes long, and says where the code was. */
const stopGraceMs = { timeout: 1_000, cancelled: 250 };

/** CPU time for parsing a program. Parsing takes milliseconds, but for some programs a parser would try combinations for years. */
const readingMs = 5_000;

/** Time for terminated workers to end. */
const endingMs = 1_000;

/** Time that an outcome waits for its explanation. */
const explainingMs = 2_000;

const guest: string = guestScript();

export interface ExecuteOptions {
  /** The id of the execution. Default: a random one. */
  id?: string | undefined;
  bindings: Bindings;
  limits: Limits;
  mounts: Mounts;
  check: CheckMode;
  signal?: AbortSignal | undefined;
  watch?: CallWatcher | undefined;
  /** Keeps the execution outside of this process. */
  keeper?: Keeper | undefined;
}

/** An execution that was saved, perhaps by another process. */
export interface Saved {
  execution: SavedExecution;
  /** The calls that it waits for. Those without an answer are made. */
  open: readonly OpenCall[];
}

/** An execution that runs. */
export interface Running {
  /** When it goes on, if it waits for nothing but a timer that fires late. In milliseconds since 1970. */
  readonly sleepsUntil: number | undefined;
  /** The calls that it waits for. */
  readonly openCalls: CallMessage[];
  /** Saves the execution now, and from now on before each of its calls leaves. */
  keep(): void;
}

interface ReadyWorker {
  worker: Worker;
  memoryBytes: number;
  /** Resolves when the worker may prepare its next execution. */
  prepared: Promise<void>;
}

/** A kept program is parked after this many times the usual time if it waits for a call and not for a person. */
const longCallShare = 6;

/** Memory of all parked programs together. Beyond it, programs that wait keep their worker. */
const maxParkedBytes = 512 * 1_048_576;

export class Sandbox implements Disposable {
  /** Workers that are kept for the next execution. More start when executions run concurrently. */
  #keptWorkers: number;
  readonly #idle: ReadyWorker[] = [];
  readonly #busy = new Set<Worker>();
  readonly #places: Places;
  readonly #programs = new Set<ProgramWorker>();
  readonly #running = new Map<string, Running>();
  #mark: Promise<string> | undefined;
  readonly #parkAfterMs: number;

  /**
   * `keptWorkers` is 0 for a process that runs one program. At most `atOnce` executions run concurrently; others wait. A program
   * that waits for a person leaves its worker after `parkAfterMs`.
   */
  constructor({ keptWorkers = 2, atOnce = 16, parkAfterMs = 5_000 } = {}) {
    this.#parkAfterMs = parkAfterMs;
    this.#keptWorkers = keptWorkers;
    this.#places = new Places(atOnce, parkAfterMs);
  }

  /** Starts a worker early. It is only useful for an execution with the same memory size. */
  warm(memoryBytes: number): void {
    if (this.#idle.length === 0) this.#idle.push(readyWorker(memoryBytes, this.#keptWorkers > 0));
  }

  /** Runs a program. Never rejects: everything that the program does is an outcome. */
  execute(source: string, options: ExecuteOptions): Promise<Outcome> {
    return this.#execute(source, options);
  }

  /** Continues an execution that was saved, with the same source and limits. Never rejects. */
  resume(source: string, saved: Saved, options: ExecuteOptions): Promise<Outcome> {
    return this.#execute(source, options, saved);
  }

  /** Names the build. A program that another build has saved cannot be continued. */
  buildMark(): Promise<string> {
    this.#mark ??= buildMark(guest);
    return this.#mark;
  }

  /** Undefined if no execution with that id runs here. */
  running(id: string): Running | undefined {
    return this.#running.get(id);
  }

  async #execute(source: string, options: ExecuteOptions, saved?: Saved): Promise<Outcome> {
    const { id, limits, watch } = options;
    const recorder = new Recorder({ id, limits, watch, saved: saved?.execution.recorder });
    const run = () => this.#run(source, options, recorder, saved);
    // The time limit starts when the execution gets its turn.
    const result = (await this.#places.inTurn(options.signal, run)) ?? stopped("cancelled", limits);
    return result.ok ? recorder.success(result) : recorder.failure(result.reason, result.error);
  }

  /**
   * Ends the workers that wait for an execution, and discards the compiled engine. Running executions are not affected, and the next
   * one starts a worker. Resolves when the workers have ended. Frees 18 MB of two workers, and 5 MB of the engine.
   */
  async releaseWorkers(): Promise<void> {
    const workers = this.#idle.splice(0).map(({ worker }) => worker);
    forgetEngine();
    const ended = workers.map((worker) => new Promise((resolve) => worker.addEventListener("close", resolve)));
    for (const worker of workers) worker.terminate();
    await atMost(endingMs, Promise.all(ended));
  }

  [Symbol.dispose](): void {
    // An execution that is still waiting takes a worker later, and must not return it to a disposed sandbox.
    this.#keptWorkers = 0;
    this.#places.close();
    for (const { worker } of this.#idle.splice(0)) worker.terminate();
    for (const worker of this.#busy) worker.terminate();
    this.#busy.clear();
  }

  async #run(code: string, options: ExecuteOptions, recorder: Recorder, saved?: Saved): Promise<WorkerResult> {
    const { id, bindings, limits, mounts, check, signal, keeper } = options;
    const { promise, resolve } = Promise.withResolvers<{ result: WorkerResult; reusable: boolean }>();
    const giveUp = (result: WorkerResult) => resolve({ result, reusable: false });
    const state = new Int32Array(new SharedArrayBuffer(8));
    const calls = new AbortController();
    /** The outcome if no explanation comes. */
    let ended: { result: WorkerResult; reusable: boolean } | undefined;
    const timers: Timer[] = [];
    const after = (ms: number, then: () => void) => timers.push(setTimeout(then, ms));

    /** The calls that the program waits for, and answers that it may not have received yet. */
    const open = new Map<number, OpenCall>();
    let isKept = keeper?.fromStart ?? false;
    let quietTimer: Timer | undefined;
    let isParking = false;
    let sleepsUntil: number | undefined;
    const park = () => {
      if (program.isParked || this.parkedBytes >= maxParkedBytes) return;
      isParking = true;
      program.park(2 * this.#parkAfterMs);
    };
    /** Parks a kept program that waits for a call for long. */
    const quiet = () => {
      clearTimeout(quietTimer);
      if (isKept) quietTimer = setTimeout(park, longCallShare * this.#parkAfterMs);
    };
    const make = async (message: CallMessage) => {
      const call: OpenCall = { message };
      open.set(message.call, call);
      const answer = await recorder.call(message, bindings, calls.signal, clock);
      // A saved copy of the program may still wait for this answer.
      if (isKept || isParking) call.answer = answer;
      else open.delete(message.call);
      if (!calls.signal.aborted) keeper?.answered(answer);
      program.send(answer);
    };
    const save = async ({ saved, wakeAt, open: ids }: Omit<CheckpointMessage, "type" | "calls">) => {
      const isOpen = new Set(ids);
      for (const id of open.keys()) if (!isOpen.has(id)) open.delete(id);
      const execution = saved && { program: saved, recorder: recorder.state, restMs: limit.restMs, wakeAt };
      await keeper?.save(execution, [...open.values()]);
    };
    const wakeUp = () => {
      if (sleepsUntil === undefined) return;
      sleepsUntil = undefined;
      clock.release();
    };

    const received = ({ data }: MessageEvent<FromWorker>) => {
      quiet();
      switch (data.type) {
        case "logs":
          recorder.log(data.entries);
          break;
        case "display":
          recorder.display(data.json);
          break;
        case "call":
          void make(data);
          break;
        case "checkpoint":
          for (const message of data.calls) open.set(message.call, { message });
          void save(data).then(() => {
            for (const message of data.calls) void make(message);
          });
          break;
        case "sleeps":
          sleepsUntil = data.until;
          hold();
          break;
        case "awake":
          wakeUp();
          break;
        case "parked":
          isParking = false;
          if (data.saved && keeper) {
            isKept = true;
            void save(data);
          } else if (!isKept) {
            for (const [id, { answer }] of open) if (answer) open.delete(id);
          }
          program.parked(data);
          break;
        case "resumed":
          program.resumed();
          place.parkLater();
          break;
        case "questions":
          program.send({ type: "answers", answers: answersTo(data.questions, bindings) });
          break;
        case "ended": {
          const { type: _, reusable, registry, explains, ...end } = data;
          const result: WorkerResult = "failure" in end ? end.failure : { ok: true, ...end };
          if (registry !== undefined) recorder.asked(registry);
          ended = { result, reusable };
          calls.abort();
          limit.end();
          if (explains) after(explainingMs, () => giveUp(result));
          else resolve(ended);
          break;
        }
        case "explained": {
          if (!ended) break;
          const { result, reusable } = ended;
          recorder.log(data.warnings ?? []);
          resolve({ result: result.ok || !data.error ? result : { ...result, error: data.error }, reusable });
        }
      }
    };
    const failed = (event: ErrorEvent) => {
      event.preventDefault();
      const stackOverflow = event.message.includes("Maximum call stack size");
      giveUp(ended?.result ?? stopped(stackOverflow ? "stack" : "crashed", limits));
    };

    /** The calls learn why the execution was cancelled. */
    const endCalls = () => calls.abort(signal?.aborted ? signal.reason : undefined);
    const halt = (reason: "cancelled" | "timeout") => {
      if (ended) return giveUp(ended.result);
      if (program.isParked) return giveUp(stopped(reason, limits));
      Atomics.compareExchange(state, 0, stopReason.none, stopReason[reason]);
      endCalls();
      program.send({ type: "stop" });
      const isReading = Atomics.load(state, 1) === phase.reading;
      after(stopGraceMs[reason], () => giveUp(stopped(reason, limits, isReading)));
    };
    const limit = new TimeLimit(saved?.execution.restMs ?? limits.timeoutMs, () => halt("timeout"));
    const moving = (change: () => void) => () => {
      change();
      if (!program.isParked) program.send({ type: "deadline", deadline: limit.deadline });
    };
    const place = this.#places.place(park);
    const hold = moving(() => [limit.hold(), place.hold()]);
    const clock: Clock = { hold, release: moving(() => [limit.release(), place.release()]) };
    const cancel = () => halt("cancelled");
    signal?.addEventListener("abort", cancel, { once: true });

    /** Waiting does not count. Executions at the same time share the cores, with each other and with other programs. */
    const watchReading = (waitedMs = 0) =>
      after(readingMs, () => {
        const now = Atomics.load(state, 1);
        const running = Math.max(this.#busy.size, loadavg()[0] ?? 0);
        const share = Math.max(1, running / availableParallelism());
        if (now === phase.waiting) watchReading();
        else if (now !== phase.reading) return;
        else if (waitedMs + readingMs < readingMs * share) watchReading(waitedMs + readingMs);
        else giveUp(unreadable());
      });

    const restore = ({ execution, open: calls }: Saved) => {
      program.restore(execution.program, execution.wakeAt);
      if ((execution.program.execution as ExecutionState).isAsleep) {
        sleepsUntil = execution.wakeAt;
        hold();
      }
      for (const { message, answer } of calls) {
        if (!answer) void make(message);
        else {
          open.set(message.call, { message, answer });
          recorder.answered(message, answer);
          program.send(answer);
        }
      }
      if (calls.length === 0 && execution.wakeAt === undefined) program.wake();
    };

    const source: WorkerSource = {
      take: () => this.#take(limits.memoryBytes),
      giveBack: (worker, reusable) => this.#giveBack(worker, limits.memoryBytes, reusable),
      listen(worker) {
        worker.onmessage = received;
        worker.onerror = failed;
      },
    };
    const program = new ProgramWorker(source, () => ({
      source: code,
      check,
      namespaces: bindings.namespaces.map(withoutSchemas),
      mounts,
      limits,
      deadline: limit.deadline,
      isKept,
      state: state.buffer,
    }));
    this.#programs.add(program);
    const keep = () => {
      if (isKept || !keeper) return;
      isKept = true;
      program.send({ type: "keep" });
    };
    const running: Running = {
      keep,
      get sleepsUntil() {
        return sleepsUntil;
      },
      get openCalls() {
        return [...open.values()].flatMap(({ message, answer }) => (answer ? [] : [message]));
      },
    };
    if (id !== undefined) this.#running.set(id, running);
    if (saved) {
      isKept = true;
      restore(saved);
    } else {
      await program.start();
      if (limits.timeoutMs > readingMs) watchReading();
    }
    if (signal?.aborted) cancel();
    const { result, reusable } = await promise;
    limit.end();
    place.end();
    for (const timer of timers) clearTimeout(timer);
    clearTimeout(quietTimer);
    signal?.removeEventListener("abort", cancel);
    endCalls();
    this.#programs.delete(program);
    if (id !== undefined) this.#running.delete(id);
    program.end(reusable);
    return result;
  }

  /** Programs that wait for a person and are in no worker. */
  get parkedPrograms(): number {
    return [...this.#programs].filter(({ isParked }) => isParked).length;
  }

  /** Memory of these programs, compressed. */
  get parkedBytes(): number {
    return [...this.#programs].reduce((sum, { parkedBytes }) => sum + parkedBytes, 0);
  }

  #take(memoryBytes: number): ReadyWorker {
    const index = this.#idle.findIndex((idle) => idle.memoryBytes === memoryBytes);
    const [idle] = index === -1 ? [] : this.#idle.splice(index, 1);
    const taken = idle ?? readyWorker(memoryBytes, this.#keptWorkers > 0);
    this.#busy.add(taken.worker);
    return taken;
  }

  #giveBack(worker: Worker, memoryBytes: number, reusable: boolean): void {
    // A worker that is missing here was terminated while it ran.
    if (!this.#busy.delete(worker)) return;
    worker.onmessage = null;
    worker.onerror = null;
    if (!reusable) {
      worker.terminate();
      // The next execution should not wait for a new worker.
      if (this.#keptWorkers > 0) this.warm(memoryBytes);
      return;
    }
    // A worker of another memory size belongs to an earlier config, and makes room.
    const old = this.#idle.findIndex((idle) => idle.memoryBytes !== memoryBytes);
    if (this.#idle.length >= this.#keptWorkers && old !== -1) this.#idle.splice(old, 1)[0]?.worker.terminate();
    if (this.#idle.length < this.#keptWorkers) {
      worker.postMessage({ type: "renew" } satisfies ToWorker);
      this.#idle.push({ worker, memoryBytes, prepared: Promise.resolve() });
    } else worker.terminate();
  }
}

function readyWorker(memoryBytes: number, again: boolean): ReadyWorker {
  const worker = startWorker("./sandbox/worker.ts");
  return { worker, memoryBytes, prepared: prepare(worker, memoryBytes, again) };
}

async function prepare(worker: Worker, memoryBytes: number, again: boolean): Promise<void> {
  const engine = await compiledEngine();
  worker.postMessage({ type: "prepare", engine, guest, memoryBytes, again } satisfies ToWorker);
}

/** The outcome of an execution whose worker could not report one. */
function stopped(reason: "cancelled" | "timeout" | "stack" | "crashed", limits: Limits, isReading = false): Failure {
  const error = plainFailure(reason, { name: "Error", message: "" }, limits);
  const words = isReading && reason === "timeout" ? tooNested(limits.timeoutMs) : {};
  return { ok: false, reason, error: { ...error, ...words } };
}

function unreadable(): Failure {
  const error = { name: "SyntaxError", code: "CODE_UNREADABLE", stack: "", ...tooNested(readingMs) };
  return { ok: false, reason: "check", error };
}

function tooNested(ms: number): { message: string; hint: string } {
  return {
    message: `The code could not be parsed as TypeScript within ${ms / 1000} s and was not run`,
    hint: "Nested or repeated code takes the parser too long: write it in smaller pieces, or without types.",
  };
}

/** Only the names. Schemas and signatures are sent when the worker asks for them. */
function withoutSchemas(namespace: Namespace): Namespace {
  const { name, jsName, description, functions, hidden = [], mayHide = false } = namespace;
  if (functions === "any") return { name, jsName, description, functions };
  const named = (each: Pick<KnownFunction, "name" | "jsName">) => ({ name: each.name, jsName: each.jsName });
  return { name, jsName, description, functions: functions.map(named), hidden: hidden.map(named), mayHide };
}
