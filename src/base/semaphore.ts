/** A fair semaphore: limits how many callers run concurrently. The others wait in a fair queue. */
import { FairQueue } from "./fair-queue.ts";

/**
 * The share of the places that is reserved for owners that have none, so that a token or person need not wait for the work of others to
 * end.
 */
const reservedShare = 0.25;

export class Semaphore {
  /**
   * A semaphore whose owners do not wait for each other's callers to end, as long as the reserved part of the places has room. With
   * `mayTake`, a place is free only if this is true for the number of places that are taken.
   */
  static shared(count: number, mayTake?: (taken: number) => boolean): Semaphore {
    return new Semaphore(count, Math.floor(count * reservedShare), mayTake);
  }

  readonly #count: number;
  #free: number;
  /** The last free places, for owners that have none. */
  readonly #reserve: number;
  readonly #mayTake: ((taken: number) => boolean) | undefined;
  /** How many places each owner has. */
  readonly #held = new Map<string, number>();
  readonly #waiting = new FairQueue<(acquired: boolean) => void>();

  /** An owner that has a place does not get one of the last `reserve` places. Callers without an owner get all. */
  constructor(count: number, reserve = 0, mayTake?: (taken: number) => boolean) {
    this.#count = count;
    this.#free = count;
    this.#reserve = reserve;
    this.#mayTake = mayTake;
  }

  /**
   * Undefined if the caller may run at once, otherwise a promise that resolves when it may run, or with false if `signal` ended
   * the wait. A caller that acquired the semaphore must release it, for the same owner.
   */
  acquire(signal: AbortSignal | undefined, key = "", owner = ""): Promise<boolean> | undefined {
    if (signal?.aborted) return Promise.resolve(false);
    if (!this.#hasRoomFor(owner)) return this.#waiting.wait((resolve) => resolve, signal, key, owner);
    this.take(owner);
    return undefined;
  }

  #hasRoomFor(owner: string): boolean {
    const kept = owner !== "" && this.#held.has(owner) ? this.#reserve : 0;
    return this.#free > kept && this.#mayTake?.(this.#count - this.#free) !== false;
  }

  /** Acquires it for a caller that must not wait, even beyond the count. Other callers then wait longer. */
  take(owner = ""): void {
    this.#free -= 1;
    this.#held.set(owner, (this.#held.get(owner) ?? 0) + 1);
  }

  release(owner = ""): void {
    this.#free += 1;
    const held = (this.#held.get(owner) ?? 0) - 1;
    if (held > 0) this.#held.set(owner, held);
    else this.#held.delete(owner);
    if (!this.#waiting.isEmpty) this.serve();
  }

  /** Lets those in who wait and may run now. Call this if `mayTake` may have changed its answer without a release. */
  serve(): void {
    while (this.#free > 0) {
      const next = this.#waiting.next((each) => this.#hasRoomFor(each));
      if (!next) return;
      this.take(next.owner);
      next.caller(true);
    }
  }

  /** Number of callers that wait. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Ends every wait: the waiting callers get false. */
  close(): void {
    for (const resolve of this.#waiting.clear()) resolve(false);
  }
}
