/** Notices when nothing has run for a minute. That is the time to give memory back. */

import { idleAfterMs } from "./limits.ts";

export class IdleTimer implements Disposable {
  readonly #atRest: () => void;
  readonly #afterMs: number;
  #running = 0;
  #timer: NodeJS.Timeout | undefined;
  #isEnded = false;

  /** `atRest` is called once for each rest. The timer starts with the first work, or with `restart`. */
  constructor(atRest: () => void, afterMs = idleAfterMs) {
    this.#atRest = atRest;
    this.#afterMs = afterMs;
  }

  /** Marks that something runs, until the result is disposed of. */
  running(): Disposable {
    this.#running += 1;
    clearTimeout(this.#timer);
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

  /** Starts the whole time again. */
  restart(): void {
    clearTimeout(this.#timer);
    if (this.isRunning || this.#isEnded) return;
    this.#timer = setTimeout(this.#atRest, this.#afterMs).unref();
  }

  [Symbol.dispose](): void {
    this.#isEnded = true;
    clearTimeout(this.#timer);
  }
}
