/** Runs code: each execution in a worker of its own for its time, stopped for certain, answered with an Outcome. */
import { type Clock, TimeLimit } from "../time-limit.ts";
import { Turns } from "../turns.ts";
import { CheckError, wrongCalls } from "./code/check-error.ts";
import type { Transpiled } from "./code/transpile.ts";
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
import { compiledEngine } from "./engine/wasm.ts";
import { guestScript } from "./guest/bundle.ts" with { type: "macro" };
import { type FromWorker, stopReason, type ToWorker, type WorkerResult } from "./messages.ts";
import { Recorder } from "./recorder.ts";
import { isSuspicious } from "./suspicion.ts";

/** How long a worker that was told to stop may take to say so, before it is ended from outside. */
const stopGraceMs = 250;

const guest: string = guestScript();

export interface ExecuteOptions {
  bindings: Bindings;
  limits: Limits;
  mounts: Mounts;
  check: CheckMode;
  signal?: AbortSignal | undefined;
  watch?: CallWatcher | undefined;
}

interface ReadyWorker {
  worker: Worker;
  memoryBytes: number;
  /** Resolves when it was told to make its next execution. */
  prepared: Promise<void>;
}

export class Sandbox implements Disposable {
  /** Workers that wait for the next execution. More are started when more executions run side by side. */
  #keptWorkers: number;
  readonly #idle: ReadyWorker[] = [];
  readonly #busy = new Set<Worker>();
  readonly #turns: Turns;

  /** `keptWorkers` is 0 for a process that runs one piece of code. More executions than `atOnce` wait for their turn. */
  constructor({ keptWorkers = 2, atOnce = 16 } = {}) {
    this.#keptWorkers = keptWorkers;
    this.#turns = new Turns(atOnce);
  }

