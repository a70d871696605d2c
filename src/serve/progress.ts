/**
 * Sends `notifications/progress` for one call. The notifications stay in order, are limited in rate, include the last one, and end
 * before the answer.
 */

import { progressGapMs } from "./limits.ts";

export class ProgressReporter {
  readonly #send: (progress: number, message: string) => void;
  #count = 0;
  #message = "";
  #sent = 0;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ended = false;

  constructor(send: (progress: number, message: string) => void) {
    this.#send = send;
  }

  /** Reports one more step. If steps come too fast, only the last one is sent, with the number of all. */
  report(message: string): void {
    if (this.#ended) return;
    this.#count += 1;
    this.#message = message;
    const restMs = this.#sentAt + progressGapMs - performance.now();
    if (restMs <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), restMs);
  }

  /** Call this before the answer is sent. */
  end(): void {
    if (this.#count > this.#sent) this.#flush();
    clearTimeout(this.#timer);
    this.#ended = true;
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#sent = this.#count;
    this.#sentAt = performance.now();
    this.#send(this.#count, this.#message);
  }
}
