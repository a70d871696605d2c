/** Limits how many run at once. Others wait in the order in which they came, and may give up waiting. */
export class Turns {
  #free: number;
  readonly #waiting = new Set<(mine: boolean) => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Undefined when it is one's turn at once, else a promise of it; false when the wait was broken off. To be given back. */
  take(signal: AbortSignal | undefined): Promise<boolean> | undefined {
    if (signal?.aborted) return Promise.resolve(false);
    if (this.#free === 0) return this.#wait(signal);
    this.#free -= 1;
    return undefined;
  }

  async #wait(signal: AbortSignal | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const abort = () => {
      // Whose turn has come in the same moment has it.
      if (this.#waiting.delete(resolve)) resolve(false);
    };
    this.#waiting.add(resolve);
    signal?.addEventListener("abort", abort, { once: true });
    const mine = await promise;
    signal?.removeEventListener("abort", abort);
    return mine;
  }

  giveBack(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next(true);
  }

  /** Nobody's turn comes any more. */
  end(): void {
    for (const resolve of this.#waiting) resolve(false);
    this.#waiting.clear();
  }
}

let lastTurn: Promise<void> = Promise.resolve();

/** Resolves in a turn of the event loop that no other caller has, so that much work at once lets everything else in between. */
export function eventLoopTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => new Promise<void>((resolve) => void setImmediate(resolve)));
  return lastTurn;
}
