/** The counts of the ledger: one row for each write, and sums of older ones by day, month or year. */
import { all, type Database, first, lock, run, type Work } from "./work.ts";

export interface CountRow {
  /** Seconds since 1970, of a write. */
  at: number | null;
  /** `2026-11-21`, `2026-08` or `2024`, of a sum. */
  period: string | null;
  /** JSON. */
  json: string;
}

interface SummingUp {
  /** Number of writes. If there are more, everything is summed up. */
  above: number;
  /** Returns the rows that replace all rows. It is pure. */
  sumUp: (rows: CountRow[]) => CountRow[];
}

export interface CountRows {
  /** Adds a row, and sums up all rows in the same transaction if there are many writes. */
  add(row: CountRow, summingUp?: SummingUp): Promise<void>;
  /** In the order in which they were added. */
  all(): Promise<CountRow[]>;
  /** Creates nothing only to be empty. */
  removeAll(): Promise<void>;
}

export function countRows(database: Database): CountRows {
  const rows = () => all<CountRow>("SELECT at, period, json FROM claudikins.counts ORDER BY place");
  return {
    all: () => database.read(rows),
    add: (row, summingUp) =>
      database.write(function* () {
        const isFull = summingUp !== undefined && (yield* writes()) >= summingUp.above;
        // Others who add rows wait, so that none is missing in the sums. The lock comes first: two that have added could not both get it.
        if (isFull) yield* lock("counts");
        yield* insert([row]);
        // Another process may have summed up meanwhile.
        if (!isFull || (yield* writes()) <= summingUp.above) return;
        const sums = summingUp.sumUp(yield* rows());
        yield* run("DELETE FROM claudikins.counts");
        yield* insert(sums);
      }),
    async removeAll() {
      if ((await database.read(rows)).length > 0) await database.write(() => run("DELETE FROM claudikins.counts"));
    },
  };
}

/** The number of rows that belong to no sum. */
function* writes(): Work<number> {
  const count = "SELECT CAST(count(*) AS INTEGER) AS count FROM claudikins.counts WHERE period IS NULL";
  return (yield* first<{ count: number }>(count))?.count ?? 0;
}

function insert(rows: readonly CountRow[]): Work<number> {
  return run(
    `INSERT INTO claudikins.counts (at, period, json)
     SELECT CAST(value->>'at' AS DOUBLE PRECISION), value->>'period', value->>'json' FROM each($rows)`,
    { rows },
  );
}
