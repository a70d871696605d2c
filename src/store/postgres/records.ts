/** The records of executions that have ended, as rows. */
import type { Keeping, RecordRows, StoredRecord } from "../records.ts";
import type { Connections } from "./connections.ts";
import { jsonOf, type Querying } from "./querying.ts";

export class PostgresRecords implements RecordRows {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async add(records: readonly StoredRecord[], kept: Keeping, now: number): Promise<void> {
    await this.#connections.transaction(async (querying) => {
      // Two that add at once would not see each other's records, and would keep too many.
      await querying.run("LOCK TABLE claudikins.records IN SHARE ROW EXCLUSIVE MODE");
      for (const { id, at, summary, rest } of records) {
        const bytes = Buffer.byteLength(summary) + Buffer.byteLength(rest);
        await querying.run(
          `INSERT INTO claudikins.records (id, at, bytes, summary, rest) VALUES ($id, $at, $bytes, $summary, $rest)
           ON CONFLICT DO NOTHING`,
          { id, at, bytes, summary, rest },
        );
      }
      await prune(querying, now, kept);
    });
  }

  summaries(): Promise<Pick<StoredRecord, "id" | "summary">[]> {
    return this.#connections.each((querying) =>
      querying.all("SELECT id, summary FROM claudikins.records ORDER BY id DESC"),
    );
  }

  get(id: string): Promise<StoredRecord | undefined> {
    return this.#connections.each((querying) =>
      querying.get("SELECT id, at, summary, rest FROM claudikins.records WHERE id = $id", { id }),
    );
  }

  async remove(ids: readonly string[]): Promise<void> {
    await this.#connections.each((querying) =>
      querying.run("DELETE FROM claudikins.records WHERE id IN (SELECT json_array_elements_text($ids::text::json))", {
        ids: jsonOf(ids),
      }),
    );
  }
}

/** Removes what is more than is kept. Ids sort by time. */
async function prune(querying: Querying, now: number, { count, ageMs, bytes }: Keeping): Promise<void> {
  await querying.run(
    `DELETE FROM claudikins.records WHERE at < $before OR id IN (SELECT id FROM
       (SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
        FROM claudikins.records WINDOW newest AS (ORDER BY id DESC)) AS kept
     WHERE place > $count OR (total > $bytes AND place > 1))`,
    { before: now - ageMs, count, bytes },
  );
}
