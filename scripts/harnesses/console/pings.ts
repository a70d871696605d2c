/** Pings a process again and again, and says how long its main thread took to answer. */
import { threadTimes } from "./waits.ts";

/** Time between two pings, in milliseconds. */
const everyMs = 25;

export interface PingFigures {
  count: number;
  /** The slowest answer, in milliseconds, without the time for which the asked and the asking thread waited for a core. */
  slowestMs: number;
  /** The slowest answer with that time. */
  slowestWithWaitMs: number;
}

export class Pings implements AsyncDisposable {
  readonly #ping: () => Promise<unknown>;
  readonly #pid: number;
  readonly #ended: Promise<void>;
  #isEnding = false;
  figures: PingFigures = { count: 0, slowestMs: 0, slowestWithWaitMs: 0 };

  constructor(pid: number, ping: () => Promise<unknown>) {
    this.#pid = pid;
    this.#ping = ping;
    this.#ended = this.#work();
  }

  /** The figures since the last call. */
  take(): PingFigures {
    const { figures } = this;
    this.figures = { count: 0, slowestMs: 0, slowestWithWaitMs: 0 };
    return figures;
  }

  async #work(): Promise<void> {
    for (; !this.#isEnding; await Bun.sleep(everyMs)) {
      const [waited, begun] = [this.#waitedMs(), performance.now()];
      await this.#ping();
      const tookMs = performance.now() - begun;
      const ownMs = Math.max(0, tookMs - (this.#waitedMs() - waited));
      const { figures } = this;
      figures.count += 1;
      figures.slowestMs = Math.max(figures.slowestMs, ownMs);
      figures.slowestWithWaitMs = Math.max(figures.slowestWithWaitMs, tookMs);
    }
  }

  #waitedMs(): number {
    return threadTimes(this.#pid).waitedMs + threadTimes(process.pid).waitedMs;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnding = true;
    await this.#ended;
  }
}
