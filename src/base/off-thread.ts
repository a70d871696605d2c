/** Runs jobs in worker threads, so that no input can block the main thread. A job that takes too long is terminated. */
import { ClaudikinsError, type ErrorCode, messageOf } from "./errors.ts";

/** Time after which a worker without work is terminated. */
const workerIdleMs = 10_000;

/** Time that a worker waits for another job before it collects garbage. */
const workerCollectAfterMs = 50;

/** Workers of one kind at the same time, if their user sets no other number. Further jobs wait. */
const maxWorkersOfKind = 2;

/** The job exceeded its time limit. Its worker was terminated. */
export class TookTooLong extends Error {
  override readonly name = "TookTooLong";
}

interface JobOptions {
  /** Time for the job itself, in milliseconds. Waiting for a worker does not count. */
  limitMs: number;
  /** Buffers that are moved instead of copied. */
  transfer?: ArrayBuffer[];
  /** Ends the job, and its worker. The promise rejects with the reason. */
  signal?: AbortSignal | undefined;
}

/**
 * A worker's answer: the output of the job, or its error. Outputs should be flat objects: Bun moves their strings to
 * another thread, but copies strings of nested objects twice, which takes 140 ms for 22 million characters.
 */
type ThreadAnswer<Output> = Output | { thrown: ThrownError };

/** An error of another thread. */
export interface ThrownError {
  message: string;
  /** The code of a ClaudikinsError. */
  code?: ErrorCode;
  hint?: string | undefined;
}

interface ThreadJob<Input, Output> extends JobOptions {
  input: Input;
  resolve: (output: Output) => void;
  reject: (reason: unknown) => void;
}

interface IdleWorker {
  worker: Worker;
  timer: ReturnType<typeof setTimeout>;
}

/** A pool of workers that all run the same file. Workers are started on demand and do not keep the process alive. */
export class OffThread<Input, Output> {
  readonly #path: string;
  readonly #maxWorkers: number;
  readonly #waiting: ThreadJob<Input, Output>[] = [];
  readonly #idle: IdleWorker[] = [];
  #busy = 0;

  /**
   * `path` is the path of the worker in `src`, such as `../serve/content/worker.ts`. The worker answers with `answerJobs`. With one worker,
   * jobs are done in their order.
   */
  constructor(path: string, { maxWorkers = maxWorkersOfKind } = {}) {
    this.#path = path;
    this.#maxWorkers = maxWorkers;
  }

  /** Throws TookTooLong, and errors of the worker: a ClaudikinsError unchanged, other errors with their message only. */
  run(input: Input, options: JobOptions): Promise<Output> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ ...options, input, resolve, reject });
      this.#next();
    });
  }

  #next(): void {
    if (this.#busy >= this.#maxWorkers) return;
    const job = this.#waiting.shift();
    if (!job) return;
    if (job.signal?.aborted) {
      job.reject(job.signal.reason);
      this.#next();
      return;
    }
    this.#busy += 1;
    const idle = this.#idle.pop();
    clearTimeout(idle?.timer);
    this.#work(idle?.worker ?? startWorker(this.#path), job);
  }

  #work(worker: Worker, job: ThreadJob<Input, Output>): void {
    const { promise, resolve } = Promise.withResolvers<ThreadAnswer<Output> | TookTooLong>();
    const timer = setTimeout(() => resolve(new TookTooLong(`no answer in ${job.limitMs} ms`)), job.limitMs);
    const cancel = () => resolve(new TookTooLong("cancelled"));
    job.signal?.addEventListener("abort", cancel);
    worker.ref();
    worker.onmessage = ({ data }: MessageEvent<ThreadAnswer<Output>>) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(new TookTooLong(event.message));
    };
    worker.postMessage(job.input, job.transfer ?? []);
    void promise.then((answer) => {
      clearTimeout(timer);
      job.signal?.removeEventListener("abort", cancel);
      // The listeners refer to the answer, and the worker to the listeners.
      worker.onmessage = null;
      worker.onerror = ignored;
      this.#busy -= 1;
      if (answer instanceof TookTooLong) worker.terminate();
      else this.#rest(worker);
      this.#next();
      if (answer instanceof TookTooLong) job.reject(job.signal?.aborted ? job.signal.reason : answer);
      else if (hasThrown(answer)) job.reject(errorFrom(answer.thrown));
      else job.resolve(answer);
    });
  }

  /** Keeps the worker for the next job until it has been idle for `workerIdleMs`. */
  #rest(worker: Worker): void {
    worker.unref();
    const idle: IdleWorker = {
      worker,
      timer: setTimeout(() => {
        this.#idle.splice(this.#idle.indexOf(idle), 1);
        worker.terminate();
      }, workerIdleMs),
    };
    idle.timer.unref();
    this.#idle.push(idle);
  }
}

/** Ignores errors of a worker without a job. */
const ignored = (event: ErrorEvent) => event.preventDefault();

/** Starts the worker with this path in `src`. An executable is one bundle, and its paths are relative to the entry point, which is in `src`. */
export function startWorker(path: string, options?: WorkerOptions): Worker {
  return new Worker(new URL(Bun.isStandaloneExecutable ? path : `../${path}`, import.meta.url).href, options);
}

function hasThrown<Output>(answer: ThreadAnswer<Output>): answer is { thrown: ThrownError } {
  return typeof answer === "object" && answer !== null && "thrown" in answer;
}

function errorFrom({ code, message, hint }: ThrownError): Error {
  return code === undefined ? new Error(message) : new ClaudikinsError(code, message, { hint });
}

function thrownBy(error: unknown): ThrownError {
  if (error instanceof ClaudikinsError) return { code: error.code, message: error.message, hint: error.hint };
  return { message: messageOf(error) };
}

/**
 * Runs in the worker: answers every message with what `work` returns or throws. An output must not have a property
 * `thrown`. `moved` are the buffers of an output that are moved instead of copied.
 */
export function answerJobs<Input, Output>(
  self: Worker,
  work: (input: Input) => Output | Promise<Output>,
  moved: (output: Output) => ArrayBuffer[] = () => [],
): void {
  let collecting: Timer | undefined;
  self.onmessage = async ({ data }: MessageEvent<Input>) => {
    clearTimeout(collecting);
    // An idle worker does not collect garbage by itself, and a job may leave hundreds of megabytes.
    collecting = setTimeout(() => Bun.gc(true), workerCollectAfterMs);
    try {
      const output = await work(data);
      self.postMessage(output satisfies ThreadAnswer<Output>, moved(output));
    } catch (error) {
      self.postMessage({ thrown: thrownBy(error) } satisfies ThreadAnswer<Output>);
    }
  };
}
