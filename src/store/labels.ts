/** The labels of what was read: for stored executions, for files, and for the clients of `serve --http`. */
import { all, type Database, first, run, type Work } from "./work.ts";

export interface StoredLabel {
  label: string;
  /** What the data came from, such as `github.get_issue`. */
  source: string;
}

/** The holder of the labels of an execution. They are removed with the execution. */
export function executionHolder(execution: string): string {
  return `execution ${execution}`;
}

/** The changes of one transaction, made in this order. */
export interface LabelChange {
  /** Holders that lose all their labels. */
  remove?: readonly string[];
  /** Removes the labels of holders whose names begin with `prefix`, if they were last written before a time in milliseconds since 1970. */
  prune?: { prefix: string; before: number };
  /** Each holder gets all labels. `at` is the time of writing, in milliseconds since 1970; a label that a holder has already gets it too. */
  add?: { holders: readonly string[]; labels: readonly StoredLabel[]; at: number };
}

export interface LabelRows {
  /** The labels of these holders, and of those whose names begin with `prefix`. A label may be there more than once. */
  of(wanted: { holders: readonly string[]; prefix?: string }): Promise<StoredLabel[]>;
  /** Whether any holder whose name begins like this has a label. */
  hasBelow(prefix: string): Promise<boolean>;
  change(change: LabelChange): Promise<void>;
}

/** A condition for holders whose names begin with `prefix`. */
const below = "holder >= $prefix AND holder < $end";

function rangeOf(prefix: string | undefined): { prefix?: string; end?: string } {
  return prefix === undefined ? {} : { prefix, end: `${prefix}\u{10FFFF}` };
}

export function labelRows(database: Database): LabelRows {
  return {
    of({ holders, prefix }) {
      const orBelow = prefix === undefined ? "" : `UNION SELECT label, source FROM claudikins.labels WHERE ${below}`;
      const statement = `SELECT label, source FROM claudikins.labels
        WHERE holder IN (SELECT value FROM texts($holders)) ${orBelow}`;
      return database.read(() => all(statement, { holders, ...rangeOf(prefix) }));
    },
    async hasBelow(prefix) {
      const statement = `SELECT 1 AS one FROM claudikins.labels WHERE ${below} LIMIT 1`;
      return (await database.read(() => first(statement, rangeOf(prefix)))) !== undefined;
    },
    change: ({ remove = [], prune, add }) =>
      database.write(function* () {
        if (remove.length > 0) {
          const holders = "DELETE FROM claudikins.labels WHERE holder IN (SELECT value FROM texts($remove))";
          yield* run(holders, { remove });
        }
        if (prune) {
          const { prefix, before } = prune;
          const old = `DELETE FROM claudikins.labels WHERE ${below} AND at < $before`;
          yield* run(old, { ...rangeOf(prefix), before });
        }
        if (add) yield* insert(add);
      }),
  };
}

/** In one order, so that two processes that write the same labels do not wait for each other. */
function insert({ holders, labels, at }: NonNullable<LabelChange["add"]>): Work<number> {
  return run(
    `INSERT INTO claudikins.labels (holder, label, source, at)
     SELECT DISTINCT holders.value, labels.value->>'label', labels.value->>'source', CAST($at AS DOUBLE PRECISION)
     FROM texts($holders) AS holders, each($labels) AS labels WHERE TRUE
     ORDER BY 1, 2, 3
     ON CONFLICT (holder, label, source) DO UPDATE SET at = excluded.at`,
    { holders, labels, at },
  );
}
