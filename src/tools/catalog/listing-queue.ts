/** Limits how many servers are asked for their tools concurrently: a thousand servers are never a thousand processes. */
import { availableParallelism } from "node:os";
import { Semaphore } from "../../base/semaphore.ts";
import { listedPerCore, listingTurnMs, minListedAtOnce, slowListingFactor } from "../limits.ts";

/** Servers that are asked concurrently. Starting programs mostly wait: for a download, for an answer. */
export const listedAtOnce = Math.max(minListedAtOnce, listedPerCore * availableParallelism());

export class ListingQueue implements Disposable {
  readonly #list: (server: string) => Promise<void>;
  readonly #begin = new Semaphore(listedAtOnce);
  readonly #all = new Semaphore(slowListingFactor * listedAtOnce);
  readonly #running = new Map<string, { since: number; answer: Promise<void> }>();

  constructor(list: (server: string) => Promise<void>) {
    this.#list = list;
  }

  /** Servers that are being asked or wait for it. */
  get size(): number {
    return this.#running.size;
  }

  /** How long the server has been asked or has waited for it, in milliseconds; 0 if it is not in the queue. */
  waitedMs(server: string): number {
    const running = this.#running.get(server);
    return running ? performance.now() - running.since : 0;
  }

  /** Resolves when the server has answered, and rejects with what it failed with. Concurrent callers share one request. */
  add(server: string): Promise<void> {
    let running = this.#running.get(server);
    if (!running) {
      const answer = this.#inTurn(server).finally(() => this.#running.delete(server));
      running = { since: performance.now(), answer };
      this.#running.set(server, running);
    }
    return running.answer;
  }

  /** Servers that still wait are not asked. */
  [Symbol.dispose](): void {
    this.#begin.close();
    this.#all.close();
  }

  async #inTurn(server: string): Promise<void> {
    if ((await this.#all.acquire(undefined)) === false) return;
    try {
      if ((await this.#begin.acquire(undefined)) !== false) await this.#askFor(server);
    } finally {
      this.#all.release();
    }
  }

  async #askFor(server: string): Promise<void> {
    const answer = this.#list(server);
    const late = new Promise<void>((resolve) => setTimeout(resolve, listingTurnMs).unref());
    void Promise.race([answer, late])
      .catch(() => {})
      .then(() => this.#begin.release());
    await answer;
  }
}
