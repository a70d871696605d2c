/** Passes on values in the order in which they were added, although some of them are promises. */
export class InOrder<T> {
  readonly #hand: (value: T) => void;
  #last: Promise<void> | undefined;

  constructor(hand: (value: T) => void) {
    this.#hand = hand;
  }

  /** Passes on a value at once if nothing before it is pending. */
  add(value: T | Promise<T>): void {
    if (this.#last === undefined && !(value instanceof Promise)) {
      this.#hand(value);
      return;
    }
    const last = (this.#last ?? Promise.resolve()).then(async () => {
      this.#hand(await value);
      if (this.#last === last) this.#last = undefined;
    });
    this.#last = last;
  }
}