  /** Starts a worker now, so that it is ready when the code is. With another memory size it is no use. */
  warm(memoryBytes: number): void {
    if (this.#idle.length === 0) this.#idle.push(startWorker(memoryBytes, this.#keptWorkers > 0));
  }

  /** Never rejects: whatever the code does is an outcome. */
  async execute(source: string, options: ExecuteOptions): Promise<Outcome> {
    const recorder = new Recorder(options.limits, options.watch);
    try {
      // Loaded while the worker starts.
      const { transpile } = await import("./code/transpile.ts");
      const transpiled = await transpile(source);
      for (const note of transpiled.notes) recorder.log([{ level: "warn", text: `warning, ${note}` }]);
      const findings = options.check === "off" ? [] : await transpiled.check(options.bindings);
      if (findings.length > 0 && options.check === "error") throw wrongCalls(findings, source);
      for (const { line, message } of findings) recorder.log([{ level: "warn", text: `line ${line}: ${message}` }]);
      const result = await this.#runInTurn(transpiled.code, options, recorder);
      if (result.ok) {
        await secondLook(result, transpiled, options.bindings, recorder);
        return recorder.success(result.json);
      }
      const { describeFailure } = await import("./failure.ts");
      const failure = await describeFailure(result, {
        source,
        transpiled,
        limits: options.limits,
        bindings: options.bindings,
        calls: recorder.calls(),
      });
      return recorder.failure(result.reason, failure);
    } catch (error) {
      if (error instanceof CheckError) return recorder.failure("check", error.error);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    // An execution that is still being read takes a worker later, and gives it back to nobody.
    this.#keptWorkers = 0;
    this.#turns.end();
    for (const { worker } of this.#idle.splice(0)) worker.terminate();
    for (const worker of this.#busy) worker.terminate();
    this.#busy.clear();
  }

  /** The time of the code begins with its turn. */
  async #runInTurn(code: string, options: ExecuteOptions, recorder: Recorder): Promise<WorkerResult> {
    if ((await this.#turns.take(options.signal)) === false) return lost("cancelled");
    try {
      return await this.#run(code, options, recorder);
    } finally {
      this.#turns.giveBack();
    }
  }

  async #run(
    code: string,
    { bindings, limits, mounts, signal }: ExecuteOptions,
    recorder: Recorder,
  ): Promise<WorkerResult> {
    const { promise, resolve } = Promise.withResolvers<{ result: WorkerResult; reusable: boolean }>();
    const stop = new SharedArrayBuffer(4);
    const calls = new AbortController();
    const { worker, prepared } = this.#take(limits.memoryBytes);
    const send = (message: ToWorker) => worker.postMessage(message);

    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => {
      if (data.type === "logs") recorder.log(data.entries);
      else if (data.type === "display") recorder.display(data.json);
      else if (data.type === "done") {
        if (data.registry !== undefined) recorder.asked(data.registry);
        resolve(data);
      } else void recorder.call(data, bindings, calls.signal, clock).then(send);
    };
    worker.onerror = (event) => {
      event.preventDefault();
      const stackOverflow = event.message.includes("Maximum call stack size");
      resolve({ result: lost(stackOverflow ? "stack" : "crashed"), reusable: false });
    };

    const halt = (reason: "cancelled" | "timeout") => {
      Atomics.compareExchange(new Int32Array(stop), 0, stopReason.none, stopReason[reason]);
      calls.abort();
      send({ type: "stop" });
      setTimeout(() => resolve({ result: lost(reason), reusable: false }), stopGraceMs).unref();
    };
    const limit = new TimeLimit(limits.timeoutMs, () => halt("timeout"));
    const tellDeadline = () => send({ type: "deadline", deadline: limit.deadline });
    const clock: Clock = {
      hold: () => {
        limit.hold();
        tellDeadline();
      },
      release: () => {
        limit.release();
        tellDeadline();
      },
    };
    const cancel = () => halt("cancelled");
    signal?.addEventListener("abort", cancel, { once: true });

    await prepared;
    send({
      type: "run",
      code,
      namespaces: bindings.namespaces.map(withoutSchemas),
      mounts,
      limits,
      deadline: limit.deadline,
      stop,
    });
    if (signal?.aborted) cancel();
    const { result, reusable } = await promise;
    limit.end();
    signal?.removeEventListener("abort", cancel);
    calls.abort();
    this.#giveBack(worker, limits.memoryBytes, reusable);
    return result;
  }

  #take(memoryBytes: number): ReadyWorker {
    const index = this.#idle.findIndex((idle) => idle.memoryBytes === memoryBytes);
    const [idle] = index === -1 ? [] : this.#idle.splice(index, 1);
    const taken = idle ?? startWorker(memoryBytes, this.#keptWorkers > 0);
    this.#busy.add(taken.worker);
    return taken;
  }

  #giveBack(worker: Worker, memoryBytes: number, reusable: boolean): void {
    // A worker that is not here any more was ended while it ran.
    if (!this.#busy.delete(worker)) return;
    worker.onmessage = null;
    worker.onerror = null;
    if (!reusable) {
      worker.terminate();
      // The next execution is not to wait for a new one.
      if (this.#keptWorkers > 0) this.warm(memoryBytes);
      return;
    }
    // One of another memory size was for executions as they were, and makes room.
    const old = this.#idle.findIndex((idle) => idle.memoryBytes !== memoryBytes);
    if (this.#idle.length >= this.#keptWorkers && old !== -1) this.#idle.splice(old, 1)[0]?.worker.terminate();
    if (this.#idle.length < this.#keptWorkers) {
      worker.postMessage({ type: "renew" } satisfies ToWorker);
      this.#idle.push({ worker, memoryBytes, prepared: Promise.resolve() });
    } else worker.terminate();
  }
}

/** Longer code is not looked through again: that is done on the thread that answers the host. */
const maxCode = 20_000;

/** Says in the logs what is wrong with a result that looks so, where that is certain. */
async function secondLook(
  { json, notes }: Extract<WorkerResult, { ok: true }>,
  transpiled: Transpiled,
  bindings: Bindings,
  recorder: Recorder,
): Promise<void> {
  const calls = recorder.calls();
  const { logs, displayed } = recorder;
  if (
    transpiled.plain.code.length > maxCode ||
    !isSuspicious({ code: transpiled.plain.code, json, notes, logs, calls })
  )
    return;
  const { warn } = await import("./advice/second-look.ts");
  recorder.log(warn({ json, notes, logs, displayed, calls }, transpiled.plain, bindings));
}

function startWorker(memoryBytes: number, again: boolean): ReadyWorker {
  // Relative to this file from source, and to the entry in an executable, where everything is one bundle.
  const path = Bun.isStandaloneExecutable ? "./sandbox/worker.ts" : "./worker.ts";
  const worker = new Worker(new URL(path, import.meta.url).href);
  return { worker, memoryBytes, prepared: prepare(worker, memoryBytes, again) };
}

async function prepare(worker: Worker, memoryBytes: number, again: boolean): Promise<void> {
  const engine = await compiledEngine();
  worker.postMessage({ type: "prepare", engine, guest, memoryBytes, again } satisfies ToWorker);
}

/** The result of a worker that could not give one itself. */
function lost(reason: "cancelled" | "timeout" | "stack" | "crashed"): WorkerResult {
  return { ok: false, reason, error: { name: "Error", message: "", stack: "" } };
}

/** The guest needs the names alone. */
function withoutSchemas(namespace: Namespace): Namespace {
  const { name, jsName, functions, hidden = [] } = namespace;
  if (functions === "any") return { name, jsName, functions };
  const named = (each: Pick<KnownFunction, "name" | "jsName">) => ({ name: each.name, jsName: each.jsName });
  return { name, jsName, functions: functions.map(named), hidden: hidden.map(named) };
}
