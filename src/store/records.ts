/** The records of executions that have ended: a summary for lists, and the rest. */
import { all, type Database, first, run, type Work } from "./work.ts";

export interface StoredRecord {
  /** Ids sort by time. */
  id: string;
  /** Milliseconds since 1970. */
  at: number;
  /** JSON. */
  summary: string;
  /** JSON. */
  rest: string;
}

/** Limits of what is kept. Each write removes the rest. */
export interface Keeping {
  count: number;
  ageMs: number;
  /** Bytes of all records as UTF-8. The newest record is always kept. */
  bytes: number;
}

export interface RecordRows {
  /**
   * Adds records, and then removes the oldest until the rest is within the limits. Processes that add at the same moment do not wait for each
   * other, so that too many may stay until the next write. A record that was written before stays as it is. `now` is in milliseconds since 1970.
   */
  add(records: readonly StoredRecord[], kept: Keeping, now: number): Promise<void>;
  /** The ids and summaries, newest first. */
  summaries(): Promise<Pick<StoredRecord, "id" | "summary">[]>;
  get(id: string): Promise<StoredRecord | undefined>;
  remove(ids: readonly string[]): Promise<void>;
}

export function recordRows(database: Database): RecordRows {
  return {
    add: (records, kept, now) =>
      database.write(function* () {
        for (const { id, at, summary, rest } of records) {
          yield* run(
            `INSERT INTO claudikins.records (id, at, bytes, summary, rest) VALUES ($id, $at, $bytes, $summary, $rest)
             ON CONFLICT DO NOTHING`,
            { id, at, bytes: Buffer.byteLength(summary) + Buffer.byteLength(rest), summary, rest },
          );
        }
        yield* prune(now, kept);
      }),
    summaries: () => database.read(() => all("SELECT id, summary FROM claudikins.records ORDER BY id DESC")),
    get: (id) =>
      database.read(() => first("SELECT id, at, summary, rest FROM claudikins.records WHERE id = $id", { id })),
    async remove(ids) {
      const statement = "DELETE FROM claudikins.records WHERE id IN (SELECT value FROM texts($ids))";
      await database.write(() => run(statement, { ids }));
    },
  };
}

/** Removes what is more than is kept, except what others are removing. Ids sort by time. */
function prune(now: number, { count, ageMs, bytes }: Keeping): Work<number> {
  return run(
    `DELETE FROM claudikins.records WHERE id IN (SELECT id FROM claudikins.records WHERE at < $before OR id IN (SELECT id FROM
       (SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
        FROM claudikins.records WINDOW newest AS (ORDER BY id DESC)) AS kept
     WHERE place > $count OR (total > $bytes AND place > 1)) FOR UPDATE SKIP LOCKED)`,
    { before: now - ageMs, count, bytes },
  );
}
