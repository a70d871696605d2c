/**
 * The worker of one program. A program that waits long for a person is parked: its memory leaves the worker, which can then run other
 * programs. When the next message for the program arrives, it continues in another worker where it stopped.
 */
import { maxTimerMs } from "../../base/time-limit.ts";
import { textOf } from "../binding-value.ts";
import { maxJoinedChars } from "../limits.ts";
import type { FromWorker, ResumeMessage, RunMessage, SettleMessage, ToWorker } from "../messages.ts";
import { buffersOf, bytesOf, type ProgramImage } from "../program-image.ts";
import type { Caller } from "./time-shares.ts";
import type { ReadyWorker, WorkerPool } from "./worker-pool.ts";

interface ParkableWorkerOptions {
  workers: WorkerPool;
  memoryBytes: number;
  /** Its caller. */
  caller: Caller | undefined;
  /** Makes the message that starts or continues the program. */
  run: () => Omit<RunMessage, "type">;
  received: (message: FromWorker) => void;
  /** Called if the worker fails. */
  failed: (event: ErrorEvent) => void;
  /** Called if a parked program cannot be read any more. */
  lost: (error: unknown) => void;
}

/** A program outside any worker: in memory, or in a store that reads it. */
export type Parked = { image: ProgramImage } | { load: () => Promise<ProgramImage> };

export class ParkableWorker {
  readonly #options: ParkableWorkerOptions;
  #worker: ReadyWorker | undefined;
  #parked: Parked | undefined;
  /** Answers that are sent together. */
  #answers: SettleMessage[] = [];
  /** Messages for the program, until a worker has it. */
  #waiting: ToWorker[] | undefined = [];
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  constructor(options: ParkableWorkerOptions) {
    this.#options = options;
  }

  /** Takes a program that was saved elsewhere. It stays parked until it is sent a message, or until `wakeAt`. */
  restore(saved: Parked, wakeAt: number | undefined): void {
    this.#parked = saved;
    if (wakeAt !== undefined) this.#wakeAt(wakeAt, saved);
  }

  /** Continues a program that is parked. */
  wake(): void {
    if (this.#parked) void this.#resume(this.#parked);
  }

  /** Resolves when the program has been sent to a worker. */
  async start(): Promise<void> {
    await this.#enter(() => ({ type: "run", ...this.#options.run() }));
    this.#release();
  }

  get isParked(): boolean {
    return this.#parked !== undefined;
  }

  /** Bytes of memory that the parked program takes; 0 if it is in a worker or in a store. */
  get parkedBytes(): number {
    return this.#parked && "image" in this.#parked ? bytesOf(this.#parked.image.manifest) : 0;
  }

  send(message: ToWorker): void {
    if (!this.#waiting) {
      if (typeof message !== "string" && message.type === "settle" && charsOf(message) <= maxJoinedChars)
        this.#sendSoon(message);
      else this.#post(message);
      return;
    }
    this.#waiting.push(message);
    if (this.#parked) void this.#resume(this.#parked);
  }

  #sendSoon(answer: SettleMessage): void {
    if (this.#answers.length === 0) queueMicrotask(() => this.#sendAnswers());
    this.#answers.push(answer);
  }

  #sendAnswers(): void {
    const answers = this.#answers;
    if (answers.length === 0) return;
    this.#answers = [];
    this.#worker?.worker.postMessage(JSON.stringify(answers));
  }

  #post(message: ToWorker): void {
    this.#sendAnswers();
    this.#worker?.worker.postMessage(message);
  }

  /** Whether the program is in a worker that takes messages. */
  get isHere(): boolean {
    return this.#waiting === undefined && this.#worker !== undefined;
  }

  /** Asks the worker to park the program, if it only waits and no timer of it fires within `nearMs`. */
  park(nearMs: number, isWhole: boolean): void {
    if (!this.isHere) return;
    this.#post({ type: "park", nearMs, isWhole });
    this.#waiting = [];
  }

  /** Call this when the worker has answered `park`. The program is then outside of the worker. */
  parked(saved: Parked, { reusable, wakeAt }: { reusable: boolean; wakeAt: number | undefined }): void {
    if (this.#hasEnded) {
      this.#release();
      return;
    }
    this.#parked = saved;
    this.#leave(reusable);
    if (this.#waiting && this.#waiting.length > 0) void this.#resume(saved);
    else if (wakeAt !== undefined) this.#wakeAt(wakeAt, saved);
  }

  /**
   * Call this when the program was not parked and continues in its worker. `isReady` means that the worker waits for the `stay` message.
   */
  stay(isReady: boolean): void {
    if (isReady) this.#post({ type: "stay" });
    this.#release();
  }

  /** The worker has loaded the program. */
  resumed(): void {
    this.#release();
  }

  /** Call this when the program has ended. */
  end(reusable: boolean): void {
    this.#hasEnded = true;
    this.#parked = undefined;
    clearTimeout(this.#timer);
    // A worker that has not started the program yet may be in any state.
    this.#leave(reusable && this.#waiting === undefined);
  }

  async #resume(parked: Parked): Promise<void> {
    this.#parked = undefined;
    clearTimeout(this.#timer);
    try {
      const saved = "image" in parked ? parked.image : await parked.load();
      if (this.#hasEnded) return;
      await this.#enter((): ResumeMessage => ({ type: "resume", ...this.#options.run(), saved }), buffersOf(saved));
    } catch (error) {
      this.#options.lost(error);
    }
  }

  #wakeAt(at: number, saved: Parked): void {
    const restMs = at - Date.now();
    const wake = () => (restMs > maxTimerMs ? this.#wakeAt(at, saved) : void this.#resume(saved));
    this.#timer = setTimeout(wake, Math.min(restMs, maxTimerMs));
  }

  async #enter(message: () => RunMessage | ResumeMessage, transfer: ArrayBuffer[] = []): Promise<void> {
    const { workers, memoryBytes, caller, received, failed } = this.#options;
    const taken = await workers.take(memoryBytes, caller);
    if (this.#hasEnded) {
      workers.giveBack(taken, true);
      return;
    }
    this.#worker = taken;
    const { worker } = taken;
    worker.onmessage = ({ data }: MessageEvent<FromWorker>) => received(data);
    worker.onerror = failed;
    worker.postMessage(message(), transfer);
  }

  #leave(reusable: boolean): void {
    const worker = this.#worker;
    this.#worker = undefined;
    this.#answers = [];
    if (worker) this.#options.workers.giveBack(worker, reusable);
  }

  #release(): void {
    const waiting = this.#waiting ?? [];
    this.#waiting = undefined;
    for (const message of waiting) this.#worker?.worker.postMessage(message);
  }
}

function charsOf(answer: SettleMessage): number {
  return "error" in answer ? answer.error.message.length : textOf(answer).length;
}
