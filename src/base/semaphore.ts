/** A fair semaphore: limits how many callers run concurrently. The others wait in the order of their calls. */
export class Semaphore {
  #free: number;
  readonly #waiting = new Set<(acquired: boolean) => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Undefined if the caller may run at once, otherwise a promise that resolves when it may run, or with false if `signal` ended
   * the wait. A caller that acquired the semaphore must release it.
   */
  acquire(signal: AbortSignal | undefined): Promise<boolean> | undefined {
    if (signal?.aborted) return Promise.resolve(false);
    if (this.#free <= 0) return this.#wait(signal);
    this.#free -= 1;
    return undefined;
  }

  async #wait(signal: AbortSignal | undefined): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const abort = () => {
      // A caller that acquired it in the same moment keeps it.
      if (this.#waiting.delete(resolve)) resolve(false);
    };
    this.#waiting.add(resolve);
    signal?.addEventListener("abort", abort, { once: true });
    const acquired = await promise;
    signal?.removeEventListener("abort", abort);
    return acquired;
  }

  /** Acquires it for a caller that must not wait. Until as many have released it, the others wait longer. */
  take(): void {
    this.#free -= 1;
  }

  release(): void {
    const [next] = this.#waiting;
    if (next === undefined || this.#free < 0) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next(true);
  }

  /** Ends every wait: the waiting callers get false. */
  close(): void {
    for (const resolve of this.#waiting) resolve(false);
    this.#waiting.clear();
  }
}
