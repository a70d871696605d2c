/** `notifications/progress` of one call of the host: in order, not too many, the last one always, and none after the answer. */

/** At most ten a second. */
const gapMs = 100;

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

  /** One more thing has happened. Of those that are too many for their time, the last one is told, and the number of all. */
  report(message: string): void {
    if (this.#ended) return;
    this.#count += 1;
    this.#message = message;
    const restMs = this.#sentAt + gapMs - performance.now();
    if (restMs <= 0) this.#flush();
    else this.#timer ??= setTimeout(() => this.#flush(), restMs);
  }

  /** To be called before the answer is given. */
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
