/** A lock for documents, which one process of a team has. It holds as long as the process renews it. */
import type { DocumentLock } from "../../base/documents.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { lockWaitMs } from "../../base/limits.ts";
import { documentLockMs, documentLockRenewedMs } from "../limits.ts";
import type { Connections } from "./connections.ts";
import type { Querying } from "./querying.ts";

/** Only the clock of the database counts. */
const expiry = `clock_timestamp() + interval '${documentLockMs} milliseconds'`;

export class HeldLock implements AsyncDisposable {
  readonly #connections: Connections;
  readonly #key: { name: string; holder: string };
  readonly #what: string;
  readonly #timer: NodeJS.Timeout;

  private constructor(connections: Connections, key: { name: string; holder: string }, what: string) {
    this.#connections = connections;
    this.#key = key;
    this.#what = what;
    // A renewal that fails is made up for by the next one.
    this.#timer = setInterval(() => void this.#renew().catch(() => {}), documentLockRenewedMs).unref();
  }

  /** Waits until the lock of that name is free. Throws CALL_TIMEOUT and DATABASE_UNAVAILABLE. */
  static async take(
    name: string,
    { what, waitMs = lockWaitMs }: Pick<DocumentLock, "what" | "waitMs">,
    connections: Connections,
  ): Promise<HeldLock> {
    const key = { name, holder: crypto.randomUUID() };
    for (const deadline = performance.now() + waitMs; ; await Bun.sleep(20 + Math.random() * 30)) {
      const taken = await connections.each((querying) =>
        querying.run(
          `INSERT INTO claudikins.document_locks AS held (name, holder, expires_at) VALUES ($name, $holder, ${expiry})
           ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
           WHERE held.expires_at < clock_timestamp() OR held.holder = excluded.holder`,
          key,
        ),
      );
      if (taken > 0) return new HeldLock(connections, key, what);
      if (performance.now() > deadline) throw lost(what);
    }
  }

  /** Lets nobody else take the lock until the end of the transaction. Throws CALL_TIMEOUT if somebody has. */
  async confirm(querying: Querying): Promise<void> {
    const statement =
      "SELECT 1 AS one FROM claudikins.document_locks WHERE name = $name AND holder = $holder FOR UPDATE";
    if (!(await querying.get(statement, this.#key))) throw lost(this.#what);
  }

  async #renew(): Promise<void> {
    const statement = `UPDATE claudikins.document_locks SET expires_at = ${expiry} WHERE name = $name AND holder = $holder`;
    await this.#connections.each((querying) => querying.run(statement, this.#key));
  }

  /** Without the database, the lock ends by itself. */
  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    const statement = "DELETE FROM claudikins.document_locks WHERE name = $name AND holder = $holder";
    await this.#connections.each((querying) => querying.run(statement, this.#key)).catch(() => {});
  }
}

function lost(what: string): ClaudikinsError {
  return new ClaudikinsError("CALL_TIMEOUT", `Another claudikins has locked ${what} for too long`, {
    hint: "Try again, or stop the other one.",
  });
}
