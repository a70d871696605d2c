/** Counts of a Postgres: what a piece of work has written. */
import type { PostgresFixture } from "../../test/support/postgres.ts";

export interface DatabaseUse {
  /** Rows by table: those that were added, less those that were removed. */
  rows: Record<string, number>;
  /** Bytes of the rows, as Postgres stores them. */
  bytes: number;
  /** Bytes of the write-ahead log. */
  walBytes: number;
  /** Finished transactions, also those that only read. */
  transactions: number;
}

/** Postgres adds the transactions of a connection to its statistics when it is used again, and at last after this time. */
export const statisticsMs = 11_000;

/** Reads the counts of one database. Rows and bytes are those of all tables of claudikins. */
export async function databaseUse(server: PostgresFixture, url: string): Promise<DatabaseUse> {
  const [counts] = await server.run(
    url,
    `SELECT (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::text AS wal, (xact_commit + xact_rollback)::text AS transactions
     FROM pg_stat_database WHERE datname = current_database()`,
  );
  const tables = await server.run(
    url,
    `SELECT relname AS name FROM pg_class WHERE relnamespace = 'claudikins'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition`,
  );
  const parts = tables.map(
    ({ name }) =>
      `SELECT '${name}' AS name, count(*)::text AS rows, coalesce(sum(pg_column_size(each.*)), 0)::text AS bytes FROM claudikins."${name}" AS each`,
  );
  const sizes = parts.length === 0 ? [] : await server.run(url, parts.join(" UNION ALL "));
  return {
    rows: Object.fromEntries(sizes.map(({ name, rows }) => [name as string, Number(rows)])),
    bytes: sizes.reduce((sum, { bytes }) => sum + Number(bytes), 0),
    walBytes: Number(counts!["wal"]),
    transactions: Number(counts!["transactions"]),
  };
}

/** The difference of two counts, for one of `times` pieces of work. */
export function usedBetween(before: DatabaseUse, after: DatabaseUse, times: number): DatabaseUse {
  const rows = Object.entries(after.rows).map(([name, count]) => [name, (count - (before.rows[name] ?? 0)) / times]);
  return {
    rows: Object.fromEntries(rows.filter(([, count]) => count !== 0)),
    bytes: (after.bytes - before.bytes) / times,
    walBytes: (after.walBytes - before.walBytes) / times,
    transactions: (after.transactions - before.transactions) / times,
  };
}
