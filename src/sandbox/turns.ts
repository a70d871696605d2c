/** So many at once and no more; the others wait in the order in which they came. */
export class Turns {
  #free: number;
  readonly #waiting: ((mine: boolean) => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  /** True when it is one's turn, which is to be given back; false when the wait was broken off. */
  async take(signal: AbortSignal | undefined): Promise<boolean> {
    if (signal?.aborted) return false;
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const abort = () => {
      this.#waiting.splice(this.#waiting.indexOf(resolve), 1);
      resolve(false);
    };
    this.#waiting.push(resolve);
    signal?.addEventListener("abort", abort, { once: true });
    const mine = await promise;
    signal?.removeEventListener("abort", abort);
    return mine;
  }

  giveBack(): void {
    const next = this.#waiting.shift();
    if (next) next(true);
    else this.#free += 1;
  }

  /** Nobody's turn comes any more. */
  end(): void {
    for (const resolve of this.#waiting.splice(0)) resolve(false);
  }
}
