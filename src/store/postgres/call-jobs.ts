/**
 * The jobs for the calls of an execution. A call leaves only after the database says so: a process that takes the execution over knows which
 * calls may have been made.
 */
import { largeJsonChars } from "../../base/limits.ts";
import type { StoreJobs } from "../jobs.ts";
import { claimed, lostClaim } from "./claims.ts";
import type { JobParts, Jobs } from "./job-parts.ts";
import { jsonOf, type Querying, type Values } from "./querying.ts";

/** The calls that executions have made, by their numbers, until they are saved. */
export type NewCalls = Map<string, Map<number, StoreJobs["call"]["input"]>>;

export function callJobs(
  { connections, owners, claims, room }: JobParts,
  calls: NewCalls,
): Jobs<"call" | "sent" | "answered" | "calls" | "message" | "answer"> {
  /** One statement, which may run twice. */
  const change = async (execution: string, set: string, values: Values & { call: number }): Promise<undefined> => {
    const claim = claims.required(execution);
    const statement = `WITH held AS (${claimed}), changed AS
        (UPDATE claudikins.calls SET ${set} FROM held WHERE calls.execution = held.id AND call = $call)
      SELECT id FROM held`;
    const held = await connections.each((querying) => querying.get(statement, { ...values, execution, ...claim }));
    if (!held) throw lostClaim(execution);
  };

  const read = async (execution: string, call: number, column: "message" | "answer"): Promise<object> => {
    const statement = `SELECT ${column} AS json, ${column}_text_name AS name, ${column}_text AS text
      FROM claudikins.calls WHERE execution = $execution AND call = $call`;
    const row = await connections.each((querying) => querying.get<StoredText>(statement, { execution, call }));
    return messageOf({ ...(row ?? { name: null, text: null }), json: row?.json ?? "null" });
  };

  return {
    call: async (execution, input) => {
      calls.getOrInsertComputed(execution, () => new Map()).set(input.call, input);
      return undefined;
    },

    sent: async (execution, { call, repeatable }) => {
      // A process that counts as dead for others makes no calls.
      await owners.requireAlive(claims.required(execution).owner);
      return change(execution, "state = 'sent', repeatable = $repeatable", { call, repeatable });
    },

    answered: async (execution, { roomBytes, ...answer }) => {
      const { json, name, text } = textOf(answer);
      if (text !== null && !(await room.has(roomBytes, text.length))) return undefined;
      const set = "state = 'answered', answer = $json, answer_text_name = $name, answer_text = $text";
      return change(execution, set, { call: answer.call, json, name, text });
    },

    calls: (execution) =>
      connections.each((querying) =>
        querying.all(
          `SELECT call, state = 'sent' AS is_sent, repeatable, answer IS NOT NULL AS is_answered
           FROM claudikins.calls WHERE execution = $execution ORDER BY call`,
          { execution },
        ),
      ),

    message: (execution, { call }) => read(execution, call, "message"),

    answer: (execution, { call }) => read(execution, call, "answer"),
  };
}

/** Stores new calls, and deletes those that are not open any more. Stored calls that are open stay as they are. */
export async function replaceCalls(
  execution: string,
  { fresh, open }: { fresh: Iterable<StoreJobs["call"]["input"]>; open: readonly number[] },
  querying: Querying,
): Promise<void> {
  await querying.run(
    `DELETE FROM claudikins.calls WHERE execution = $execution
     AND call NOT IN (SELECT json_array_elements_text($open::text::json)::int)`,
    { execution, open: jsonOf(open) },
  );
  const rows = Array.from(fresh, rowOf);
  const small = rows.filter(({ text, json }) => text === null && json.length <= largeJsonChars);
  const inserted = (from: string) =>
    `INSERT INTO claudikins.calls (execution, call, state, repeatable, namespace, "group", name, line, message, message_text_name, message_text)
     ${from} ON CONFLICT DO NOTHING`;
  if (small.length > 0) {
    await querying.run(
      inserted(
        `SELECT $execution, call, state, repeatable, namespace, "group", name, line, json, NULL, NULL
         FROM json_to_recordset($rows::text::json) AS given
           (call INTEGER, state TEXT, repeatable BOOLEAN, namespace TEXT, "group" TEXT, name TEXT, line INTEGER, json TEXT)`,
      ),
      { execution, rows: jsonOf(small) },
    );
  }
  for (const row of rows.filter((each) => !small.includes(each))) {
    await querying.run(
      inserted(
        "VALUES ($execution, $call, $state, $repeatable, $namespace, $group, $name, $line, $json, $textName, $text)",
      ),
      { execution, ...row },
    );
  }
}

interface Place {
  namespace?: string;
  group?: string;
  name?: string;
  line?: number;
}

function rowOf({ isSent, repeatable, ...message }: StoreJobs["call"]["input"]) {
  const { json, name: textName, text } = textOf(message);
  const { namespace, group, name, line } = message as Place;
  const state = isSent ? "sent" : "made";
  return { call: message.call, state, repeatable, namespace, group, name, line, json, textName, text };
}

/**
 * Messages and answers of calls, which are flat objects with at most one text that may be large. That text is stored apart, so that the main
 * thread neither makes JSON of it nor reads it.
 */
interface StoredText {
  /** JSON of everything else. */
  json: string;
  /** The property with the large text, and the text. Null without one. */
  name: string | null;
  text: string | null;
}

export function textOf(message: object): StoredText {
  const [name, text] =
    Object.entries(message).find(([, value]) => typeof value === "string" && value.length > largeJsonChars) ?? [];
  if (name === undefined) return { json: JSON.stringify(message), name: null, text: null };
  return { json: JSON.stringify({ ...message, [name]: undefined }), name, text: text as string };
}

export function messageOf({ json, name, text }: StoredText): object {
  const message = JSON.parse(json) as object;
  return name === null ? message : { ...message, [name]: text };
}
