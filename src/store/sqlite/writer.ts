/** What the main thread has of the thread that writes executions. */
import { ClaudikinsError } from "../../base/errors.ts";
import { startWorker, type ThrownError } from "../../base/off-thread.ts";
import type { ExecutionWriter, JobName, StoreJobs } from "../jobs.ts";
import type { FromStore, ToStore } from "./worker.ts";

/** Time without a job after which the thread that writes ends. */
const writerIdleMs = 30_000;

interface PendingJob {
  resolve: (output: never) => void;
  reject: (error: Error) => void;
}

/** A job without its number. */
type Unnumbered<Message> = Message extends unknown ? Omit<Message, "id"> : never;

/**
 * Sends jobs from the main thread to the store's thread. All writes to the store of executions go through it, so that neither a large
 * program nor a slow disk blocks the main thread. The thread starts with the first job, and ends when it has had none for a while.
 */
export class StoreWriter implements ExecutionWriter {
  readonly #file: string;
  readonly #waiting = new Map<number, PendingJob>();
  #worker: Worker | undefined;
  #lastId = 0;
  #timer: Timer | undefined;
  #closing: Promise<void> | undefined;
  #hasEnded = false;

  constructor(file: string) {
    this.#file = file;
  }

  /** Does a job for one execution. Rejects with FILE_NOT_WRITABLE, and with what the database throws. */
  do<Name extends JobName>(
    job: Name,
    execution: string,
    input: StoreJobs[Name]["input"],
    transfer: ArrayBuffer[] = [],
  ): Promise<StoreJobs[Name]["output"]> {
    return this.#send({ ...input, job, execution } as unknown as Unnumbered<ToStore>, transfer);
  }

  /** Deletes the pages of executions that are gone, or whose first save was interrupted. */
  async deleteOrphans(isAlive: (owner: string) => Promise<boolean>): Promise<void> {
    const orphans = await this.#send<{ execution: string; owner: string | null }[]>({ job: "orphans" });
    for (const { execution, owner } of orphans) {
      if (owner === null || !(await isAlive(owner))) await this.#send({ job: "purge", execution });
    }
  }

  /** Resolves when everything is written and the thread has ended. Later jobs are refused. Never rejects. */
  async close(): Promise<void> {
    this.#hasEnded = true;
    await this.#rest();
  }

  async #rest(): Promise<void> {
    clearTimeout(this.#timer);
    const worker = this.#worker;
    if (!worker) return this.#closing;
    const closed = this.#send({ job: "close" }).catch(() => {});
    this.#worker = undefined;
    this.#closing = closed.then(() => worker.terminate());
    return this.#closing;
  }

  #send<Output>(message: Unnumbered<ToStore>, transfer: ArrayBuffer[] = []): Promise<Output> {
    if (this.#hasEnded && !this.#worker) return Promise.reject(new Error("the database is closed"));
    const worker = this.#started();
    this.#lastId += 1;
    const id = this.#lastId;
    const { promise, resolve, reject } = Promise.withResolvers<Output>();
    this.#waiting.set(id, { resolve, reject });
    worker.ref();
    worker.postMessage({ ...message, id }, transfer);
    return promise;
  }

  #started(): Worker {
    clearTimeout(this.#timer);
    if (this.#worker) return this.#worker;
    const worker = startWorker("./store/sqlite/worker.ts");
    this.#worker = worker;
    worker.onmessage = ({ data }: MessageEvent<FromStore>) => this.#received(data, worker);
    worker.onerror = (event) => {
      event.preventDefault();
      this.#failed(new Error(event.message), worker);
    };
    this.#send({ job: "open", file: this.#file }).catch((error: Error) => this.#failed(error, worker));
    return worker;
  }

  #received(answer: FromStore, worker: Worker): void {
    const waiting = this.#waiting.get(answer.id);
    this.#waiting.delete(answer.id);
    if (this.#waiting.size === 0) this.#restLater(worker);
    if (!waiting) return;
    if ("thrown" in answer) waiting.reject(errorFrom(answer.thrown));
    else if ("isFlat" in answer) {
      const { id: _, isFlat: __, ...output } = answer;
      waiting.resolve(output as never);
    } else waiting.resolve(answer.value as never);
  }

  #restLater(worker: Worker): void {
    worker.unref();
    if (worker !== this.#worker) return;
    this.#timer = setTimeout(() => void this.#rest(), writerIdleMs);
    this.#timer.unref();
  }

  /** The next job starts another thread. */
  #failed(error: Error, worker: Worker): void {
    if (worker === this.#worker) this.#worker = undefined;
    worker.terminate();
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function errorFrom({ code, message, hint }: ThrownError): Error {
  return code === undefined ? new Error(message) : new ClaudikinsError(code, message, { hint });
}
