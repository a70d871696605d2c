/**
 * A fair queue. Owners get turns in rotation, the keys of an owner in rotation, and callers with one key in the order of their arrival. So
 * neither many callers nor many keys of one owner delay other owners. Written for Node 22 as well, which runs the generated bridge and has
 * no `getOrInsertComputed`.
 */
export class FairQueue<T> {
  /** By owner and by key, in the order in which these get their turns. */
  readonly #owners = new Map<string, Map<string, Set<T>>>();

  add(caller: T, key: string, owner: string): void {
    const keys = this.#owners.get(owner) ?? new Map<string, Set<T>>();
    const callers = keys.get(key) ?? new Set();
    this.#owners.set(owner, keys.set(key, callers.add(caller)));
  }

  /**
   * Adds the caller that `make` returns. Resolves with the value that `resolve` is called with, or with false if `signal` ends the wait. A
   * caller that was taken out just before keeps its turn.
   */
  async wait(
    make: (resolve: (acquired: boolean) => void) => T,
    signal: AbortSignal | undefined,
    key: string,
    owner: string,
  ): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const caller = make(resolve);
    const abort = () => {
      if (this.leave(caller, key, owner)) resolve(false);
    };
    this.add(caller, key, owner);
    signal?.addEventListener("abort", abort, { once: true });
    const acquired = await promise;
    signal?.removeEventListener("abort", abort);
    return acquired;
  }

  /** False if the caller is not in the queue. */
  leave(caller: T, key: string, owner: string): boolean {
    const keys = this.#owners.get(owner);
    const callers = keys?.get(key);
    if (!keys || !callers?.delete(caller)) return false;
    if (callers.size === 0) keys.delete(key);
    if (keys.size === 0) this.#owners.delete(owner);
    return true;
  }

  /** Takes out the next caller whose owner may have a turn. Undefined if there is none. */
  next(mayHave: (owner: string) => boolean = () => true): { caller: T; owner: string } | undefined {
    for (const [owner, keys] of this.#owners) {
      if (!mayHave(owner)) continue;
      const [key, callers] = keys.entries().next().value!;
      const [caller] = callers as Set<T> & [T];
      callers.delete(caller);
      // The next turns are another key's and another owner's.
      keys.delete(key);
      if (callers.size > 0) keys.set(key, callers);
      this.#owners.delete(owner);
      if (keys.size > 0) this.#owners.set(owner, keys);
      return { caller, owner };
    }
    return undefined;
  }

  /** The caller that `next` takes out if its owner may have a turn. */
  get first(): T | undefined {
    const keys: Map<string, Set<T>> | undefined = this.#owners.values().next().value;
    return keys?.values().next().value?.values().next().value;
  }

  get size(): number {
    return this.#all().reduce((sum, { size }) => sum + size, 0);
  }

  get isEmpty(): boolean {
    return this.#owners.size === 0;
  }

  /** Removes and returns all callers. */
  clear(): T[] {
    const all = this.#all().flatMap((callers) => [...callers]);
    this.#owners.clear();
    return all;
  }

  #all(): Set<T>[] {
    return [...this.#owners.values()].flatMap((keys) => [...keys.values()]);
  }
}
