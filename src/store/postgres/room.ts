/**
 * The room that stored programs may take together. The database counts their bytes as they change, in the transaction that changes them: adding
 * them up would read half a million rows every few seconds. Triggers do it, so that processes of an earlier version are counted too.
 */
import { storeIsFull } from "../execution-table.ts";
import type { Connections } from "./connections.ts";
import type { Querying } from "./querying.ts";

/** Time for which the size of the stored pages is remembered. */
export const roomKnownMs = 3_000;

/** Parts of the count. Each connection changes one of them, so that transactions do not wait for each other. */
const countParts = 1_024;

/** The bytes of a row that count. Sizes of values are known without reading them. */
const counted: Record<string, string> = {
  pages: "octet_length(bytes)",
  calls: "octet_length(message) + coalesce(octet_length(message_text), 0) + coalesce(octet_length(answer_text), 0)",
  object_pages: "size",
  executions: "octet_length(request) + coalesce(octet_length(outcome), 0) + coalesce(octet_length(value), 0)",
};

/** The rows that each statement changes, as a trigger sees them. */
const events = {
  insert: { rows: "NEW TABLE AS added", has: ["added"] },
  update: { rows: "NEW TABLE AS added OLD TABLE AS removed", has: ["added", "removed"] },
  delete: { rows: "OLD TABLE AS removed", has: ["removed"] },
};

function triggerOf(table: string, event: keyof typeof events): string {
  const { rows, has } = events[event];
  const sum = (from: string) => `coalesce((SELECT sum(${counted[table]}) FROM ${from}), 0)`;
  const [added, removed] = ["added", "removed"].map((from) => (has.includes(from) ? sum(from) : "0"));
  return `
CREATE FUNCTION claudikins.count_${table}_${event}() RETURNS TRIGGER LANGUAGE plpgsql AS $$
DECLARE change DOUBLE PRECISION := ${added} - ${removed};
BEGIN
  IF change <> 0 THEN
    UPDATE claudikins.stored_bytes SET bytes = bytes + change WHERE part = pg_backend_pid() % ${countParts};
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER bytes_of_${event} AFTER ${event.toUpperCase()} ON claudikins.${table}
  REFERENCING ${rows} FOR EACH STATEMENT EXECUTE FUNCTION claudikins.count_${table}_${event}();`;
}

function triggersOf(table: string): string {
  return (["insert", "update", "delete"] as const).map((event) => triggerOf(table, event)).join("");
}

/** The triggers of a table that databases get later. It is empty then. */
export const objectPagesCounting = triggersOf("object_pages");

const tables = ["pages", "calls", "executions"];

const sumOf = (table: string) => `(SELECT coalesce(sum(${counted[table]}), 0) FROM claudikins.${table})`;

/** Nobody writes between the first sum and the first trigger. */
const counting = `
LOCK TABLE ${tables.map((table) => `claudikins.${table}`).join(", ")} IN SHARE ROW EXCLUSIVE MODE;
-- The bytes that stored programs have: the sum of all parts. Each part alone means nothing.
CREATE TABLE claudikins.stored_bytes (
  part INTEGER PRIMARY KEY,
  bytes DOUBLE PRECISION NOT NULL
) WITH (fillfactor = 25);
INSERT INTO claudikins.stored_bytes SELECT part, 0 FROM generate_series(0, ${countParts - 1}) AS part;
UPDATE claudikins.stored_bytes SET bytes = ${tables.map(sumOf).join(" + ")} WHERE part = 0;
${tables.map(triggersOf).join("")}`;

/** Whether the database counts the bytes. A schema of an earlier version does not. */
export async function isCounted(querying: Querying): Promise<boolean> {
  const found = await querying.get(
    `SELECT 1 AS one FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
     WHERE nspname = 'claudikins' AND relname = 'stored_bytes'`,
  );
  return found !== undefined;
}

/** Begins to count the bytes. Call this in a transaction. */
export async function beginCounting(querying: Querying): Promise<void> {
  await querying.script(counting);
}

/** Reads how many bytes stored programs have. */
export const storedSize = "SELECT coalesce(sum(bytes), 0) AS bytes FROM claudikins.stored_bytes";

export class Room {
  readonly #connections: Connections;
  #bytes = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  /** Throws FILE_NOT_WRITABLE if as much is stored, and otherwise expects `bytes` more. */
  async require(roomBytes: number, bytes: number): Promise<void> {
    if (!(await this.has(roomBytes, bytes))) throw storeIsFull(roomBytes);
  }

  /** What others have written lately may be missing. Looks again before it says no. */
  async has(roomBytes: number, bytes: number): Promise<boolean> {
    const isOld = performance.now() > this.#lookedAt + roomKnownMs;
    if (isOld || this.#bytes >= roomBytes) await this.#look();
    if (this.#bytes >= roomBytes) return false;
    this.#bytes += bytes;
    return true;
  }

  async #look(): Promise<void> {
    const row = await this.#connections.each((querying) => querying.get<{ bytes: number }>(storedSize));
    this.#bytes = row?.bytes ?? 0;
    this.#lookedAt = performance.now();
  }
}
