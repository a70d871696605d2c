/** Tells all processes that something has changed for which others wait: approvals, executions, people. */
import { changeLookMs, changeToldMs } from "../limits.ts";
import type { Connections } from "./connections.ts";
import type { Querying } from "./querying.ts";

const channel = "claudikins";

/** Tells of a change when the transaction is committed. For changes that people make: Postgres commits such transactions one by one. */
export async function tellOnCommit(querying: Querying): Promise<void> {
  await querying.run(`SELECT pg_notify('${channel}', '')`);
}

export class Changes {
  readonly #connections: Connections;
  readonly #listeners = new Set<() => void>();
  #listening: Promise<Bun.SQL> | undefined;
  #looking: NodeJS.Timeout | undefined;
  #telling: Promise<void> | undefined;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Tells of changes that are committed already, once for all changes of a moment. */
  tellSoon(): void {
    this.#telling ??= this.#tell();
  }

  async #tell(): Promise<void> {
    await Bun.sleep(changeToldMs);
    this.#telling = undefined;
    // Listeners look from time to time anyway.
    await this.#connections.each(tellOnCommit).catch(() => {});
  }

  /** Calls the listener after changes, after the connection was lost, and now and then. Returns a function that ends this. */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#looking ??= setInterval(() => this.#told(), changeLookMs).unref();
    this.#listening ??= this.#open();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) void this.#close();
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#listeners.clear();
    await Promise.all([this.#close(), this.#telling]);
  }

  /** Bun connects again if the connection is lost, and then calls the second function again. */
  async #open(): Promise<Bun.SQL> {
    const sql = this.#connections.listening();
    const told = () => this.#told();
    for (;;) {
      try {
        await sql.listen(channel, told, told);
        return sql;
      } catch {
        // Until the database can be reached, nothing changes.
        await Bun.sleep(changeLookMs);
        if (this.#listeners.size === 0) return sql;
      }
    }
  }

  async #close(): Promise<void> {
    clearInterval(this.#looking);
    this.#looking = undefined;
    const listening = this.#listening;
    this.#listening = undefined;
    await (await listening)?.close({ timeout: 0 }).catch(() => {});
  }

  #told(): void {
    for (const listener of [...this.#listeners]) listener();
  }
}
