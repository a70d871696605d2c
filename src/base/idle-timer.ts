/** Notices when nothing has run for a minute, so that memory can be given back. */

/**
 * Time without calls after which memory is given back. Agents make their calls seconds apart. After a longer pause, a cold start is hardly
 * noticed.
 */
const idleAfterMs = 60_000;

export class IdleTimer implements Disposable {
  readonly #atRest: () => void;
  readonly #afterMs: number;
  #running = 0;
  /** When the idle time began, by `performance.now()`. */
  #since = 0;
  /** The timer is not set again with each `restart`, because that would cost a daemon 8 µs for each call. */
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  /** `atRest` is called once for each idle period. The timer starts with the first work, or with `restart`. */
  constructor(atRest: () => void, afterMs = idleAfterMs) {
    this.#atRest = atRest;
    this.#afterMs = afterMs;
  }

  /** Marks that something runs, until the result is disposed of. */
  running(): Disposable {
    this.#running += 1;
    return {
      [Symbol.dispose]: () => {
        this.#running -= 1;
        this.restart();
      },
    };
  }

  /** Whether something runs now. */
  get isRunning(): boolean {
    return this.#running > 0;
  }

  /** Starts the idle time again from zero. */
  restart(): void {
    if (this.isRunning || this.#isEnded) return;
    this.#since = performance.now();
    this.#timer ??= setTimeout(this.#look, this.#afterMs).unref();
  }

  readonly #look = (): void => {
    this.#timer = undefined;
    if (this.isRunning || this.#isEnded) return;
    const restMs = this.#since + this.#afterMs - performance.now();
    if (restMs > 0) this.#timer = setTimeout(this.#look, restMs).unref();
    else this.#atRest();
  };

  [Symbol.dispose](): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }
}
