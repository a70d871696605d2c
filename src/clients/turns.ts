/** How many may work at once; more wait, in the order in which they came, and may give up waiting. */
import { unlessAborted } from "./unless-aborted.ts";

export class Turns {
  #free: number;
  readonly #waiting = new Set<() => void>();

  constructor(count: number) {
    this.#free = count;
  }

  /** Undefined when it is one's turn at once, else a promise of it; `give` ends it. Throws CANCELLED when aborted before. */
  take(what: string, signal: AbortSignal | undefined): Promise<void> | undefined {
    if (this.#free === 0) return this.#wait(what, signal);
    this.#free -= 1;
    return undefined;
  }

  async #wait(what: string, signal: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#waiting.add(resolve);
    try {
      await unlessAborted(promise, signal, what);
    } catch (error) {
      // The turn may have come in the same moment.
      if (!this.#waiting.delete(resolve)) this.give();
      throw error;
    }
  }

  give(): void {
    const [next] = this.#waiting;
    if (!next) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
