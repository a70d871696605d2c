/** Measures how long this thread was blocked at most: the longest time between two turns of its event loop. */
export class LongestTurn implements Disposable {
  #longest = 0;
  #last = performance.now();
  readonly #timer: NodeJS.Timeout;

  constructor() {
    this.#timer = setInterval(() => this.#look(), 1);
  }

  get ms(): number {
    this.#look();
    return this.#longest;
  }

  #look(): void {
    const now = performance.now();
    this.#longest = Math.max(this.#longest, now - this.#last);
    this.#last = now;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
