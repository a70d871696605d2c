/** Statements with named values. Rows have names as our types do: the column `started_at` is `startedAt`. */

type Value = string | number | boolean | null | undefined | Uint8Array;
export type Values = Readonly<Record<string, Value>>;

/** Runs statements, on a connection or in a transaction. Values are named as in `WHERE id = $id`. */
export interface Querying {
  all<Row>(statement: string, values?: Values): Promise<Row[]>;
  get<Row>(statement: string, values?: Values): Promise<Row | undefined>;
  /** Returns the number of rows that were changed. */
  run(statement: string, values?: Values): Promise<number>;
  /** Runs a statement of a library, whose values are numbered: `$1`. */
  foreign(statement: string, values?: readonly unknown[]): Promise<{ rows: unknown[] }>;
  /** Runs several statements without values. */
  script(statements: string): Promise<void>;
}

export function queryingOf(sql: Pick<Bun.SQL, "unsafe">): Querying {
  const run = (statement: string, values: Values = {}) => {
    const { text, names } = numbered(statement);
    const given = names.map((name) => sentValue(values[name]));
    return sql.unsafe(text, given);
  };
  return {
    all: async (statement, values) => [...(await run(statement, values))],
    get: async (statement, values) => (await run(statement, values))[0],
    run: async (statement, values) => (await run(statement, values)).count,
    foreign: async (statement, values = []) => ({ rows: [...(await sql.unsafe(statement, [...values]))] }),
    script: async (statements) => void (await sql.unsafe(statements).simple()),
  };
}

/** Many values as JSON, for a statement that takes them with `json_array_elements($rows::text::json)`. */
export function jsonOf(values: readonly unknown[]): string {
  return JSON.stringify(values, (_, value: unknown) => (typeof value === "string" ? withoutNul(value) : value));
}

const known = new Map<string, { text: string; names: string[] }>();

/** Postgres numbers the values. Statements are few, so all of them are remembered. */
function numbered(statement: string): { text: string; names: string[] } {
  return known.getOrInsertComputed(statement, () => {
    const names: string[] = [];
    const text = statement.replace(/\$([a-z]\w*)/gi, (_, name: string) => {
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    });
    return { text, names };
  });
}

function sentValue(value: Value): Exclude<Value, undefined> {
  return typeof value === "string" ? withoutNul(value) : (value ?? null);
}

/** Postgres stores every character but this one. */
function withoutNul(text: string): string {
  return text.includes("\0") ? text.replaceAll("\0", "\uFFFD") : text;
}
