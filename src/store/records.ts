/** The records of executions that have ended: a summary for lists, and the rest. */
import {
  type ActivityFacts,
  type ActivityFilter,
  type ActivityPage,
  type Facets,
  insertFacts,
  selectActivity,
  selectFacets,
  selectRuns,
} from "./activity.ts";
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

/** A record to add, with what it is selected by. */
export interface NewRecord extends StoredRecord {
  facts: ActivityFacts;
}

type ShortRecord = Pick<StoredRecord, "id" | "summary">;

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
  add(records: readonly NewRecord[], kept: Keeping, now: number): Promise<void>;
  /** The ids and summaries, newest first. */
  summaries(): Promise<ShortRecord[]>;
  /** Those that fit, in the order of the page. */
  activity(filter: ActivityFilter, page: ActivityPage): Promise<ShortRecord[]>;
  /** The newest runs of each saved program of the config, newest first: at most `count` of each. */
  runs(config: string | null, count: number): Promise<ShortRecord[]>;
  /** The agents and doors of the records of a config, or of one person of it. */
  facets(filter: Pick<ActivityFilter, "config" | "person">): Promise<Facets>;
  /** Those of the ids that have a record. */
  known(ids: readonly string[]): Promise<string[]>;
  get(id: string): Promise<StoredRecord | undefined>;
  remove(ids: readonly string[]): Promise<void>;
}

/** Records that were written before stay as they are. */
const insertion = `INSERT INTO claudikins.records (id, at, bytes, summary, rest)
  SELECT value->>'id', CAST(value->>'at' AS DOUBLE PRECISION), CAST(value->>'bytes' AS INTEGER), value->>'summary', value->>'rest'
  FROM each($records) WHERE TRUE ON CONFLICT DO NOTHING`;

export function recordRows(database: Database): RecordRows {
  return {
    add: (records, kept, now) =>
      database.write(function* () {
        const rows: object[] = [];
        const facts: object[] = [];
        for (const { id, at, summary, rest, facts: own } of records) {
          rows.push({ id, at, bytes: Buffer.byteLength(summary) + Buffer.byteLength(rest), summary, rest });
          facts.push({ id, at, ...own });
        }
        yield* run(insertion, { records: rows });
        yield* run(insertFacts, { facts });
        yield* prune(now, kept);
      }),
    summaries: () => database.read(() => all("SELECT id, summary FROM claudikins.records ORDER BY id DESC")),
    activity: (filter, page) => database.read(() => selectActivity(filter, page)),
    runs: (config, count) => database.read(() => selectRuns(config, count)),
    facets: (filter) => database.read(() => selectFacets(filter)),
    async known(ids) {
      const statement = "SELECT id FROM claudikins.records WHERE id IN (SELECT value FROM texts($ids))";
      const rows = await database.read(() => all<{ id: string }>(statement, { ids }));
      return rows.map(({ id }) => id);
    },
    get: (id) =>
      database.read(() => first("SELECT id, at, summary, rest FROM claudikins.records WHERE id = $id", { id })),
    async remove(ids) {
      const statement = "DELETE FROM claudikins.records WHERE id IN (SELECT value FROM texts($ids))";
      await database.write(() => run(statement, { ids }));
    },
  };
}

/** Removes what is more than is kept, except what others are removing. Ids sort by time. The sums are read from an index: 0.5 ms for 10,000. */
function* prune(now: number, { count, ageMs, bytes }: Keeping): Work<void> {
  const values = { before: now - ageMs, count, bytes };
  const more = yield* all(
    `SELECT 1 AS more FROM (SELECT count(*) AS kept, sum(bytes) AS bytes, min(at) AS oldest FROM claudikins.records) AS sums
     WHERE kept > $count OR bytes > $bytes OR oldest < $before`,
    values,
  );
  if (more.length === 0) return;
  yield* run(
    `DELETE FROM claudikins.records WHERE id IN (SELECT id FROM claudikins.records WHERE at < $before OR id IN (SELECT id FROM
       (SELECT id, row_number() OVER newest AS place, sum(bytes) OVER newest AS total
        FROM claudikins.records WINDOW newest AS (ORDER BY id DESC)) AS kept
     WHERE place > $count OR (total > $bytes AND place > 1)) FOR UPDATE SKIP LOCKED)`,
    values,
  );
}
