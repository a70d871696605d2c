/**
 * A fair semaphore: limits how many callers run concurrently. The others wait: callers with one key in the order of their calls, the keys of
 * an owner in turn, and owners in turn, so that neither many callers nor many keys of one owner keep others waiting.
 */

/** The part of places that is kept for owners that have none: a token or person does not wait until others' work ends. */
const reservedShare = 0.25;

export class Semaphore {
  /** A semaphore whose owners do not wait for each other's callers to end, as long as the reserved part of the places has room. */
  static shared(count: number, reserved = reservedShare): Semaphore {
    return new Semaphore(count, Math.floor(count * reserved));
  }

  #free: number;
  /** The last free places, for owners that have none. */
  readonly #reserve: number;
  /** How many places each owner has. */
  readonly #held = new Map<string, number>();
  /** By owner and by key, in the order in which these get their turns. */
  readonly #waiting = new Map<string, Map<string, Set<(acquired: boolean) => void>>>();

  /** An owner that has a place does not get one of the last `reserve` places. Callers without an owner get all. */
  constructor(count: number, reserve = 0) {
    this.#free = count;
    this.#reserve = reserve;
  }

  /**
   * Undefined if the caller may run at once, otherwise a promise that resolves when it may run, or with false if `signal` ended
   * the wait. A caller that acquired the semaphore must release it, for the same owner.
   */
  acquire(signal: AbortSignal | undefined, key = "", owner = ""): Promise<boolean> | undefined {
    if (signal?.aborted) return Promise.resolve(false);
    if (!this.#hasRoomFor(owner)) return this.#wait(signal, key, owner);
    this.take(owner);
    return undefined;
  }

  #hasRoomFor(owner: string): boolean {
    return this.#free > (owner !== "" && this.#held.has(owner) ? this.#reserve : 0);
  }

  async #wait(signal: AbortSignal | undefined, key: string, owner: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const abort = () => {
      // A caller that acquired it in the same moment keeps it.
      if (this.#leave(key, owner, resolve)) resolve(false);
    };
    this.#queue(owner, key).add(resolve);
    signal?.addEventListener("abort", abort, { once: true });
    const acquired = await promise;
    signal?.removeEventListener("abort", abort);
    return acquired;
  }

  /** Written for Node 22 as well, which runs the generated bridge and has no `getOrInsertComputed`. */
  #queue(owner: string, key: string): Set<(acquired: boolean) => void> {
    const keys = this.#waiting.get(owner) ?? new Map<string, Set<(acquired: boolean) => void>>();
    const queue = keys.get(key) ?? new Set();
    this.#waiting.set(owner, keys.set(key, queue));
    return queue;
  }

  #leave(key: string, owner: string, resolve: (acquired: boolean) => void): boolean {
    const keys = this.#waiting.get(owner);
    const queue = keys?.get(key);
    if (!keys || !queue?.delete(resolve)) return false;
    if (queue.size === 0) keys.delete(key);
    if (keys.size === 0) this.#waiting.delete(owner);
    return true;
  }

  /** Acquires it for a caller that must not wait. Until as many have released it, the others wait longer. */
  take(owner = ""): void {
    this.#free -= 1;
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
  }

  release(owner = ""): void {
    this.#free += 1;
    const held = (this.#held.get(owner) ?? 0) - 1;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
    while (this.#free > 0 && this.#letNextIn());
  }

  /** Lets the first caller in whose owner may have a place. */
  #letNextIn(): boolean {
    for (const [owner, keys] of this.#waiting) {
      if (!this.#hasRoomFor(owner)) continue;
      const [key, queue] = keys.entries().next().value!;
      const [next] = queue;
      queue.delete(next!);
      // The next turns are another key's and another owner's.
      keys.delete(key);
      if (queue.size > 0) keys.set(key, queue);
      this.#waiting.delete(owner);
      if (keys.size > 0) this.#waiting.set(owner, keys);
      this.take(owner);
      next!(true);
      return true;
    }
    return false;
  }

  /** Whether callers wait. */
  get isAwaited(): boolean {
    return this.#waiting.size > 0;
  }

  /** Number of callers that wait. */
  get waiting(): number {
    return this.#queues().reduce((sum, { size }) => sum + size, 0);
  }

  /** Ends every wait: the waiting callers get false. */
  close(): void {
    const queues = this.#queues();
    this.#waiting.clear();
    for (const queue of queues) for (const resolve of queue) resolve(false);
  }

  #queues(): Set<(acquired: boolean) => void>[] {
    return [...this.#waiting.values()].flatMap((keys) => [...keys.values()]);
  }
}
