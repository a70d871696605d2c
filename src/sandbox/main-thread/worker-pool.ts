/** The worker threads of a sandbox. Each runs one program at a time, and some are kept for the next one. */
import { availableParallelism } from "node:os";
import { FairQueue } from "../../base/fair-queue.ts";
import { startWorker } from "../../base/off-thread.ts";
import { atMost } from "../../base/time-limit.ts";
import { forgetMade, keepMade, knownMade } from "../engine/wasm.ts";
import { firstMemoryBytes } from "../limits.ts";
import type { FromWorker, ToWorker } from "../messages.ts";
import type { Caller } from "./time-shares.ts";

/**
 * How many workers start at the same time. Each needs a core for 40 ms. The main thread needs one too: when 12 programs started
 * together on two cores, it answered nothing for 110 ms.
 */
const startingAtOnce = Math.max(1, availableParallelism() - 1);

/**
 * Waiting programs get the next worker that is freed. Another worker starts only if none was freed for this time. Short programs finish
 * sooner one after another than on more workers; programs that wait for calls hold their workers for long.
 */
const stallMs = 20;

/**
 * The pool keeps as many workers as were busy at once in this period or in the one before it. An idle worker takes 9 MB, and a new one 40 ms
 * of CPU. When fewer were kept, 60 people on two cores got a third fewer executions.
 */
const peakPeriodMs = 30_000;

/**
 * A worker starts without memory after this wait, and its program fails. Programs get their turn only if there is memory for them, so only
 * programs that continue wait here, if many do so at the same time.
 */
const memoryWaitMs = 10_000;

/** Time for terminated workers to end. */
const workerEndingMs = 1_000;

export interface ReadyWorker {
  worker: Worker;
  memoryBytes: number;
}

interface MemoryLimits {
  /** The memories of all workers together begin with at most this many bytes. */
  maxBytes?: number;
  /** See `PrepareMessage`. */
  growBelowBytes?: number;
}

/** A program that waits for a worker. */
interface Waiting {
  memoryBytes: number;
  resolve: (worker: ReadyWorker) => void;
}

export class WorkerPool implements Disposable {
  /** The guest's script, for all workers. */
  readonly #guest: Uint8Array;
  /** Minimum number of idle workers that are kept. 0 for a process that keeps none. */
  #keptWorkers: number;
  readonly #idle: ReadyWorker[] = [];
  readonly #busy = new Set<Worker>();
  readonly #waiting = new FairQueue<Waiting>();
  /** Workers that have not started yet. */
  #starting = 0;
  /** Maximum of the memories that all workers begin with. In bytes. */
  readonly #maxBytes: number;
  /** The memories that the workers that have not ended began with. In bytes. */
  #bytes = 0;
  readonly #growBelowBytes: number;
  /** When the last worker was freed or, if that is later, the first program began to wait. */
  #stalledAt = 0;
  #stall: Timer | undefined;
  /** The most workers that were busy at once, in the last period and in this one, which has begun at `#peakAt`. */
  #peaks = [0, 0];
  #peakAt = 0;

  /** `guest` is the guest's script. */
  constructor(
    guest: string,
    keptWorkers: number,
    { maxBytes = Number.POSITIVE_INFINITY, growBelowBytes = Number.POSITIVE_INFINITY }: MemoryLimits = {},
  ) {
    this.#maxBytes = maxBytes;
    this.#growBelowBytes = growBelowBytes;
    const bytes = Buffer.from(guest);
    this.#guest = new Uint8Array(new SharedArrayBuffer(bytes.length));
    this.#guest.set(bytes);
    this.#keptWorkers = keptWorkers;
  }

