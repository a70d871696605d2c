/**
 * Statements that have just waited in vain for the lock of a table. Others of the same text are refused at once, so that they do not keep the
 * connections from work that needs other tables. One at a time finds out whether the lock is still there.
 */
import { waitedForNoRow, waitsInVain } from "./errors.ts";

/** Time for which all statements of a text are refused after one has waited in vain. */
const refusedMs = 1_000;

/** Time in which a statement finds out whether the lock is still there: longer than it waits. */
const triedMs = 6_000;

/** Locks with names of our own, each of which somebody else may hold. */
const namedLock = "pg_advisory";

export class BlockedStatements {
  /** By their texts: when the next one is let through. */
  readonly #nextAt = new Map<string, number>();

  /** Runs a statement, or throws what it would throw after its wait. */
  async run<T>(text: string, statement: () => PromiseLike<T>): Promise<T> {
    this.#require(text);
    try {
      const result = await statement();
      if (this.#nextAt.size > 0) this.#nextAt.delete(text);
      return result;
    } catch (error) {
      if (waitedForNoRow(error) && !text.includes(namedLock)) this.#nextAt.set(text, performance.now() + refusedMs);
      throw error;
    }
  }

  #require(text: string): void {
    const nextAt = this.#nextAt.get(text);
    if (nextAt === undefined) return;
    if (performance.now() < nextAt) throw waitsInVain();
    this.#nextAt.set(text, performance.now() + triedMs);
  }
}
