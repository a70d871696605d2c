/**
 * Work on a database, as a generator of its statements. One text of it serves both databases: SQLite answers each statement at once, so that
 * nothing else of the thread comes between two of them, and Postgres answers later.
 *
 * Statements are SQL that both databases understand, with a few words that each of them translates: `claudikins.` before the name of a table,
 * `each($rows)` and `texts($ids)` for the elements of a JSON list as rows with a column `value`, and `FOR UPDATE` with `SKIP LOCKED`. Columns have names such
 * as `started_at`, and their values names such as `startedAt`. Columns that begin with `is_` are true or false.
 */

/** A list is passed as JSON. */
type Value = string | number | boolean | null | undefined | Uint8Array | readonly unknown[];
export type Values = Readonly<Record<string, Value>>;

export interface Statement {
  text: string;
  values: Values;
  /**
   * `tell` is no statement: processes that wait for such a change hear of it when the transaction is committed. `lock` keeps other writers from
   * the table that `text` names until then. Where a transaction is the only writer, it needs neither.
   */
  wants: "rows" | "count" | "tell" | "lock";
}

/** Work without side effects, apart from its statements: it may be done again. */
export type Work<T> = Generator<Statement, T, unknown>;

/** A database, as the parts of the store use it. Methods throw the errors of the store, see store.ts. */
export interface Database {
  /** Does work that only reads, or that may be done in part. */
  read<T>(work: () => Work<T>): Promise<T>;
  /** Does work as one transaction. */
  write<T>(work: () => Work<T>): Promise<T>;
}

export function* all<Row>(text: string, values: Values = {}): Work<Row[]> {
  return (yield { text, values, wants: "rows" }) as Row[];
}

export function* first<Row>(text: string, values: Values = {}): Work<Row | undefined> {
  return (yield* all<Row>(text, values))[0];
}

/** Returns the number of rows that were changed. */
export function* run(text: string, values: Values = {}): Work<number> {
  return (yield { text, values, wants: "count" }) as number;
}

export function* tell(): Work<void> {
  yield { text: "", values: {}, wants: "tell" };
}

export function* lock(table: string): Work<void> {
  yield { text: table, values: {}, wants: "lock" };
}

/** Does work at once, with the answer to each statement. */
export function done<T>(work: Work<T>, answer: (statement: Statement) => unknown): T {
  let step = work.next();
  while (!step.done) {
    let answered: unknown;
    try {
      answered = answer(step.value);
    } catch (error) {
      step = work.throw(error);
      continue;
    }
    step = work.next(answered);
  }
  return step.value;
}

/** Does work that only reads, where nothing was ever stored. */
export function ofNothing<T>(work: Work<T>): T {
  return done(work, ({ wants }) => (wants === "rows" ? [] : 0));
}

/** The name of a value in the place of its column's. */
export function camelOf(column: string): string {
  return column.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
