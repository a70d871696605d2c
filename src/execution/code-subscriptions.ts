/** Subscriptions of one execution: its code asks for one update after the other, and all end with it. */
import type { Pool } from "../clients/pool.ts";
import { ClaudikinsError } from "../errors.ts";

/** Of one execution. */
const maxOpen = 100;

/** Addresses below a subscribed one that may wait to be asked for; of one address it is enough to know that it changed. */
const maxWaiting = 1_000;

interface Open {
  changed: Set<string>;
  /** Resolves when something has changed, or nothing more will; then there is another one. */
  waiting: PromiseWithResolvers<void>;
  end: () => void;
}

export class CodeSubscriptions {
  readonly #pool: Pool;
  readonly #open = new Map<number, Open>();
  #lastId = 0;

  constructor(pool: Pool) {
    this.#pool = pool;
  }

  /** The id to ask for its updates with. `signal` is that of the execution: when it is aborted, the subscription ends. */
  async subscribe(server: string, uri: string, signal: AbortSignal): Promise<{ id: number }> {
    if (this.#open.size >= maxOpen) {
      throw new ClaudikinsError("INVALID_ARGUMENTS", `${server} already has ${maxOpen} open subscriptions`, {
        hint: "Close one: leave its loop, or call its return().",
      });
    }
    this.#lastId += 1;
    const id = this.#lastId;
    const open: Open = { changed: new Set(), waiting: Promise.withResolvers(), end: () => {} };
    this.#open.set(id, open);
    const listener = (updated: string) => {
      if (open.changed.size < maxWaiting) open.changed.add(updated);
      wake(open);
    };
    try {
      open.end = await this.#pool.subscribe(server, uri, listener, { signal });
    } catch (error) {
      this.#open.delete(id);
      throw error;
    }
    signal.addEventListener("abort", () => this.unsubscribe(id), { once: true });
    if (signal.aborted) this.unsubscribe(id);
    return { id };
  }

  /** The next update, as soon as there is one. */
  async next(id: number): Promise<{ done: boolean; value?: { uri: string } }> {
    for (let open = this.#open.get(id); open; open = this.#open.get(id)) {
      const [uri] = open.changed;
      if (uri !== undefined) {
        open.changed.delete(uri);
        return { done: false, value: { uri } };
      }
      await open.waiting.promise;
    }
    return { done: true };
  }

  unsubscribe(id: number): void {
    const open = this.#open.get(id);
    if (!open) return;
    this.#open.delete(id);
    open.end();
    wake(open);
  }
}

function wake(open: Open): void {
  open.waiting.resolve();
  open.waiting = Promise.withResolvers();
}
