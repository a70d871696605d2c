/** Statements with named values. Rows have names as our types do: the column `started_at` is `startedAt`. */
import type { Statement, Values, Work } from "../work.ts";
import type { BlockedStatements } from "./blocked-statements.ts";

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
  do<T>(work: Work<T>): Promise<T>;
}

/** `claudikins`: something for which others wait. `claudikins_documents`: the documents of the folder that the message names. */
export type Channel = "claudikins" | "claudikins_documents";

/** Tells of a change when the transaction is committed. For changes that people make: Postgres commits such transactions one by one. */
export async function tellOnCommit(
  querying: Querying,
  channel: Channel = "claudikins",
  message: string = "",
): Promise<void> {
  await querying.run("SELECT pg_notify($channel, $message)", { channel, message });
}

/** `blocked` has the statements of the same database that wait for locks in vain. */
export function queryingOf(sql: Pick<Bun.SQL, "unsafe">, blocked: BlockedStatements): Querying {
  const run = (statement: string, values: Values = {}) => {
    const { text, names } = numbered(statement);
    const given = names.map((name) => sentValue(values[name]));
    return blocked.run(text, () => sql.unsafe(text, given));
  };
  const answerOf = async ({ text, values, wants }: Statement): Promise<unknown> => {
    if (wants === "tell") return tellOnCommit(querying);
    if (wants === "lock") return querying.run(`LOCK TABLE claudikins.${text} IN SHARE ROW EXCLUSIVE MODE`);
    return wants === "rows" ? querying.all(text, values) : querying.run(text, values);
  };
  const querying: Querying = {
    all: async (statement, values) => [...(await run(statement, values))],
    get: async (statement, values) => (await run(statement, values))[0],
    run: async (statement, values) => (await run(statement, values)).count,
    foreign: async (statement, values = []) => ({ rows: [...(await sql.unsafe(statement, [...values]))] }),
    script: async (statements) => void (await sql.unsafe(statements).simple()),
    async do(work) {
      let step = work.next();
      while (!step.done) {
        try {
          step = work.next(await answerOf(step.value));
        } catch (error) {
          step = work.throw(error);
        }
      }
      return step.value;
    },
  };
  return querying;
}

/** Escapes of NUL and of halves of pairs of surrogates, as JSON.stringify writes them. */
const notStorable = /\\u(?:0000|d[89a-f])/;

function jsonOf(values: readonly unknown[]): string {
  const json = JSON.stringify(values);
  if (!notStorable.test(json)) return json;
  return JSON.stringify(values, (_, value: unknown) => (typeof value === "string" ? storable(value) : value));
}

/** `each($rows)` and `texts($ids)`, perhaps with another name. */
const listed = /\b(each|texts)\((\$\w+)\)(?: AS (\w+))?/g;

function listOf(_: string, kind: string, list: string, name: string = "given"): string {
  const elements = kind === "each" ? "json_array_elements" : "json_array_elements_text";
  return `${elements}(${list}::text::json) AS ${name} (value)`;
}

const known = new Map<string, { text: string; names: string[] }>();

/** Postgres numbers the values. Statements are few, so all of them are remembered. */
function numbered(statement: string): { text: string; names: string[] } {
  return known.getOrInsertComputed(statement, () => {
    const names: string[] = [];
    const text = statement.replace(listed, listOf).replace(/\$([a-z]\w*)/gi, (_, name: string) => {
      if (!names.includes(name)) names.push(name);
      return `$${names.indexOf(name) + 1}`;
    });
    return { text, names };
  });
}

function sentValue(value: Values[string]): unknown {
  if (Array.isArray(value)) return jsonOf(value);
  return typeof value === "string" ? storable(value) : (value ?? null);
}

/** Postgres stores every character but NUL, and no half of a pair of surrogates. One in a list would fail the whole statement. */
function storable(text: string): string {
  const whole = text.toWellFormed();
  return whole.includes("\0") ? whole.replaceAll("\0", "\uFFFD") : whole;
}
