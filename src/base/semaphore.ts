/**
 * A fair semaphore: limits how many callers run concurrently. The others wait: callers with one key in the order of their calls, and keys in
 * turn, so that many callers with one key do not keep others waiting.
 */
export class Semaphore {
  #free: number;
  /** By key, in the order in which the keys get their turns. */
  readonly #waiting = new Map<string, Set<(acquired: boolean) => void>>();

  constructor(count: number) {
    this.#free = count;
  }

  /**
   * Undefined if the caller may run at once, otherwise a promise that resolves when it may run, or with false if `signal` ended
   * the wait. A caller that acquired the semaphore must release it.
   */
  acquire(signal: AbortSignal | undefined, key = ""): Promise<boolean> | undefined {
    if (signal?.aborted) return Promise.resolve(false);
    if (this.#free <= 0) return this.#wait(signal, key);
    this.#free -= 1;
    return undefined;
  }

  async #wait(signal: AbortSignal | undefined, key: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const abort = () => {
      // A caller that acquired it in the same moment keeps it.
      if (this.#leave(key, resolve)) resolve(false);
    };
    const queue = this.#waiting.get(key) ?? new Set();
    this.#waiting.set(key, queue.add(resolve));
    signal?.addEventListener("abort", abort, { once: true });
    const acquired = await promise;
    signal?.removeEventListener("abort", abort);
    return acquired;
  }

  #leave(key: string, resolve: (acquired: boolean) => void): boolean {
    const queue = this.#waiting.get(key);
    if (!queue?.delete(resolve)) return false;
    if (queue.size === 0) this.#waiting.delete(key);
    return true;
  }

  /** Acquires it for a caller that must not wait. Until as many have released it, the others wait longer. */
  take(): void {
    this.#free -= 1;
  }

  release(): void {
    const [turn] = this.#waiting;
    if (turn === undefined || this.#free < 0) {
      this.#free += 1;
      return;
    }
    const [key, queue] = turn;
    const [next] = queue;
    queue.delete(next!);
    // The next turn is another key's.
    this.#waiting.delete(key);
    if (queue.size > 0) this.#waiting.set(key, queue);
    next!(true);
  }

  /** Number of callers that wait. */
  get waiting(): number {
    return this.#waiting.values().reduce((sum, { size }) => sum + size, 0);
  }

  /** Ends every wait: the waiting callers get false. */
  close(): void {
    const queues = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const queue of queues) for (const resolve of queue) resolve(false);
  }
}
