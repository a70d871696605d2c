/** Resource subscriptions of one execution. The code asks for one update after another, and all subscriptions end with it. */
import type { Pool } from "../clients/pool.ts";
import { ClaudikinsError } from "../errors.ts";

/** Maximum number of open subscriptions of one execution. */
const maxOpen = 100;

/** Maximum number of changed resources that wait to be asked for. Several changes of one resource count once. */
const maxWaiting = 1_000;

interface Open {
  changed: Set<string>;
  /** Resolves on the next change, and when the subscription ends. Then it is replaced. */
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

  /** Returns an id for `next`. The subscription ends when the execution's signal is aborted. */
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

  /** Waits for the next update. */
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
