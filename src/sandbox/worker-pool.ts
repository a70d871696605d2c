/** The worker threads of a sandbox. Each runs one program at a time, and some are kept for the next one. */
import { availableParallelism } from "node:os";
import { startWorker } from "../base/off-thread.ts";
import { Semaphore } from "../base/semaphore.ts";
import { atMost } from "../base/time-limit.ts";
import { forgetMade, keepMade, knownMade } from "./engine/wasm.ts";
import type { FromWorker, ToWorker } from "./messages.ts";
import type { Caller } from "./time-shares.ts";

/**
 * How many workers start at the same time. Each needs a core for 40 ms. The main thread needs one too: when 12 programs started
 * together on two cores, it answered nothing for 110 ms.
 */
const startingAtOnce = Math.max(1, availableParallelism() - 1);

/** Time for terminated workers to end. */
const workerEndingMs = 1_000;

export interface ReadyWorker {
  worker: Worker;
  memoryBytes: number;
}

export class WorkerPool implements Disposable {
  /** The guest's script, for all workers. */
  readonly #guest: Uint8Array;
  /** How many idle workers are kept. More start when programs run concurrently. */
  #keptWorkers: number;
  readonly #idle: ReadyWorker[] = [];
  readonly #busy = new Set<Worker>();
  readonly #starts = new Semaphore(startingAtOnce);

  /** `guest` is the guest's script. */
  constructor(guest: string, keptWorkers: number) {
    const bytes = Buffer.from(guest);
    this.#guest = new Uint8Array(new SharedArrayBuffer(bytes.length));
    this.#guest.set(bytes);
    this.#keptWorkers = keptWorkers;
  }

  /** Starts a worker early, if none is idle. */
  warm(memoryBytes: number): void {
    if (this.#idle.length > 0) return;
    this.#starts.take();
    this.#idle.push(this.#start(memoryBytes));
  }

  /** Number of workers that run a program. */
  get busy(): number {
    return this.#busy.size;
  }

  /** Resolves with an idle worker, or with a new one as soon as it may start. Callers get new ones in turn. */
  async take(memoryBytes: number, caller: Caller = {}): Promise<ReadyWorker> {
    const taken = this.#takeIdle(memoryBytes) ?? (await this.#startInTurn(memoryBytes, caller));
    this.#busy.add(taken.worker);
    return taken;
  }

  giveBack({ worker, memoryBytes }: ReadyWorker, reusable: boolean): void {
    // A worker that is missing here was terminated while it ran.
    if (!this.#busy.delete(worker)) return;
    worker.onmessage = null;
    worker.onerror = null;
    if (!reusable) {
      worker.terminate();
      // The next program should not wait for a new worker.
      if (this.#keptWorkers > 0) this.warm(memoryBytes);
      return;
    }
    // A worker of another memory size belongs to an earlier config, and makes room.
    const old = this.#idle.findIndex((idle) => idle.memoryBytes !== memoryBytes);
    if (this.#idle.length >= this.#keptWorkers && old !== -1) this.#idle.splice(old, 1)[0]?.worker.terminate();
    if (this.#idle.length < this.#keptWorkers) {
      worker.postMessage({ type: "renew" } satisfies ToWorker);
      this.#idle.push({ worker, memoryBytes });
    } else worker.terminate();
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
  }

  #takeIdle(memoryBytes: number): ReadyWorker | undefined {
    const index = this.#idle.findIndex((idle) => idle.memoryBytes === memoryBytes);
    return index === -1 ? undefined : this.#idle.splice(index, 1)[0];
  }

  async #startInTurn(memoryBytes: number, { key, owner }: Caller): Promise<ReadyWorker> {
    await this.#starts.acquire(undefined, key, owner);
    const idle = this.#takeIdle(memoryBytes);
    if (!idle) return this.#start(memoryBytes, owner);
    this.#starts.release(owner);
    return idle;
  }

  /** Starts a worker, and releases `#starts` when it has started or ended. */
  #start(memoryBytes: number, owner?: string): ReadyWorker {
    const worker = startWorker("./sandbox/worker/worker.ts");
    const started = () => {
      worker.removeEventListener("message", hear);
      worker.removeEventListener("close", started);
      this.#starts.release(owner);
    };
    const hear = ({ data }: MessageEvent<FromWorker>) => {
      if (typeof data === "string" || data.type !== "prepared") return;
      keepMade(data);
      started();
    };
    worker.addEventListener("message", hear);
    worker.addEventListener("close", started);
    const again = this.#keptWorkers > 0;
    const { engine, ready } = knownMade();
    worker.postMessage({ type: "prepare", engine, ready, guest: this.#guest, memoryBytes, again } satisfies ToWorker);
    return { worker, memoryBytes };
  }
}
