/** The records of executions that have ended, as rows: a summary for lists, and the rest. */
import type { Database } from "bun:sqlite";
import type { Keeping, RecordRows, StoredRecord } from "../records.ts";
import type { Access } from "./access.ts";

export class RecordTable {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** A record that was written before stays as it is. */
  add({ id, at, summary, rest }: StoredRecord): void {
    this.#database
      .query(
        `INSERT INTO records (id, at, bytes, summary, rest) VALUES ($id, $at, $bytes, $summary, $rest) ON CONFLICT DO NOTHING`,
      )
      .run({ id, at, bytes: Buffer.byteLength(summary) + Buffer.byteLength(rest), summary, rest });
  }

  /** Removes what is more than is kept. Ids sort by time. */
  prune(now: number, { count, ageMs, bytes }: Keeping): void {
    this.#database
      .query(
        `DELETE FROM records WHERE at < $before OR id IN (SELECT id FROM
           (SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
            FROM records WINDOW newest AS (ORDER BY id DESC))
         WHERE place > $count OR (total > $bytes AND place > 1))`,
      )
      .run({ before: now - ageMs, count, bytes });
  }

  /** The ids and summaries, newest first. */
  summaries(): Pick<StoredRecord, "id" | "summary">[] {
    return this.#database
      .query<Pick<StoredRecord, "id" | "summary">, []>("SELECT id, summary FROM records ORDER BY id DESC")
      .all();
  }

  get(id: string): StoredRecord | undefined {
    return (
      this.#database.query<StoredRecord, [string]>("SELECT id, at, summary, rest FROM records WHERE id = ?").get(id) ??
      undefined
    );
  }

  remove(id: string): void {
    this.#database.query("DELETE FROM records WHERE id = ?").run(id);
  }
}

export function recordRows(access: Access): RecordRows {
  return {
    add: (records, kept, now) =>
      access.write((database) => {
        const table = new RecordTable(database);
        for (const record of records) table.add(record);
        table.prune(now, kept);
      }),
    summaries: () => access.read([], (database) => new RecordTable(database).summaries()),
    get: (id) => access.read(undefined, (database) => new RecordTable(database).get(id)),
    remove: (ids) =>
      access.write((database) => {
        const table = new RecordTable(database);
        for (const id of ids) table.remove(id);
      }),
  };
}