  /** Starts a worker early, if none is idle. */
  warm(memoryBytes: number): void {
    if (this.#idle.length === 0) this.#idle.push(this.#start(memoryBytes));
  }

  /** Number of workers that run a program. */
  get busy(): number {
    return this.#busy.size;
  }

  /** Resolves with a worker: an idle one, else the next that is freed or started. Callers that wait get them in turn. */
  async take(memoryBytes: number, { key = "", owner = "" }: Caller = {}): Promise<ReadyWorker> {
    const idle = this.#waiting.isEmpty ? this.#takeIdle(memoryBytes) : undefined;
    if (idle) return this.#given(idle);
    const { promise, resolve } = Promise.withResolvers<ReadyWorker>();
    if (this.#waiting.isEmpty) this.#stalledAt = performance.now();
    this.#waiting.add({ memoryBytes, resolve }, key, owner);
    this.#serve();
    this.#startMore();
    return promise;
  }

  giveBack({ worker, memoryBytes }: ReadyWorker, reusable: boolean): void {
    // A worker that is missing here was terminated while it ran.
    if (!this.#busy.delete(worker)) return;
    worker.onmessage = null;
    worker.onerror = null;
    this.#stalledAt = performance.now();
    if (!reusable) {
      worker.terminate();
      // The next program should not wait for a new worker.
      if (!this.#waiting.isEmpty) this.#startMore(true);
      else if (this.#keptWorkers > 0) this.warm(memoryBytes);
      return;
    }
    if (this.#keptWorkers === 0 && this.#waiting.isEmpty) {
      worker.terminate();
      return;
    }
    worker.postMessage({ type: "renew" } satisfies ToWorker);
    this.#idle.push({ worker, memoryBytes });
    this.#serve();
    this.#trim(memoryBytes);
  }

  /** Ends the idle workers that are kept only because as many were busy. The others would be started again at once. */
  endIdle(): void {
    for (const { worker } of this.#idle.splice(this.#keptWorkers)) worker.terminate();
  }

  /** Ends the idle workers, and discards what they share. Resolves when the workers have ended. */
  async release(): Promise<void> {
    const workers = this.#idle.splice(0).map(({ worker }) => worker);
    forgetMade();
    const ended = workers.map((worker) => new Promise((resolve) => worker.addEventListener("close", resolve)));
    for (const worker of workers) worker.terminate();
    await atMost(workerEndingMs, Promise.all(ended));
  }

  [Symbol.dispose](): void {
    // A program that is still waiting takes a worker later, and must not return it to a disposed pool.
    this.#keptWorkers = 0;
    for (const { worker } of this.#idle.splice(0)) worker.terminate();
    for (const worker of this.#busy) worker.terminate();
    this.#busy.clear();
    this.#startMore();
  }

  /** Gives the idle workers to those that wait. */
  #serve(): void {
    while (this.#idle.length > 0) {
      const next = this.#waiting.next();
      if (!next) return;
      const { memoryBytes, resolve } = next.caller;
      const idle = this.#takeIdle(memoryBytes);
      // A worker of another memory size belongs to an earlier config, and makes room.
      if (!idle) this.#idle.pop()?.worker.terminate();
      resolve(this.#given(idle ?? this.#start(memoryBytes)));
    }
  }

  #given(ready: ReadyWorker): ReadyWorker {
    this.#busy.add(ready.worker);
    this.#countPeak();
    return ready;
  }

  /** Starts a worker for the first that waits if none was freed for a while, or at once if no worker can be freed. */
  #startMore(atOnce = this.#busy.size === 0): void {
    clearTimeout(this.#stall);
    const { first } = this.#waiting;
    if (!first || this.#starting >= startingAtOnce) return;
    // A single program that is too large fails at once.
    const hasMemory = this.#bytes === 0 || this.#bytes + firstMemoryBytes <= this.#maxBytes;
    const waitMs = hasMemory ? (atOnce ? 0 : stallMs) : memoryWaitMs;
    const restMs = this.#stalledAt + waitMs - performance.now();
    if (restMs > 0) {
      this.#stall = setTimeout(() => this.#startMore(), restMs);
      return;
    }
    const { caller } = this.#waiting.next()!;
    caller.resolve(this.#given(this.#start(caller.memoryBytes)));
    this.#startMore(false);
  }

  #takeIdle(memoryBytes: number): ReadyWorker | undefined {
    const index = this.#idle.findLastIndex((idle) => idle.memoryBytes === memoryBytes);
    return index === -1 ? undefined : this.#idle.splice(index, 1)[0];
  }

  #countPeak(): void {
    const now = performance.now();
    if (now - this.#peakAt > peakPeriodMs) {
      const isNext = now - this.#peakAt < 2 * peakPeriodMs;
      this.#peaks = [isNext ? this.#peaks[1]! : 0, 0];
      this.#peakAt = now;
    }
    this.#peaks[1] = Math.max(this.#peaks[1]!, this.#busy.size);
  }

  /** Ends surplus idle workers. Workers with another memory size end first, because they belong to an earlier config. */
  #trim(memoryBytes: number): void {
    this.#countPeak();
    const kept = Math.max(this.#keptWorkers, ...this.#peaks);
    while (this.#idle.length > 0 && this.#idle.length + this.#busy.size > kept) {
      const old = this.#idle.findIndex((idle) => idle.memoryBytes !== memoryBytes);
      this.#idle.splice(Math.max(old, 0), 1)[0]?.worker.terminate();
    }
  }

  /** Starts a worker. More may start when it has started, or ended. */
  #start(memoryBytes: number): ReadyWorker {
    this.#starting += 1;
    this.#bytes += firstMemoryBytes;
    const worker = startWorker("./sandbox/worker/worker.ts");
    const started = () => {
      worker.removeEventListener("message", hear);
      worker.removeEventListener("close", started);
      this.#starting -= 1;
      this.#startMore();
    };
    const hear = ({ data }: MessageEvent<FromWorker>) => {
      if (typeof data === "string" || data.type !== "prepared") return;
      keepMade(data);
      started();
    };
    worker.addEventListener("message", hear);
    worker.addEventListener("close", started);
    worker.addEventListener("close", () => {
      this.#bytes -= firstMemoryBytes;
      this.#startMore();
    });
    const again = this.#keptWorkers > 0;
    const { engine, ready } = knownMade();
    const growBelowBytes = this.#growBelowBytes;
    worker.postMessage({
      type: "prepare",
      engine,
      ready,
      guest: this.#guest,
      memoryBytes,
      growBelowBytes,
      again,
    } satisfies ToWorker);
    return { worker, memoryBytes };
  }
}
