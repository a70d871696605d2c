/**
 * The executions of both databases, and the journal of their calls. A call leaves only after the journal says so: a process that takes an
 * execution over knows which calls may have been made.
 */

import { ClaudikinsError } from "../base/errors.ts";
import { parsedJson, valueAt } from "../base/json-object.ts";
import { largeJsonChars } from "../base/limits.ts";
import { megabyte } from "../base/units.ts";
import type { BriefExecution, CallPlace, ExecutionRows, StoredExecution, WaitingPrograms } from "./executions.ts";
import type { NewExecution, StoreJobs } from "./jobs.ts";
import { executionHolder } from "./labels.ts";
import { all, type Database, first, run, type Values, type Work } from "./work.ts";

/** Without the request, which has the whole source of the program. */
const briefColumns =
  "id, config, state, owner, started_at, changed_at, wake_at, is_cancelled, is_wanted, engine, program IS NOT NULL AS is_saved, unsaved, is_ok, " +
  "CASE WHEN state = 'ended' AND NOT is_ok THEN substr(outcome, 1, 60) END AS ending";
const columns = `${briefColumns}, request`;

type Row<Execution> = Omit<Execution, "reason"> & { ending: string | null };

export function executionRows(database: Database, writer: ExecutionRows["writer"]): ExecutionRows {
  const rows = (condition: string, values: Values) => database.read(() => where(condition, values));
  return {
    writer,
    get: async (id) => (await rows("id = $id", { id }))[0],
    open: (config) => rows("config IS NOT DISTINCT FROM $config AND state = 'open' AND unsaved IS NULL", { config }),
    list: (config) => rows(config === undefined ? "TRUE" : "config IS NOT DISTINCT FROM $config", { config }),
    async newest(config, count) {
      const statement = `SELECT ${briefColumns} FROM claudikins.executions WHERE config IS NOT DISTINCT FROM $config
        ORDER BY started_at DESC LIMIT CAST($count AS INTEGER)`;
      return (await database.read(() => all<Row<BriefExecution>>(statement, { config, count }))).map(executionOf);
    },
    startedBy(client, which = "open") {
      const isOpen = which === "open" ? "state = 'open' AND" : "";
      const statement = `SELECT id, config, owner, started_at, changed_at FROM claudikins.executions
        WHERE ${isOpen} substr(client, 1, length($client)) = $client`;
      return database.read(() => all(statement, { client }));
    },
    waiting() {
      const statement = `SELECT config, engine, is_wanted, CAST(count(*) AS INTEGER) AS count FROM claudikins.executions
        WHERE state = 'open' AND program IS NOT NULL GROUP BY config, engine, is_wanted`;
      return database.read(() => all<WaitingPrograms>(statement));
    },
    async program(id) {
      const statement = "SELECT program FROM claudikins.executions WHERE id = $id";
      const row = await database.read(() => first<{ program: Uint8Array | null }>(statement, { id }));
      return row?.program ? new Uint8Array(row.program) : undefined;
    },
    callPlaces(id) {
      const statement = `SELECT call, state, namespace, "group", name, line FROM claudikins.calls WHERE execution = $id ORDER BY call`;
      return database.read(() => all<CallPlace>(statement, { id }));
    },
    async cancelled(owner) {
      const statement = "SELECT id FROM claudikins.executions WHERE owner = $owner AND is_cancelled AND state = 'open'";
      return (await database.read(() => all<{ id: string }>(statement, { owner }))).map(({ id }) => id);
    },
    old: (before) =>
      rows(
        `changed_at < $before AND coalesce(wake_at, 0) < $before
         AND NOT EXISTS (SELECT 1 FROM claudikins.approvals WHERE execution = executions.id AND state = 'open')`,
        { before },
      ),
  };
}

/** Newest first. */
function* where(condition: string, values: Values): Work<StoredExecution[]> {
  const statement = `SELECT ${columns} FROM claudikins.executions WHERE ${condition} ORDER BY started_at DESC`;
  return (yield* all<Row<StoredExecution>>(statement, values)).map(executionOf);
}

/** The reason stands in the beginning of a failed outcome. The rest may be long, because it has the logs. */
function executionOf<Execution extends { ending: string | null }>({
  ending,
  ...row
}: Execution): Omit<Execution, "ending"> & Pick<StoredExecution, "reason"> {
  const [, reason] = /^\{"ok":false,"reason":"([a-z]+)"/.exec(ending ?? "") ?? [];
  return { ...row, reason };
}

/** A condition that names the row of an execution. Where others may claim the execution, it names the claim too. */
export interface Which {
  condition: string;
  values: Values & { execution: string };
}

export const byId = (execution: string): Which => ({ condition: "id = $execution", values: { execution } });

export function insertExecution(
  execution: string,
  owner: string,
  { config = null, startedAt = 0, request = "", isWanted = false }: Partial<NewExecution>,
): Work<number> {
  const starter = valueAt(parsedJson(request), ["starter", "client"]);
  const client = typeof starter === "string" ? starter : null;
  return run(
    `INSERT INTO claudikins.executions (id, config, state, owner, claims, started_at, changed_at, is_wanted, request, client)
     VALUES ($execution, $config, 'open', $owner, 1, $startedAt, $now, $isWanted, $request, $client)`,
    { execution, config, owner, startedAt, now: Date.now(), isWanted, request, client },
  );
}

export function saveExecution(
  { condition, values }: Which,
  { program, unsaved, wakeAt, engine }: Pick<StoreJobs["save"]["input"], "program" | "unsaved" | "wakeAt" | "engine">,
): Work<number> {
  return run(
    `UPDATE claudikins.executions SET program = $program, unsaved = $unsaved, wake_at = $wakeAt, engine = $engine, changed_at = $now
     WHERE ${condition}`,
    { ...values, program, unsaved, wakeAt, engine, now: Date.now() },
  );
}

/** Stores the outcome. A large value stands apart, so that the thread that needs the rest need not read it. */
export function endExecution(
  { condition, values }: Which,
  { outcome, value, isOk }: Pick<StoreJobs["ended"]["input"], "outcome" | "value" | "isOk">,
): Work<number> {
  const isApart = value === undefined || outcome.length + value.length > largeJsonChars;
  return run(
    `UPDATE claudikins.executions SET state = 'ended', owner = NULL, program = NULL, unsaved = NULL, wake_at = NULL, outcome = $outcome,
       value = $value, is_ok = $isOk, changed_at = $now
     WHERE ${condition}`,
    {
      ...values,
      outcome: isApart ? outcome : `${outcome.slice(0, -1)},"value":${value}}`,
      value: isApart ? value : null,
      isOk,
      now: Date.now(),
    },
  );
}

/** Returns the number of the claim. Undefined if another process was first. `isFree` is a further condition for `$from`, the owner before. */
export function* claimExecution(
  execution: string,
  { owner, from }: StoreJobs["claim"]["input"],
  isFree: string,
): Work<number | undefined> {
  const row = yield* first<{ claims: number }>(
    `UPDATE claudikins.executions SET owner = $owner, claims = claims + 1, changed_at = $now
     WHERE id = $execution AND owner IS NOT DISTINCT FROM CAST($from AS TEXT) AND state = 'open' AND ${isFree}
     RETURNING claims`,
    { execution, owner, from, now: Date.now() },
  );
  return row?.claims;
}

export function releaseExecution({ condition, values }: Which): Work<number> {
  const statement = `UPDATE claudikins.executions SET owner = NULL, changed_at = $now WHERE ${condition}`;
  return run(statement, { ...values, now: Date.now() });
}

export function wantExecution(execution: string): Work<number> {
  return run("UPDATE claudikins.executions SET is_wanted = TRUE WHERE id = $execution", { execution });
}

export function askToCancel(execution: string): Work<number> {
  const statement = "UPDATE claudikins.executions SET is_cancelled = TRUE WHERE id = $execution AND state = 'open'";
  return run(statement, { execution });
}

export function removeLabels(execution: string): Work<number> {
  return run("DELETE FROM claudikins.labels WHERE holder = $holder", { holder: executionHolder(execution) });
}

export function* outcomeOf(execution: string): Work<StoreJobs["outcome"]["output"]> {
  const statement = "SELECT outcome, value FROM claudikins.executions WHERE id = $execution";
  const row = yield* first<{ outcome: string | null; value: string | null }>(statement, { execution });
  return { outcome: row?.outcome ?? undefined, value: row?.value ?? undefined };
}

export function beginSaving(execution: string, owner: string): Work<number> {
  return run(
    `INSERT INTO claudikins.saving (execution, owner) VALUES ($execution, $owner)
     ON CONFLICT (execution) DO UPDATE SET owner = excluded.owner`,
    { execution, owner },
  );
}

export function endSaving(execution: string): Work<number> {
  return run("DELETE FROM claudikins.saving WHERE execution = $execution", { execution });
}

/** The calls that executions have made, by their numbers, until they are saved. */
export type NewCalls = Map<string, Map<number, StoreJobs["call"]["input"]>>;

/** The changes of a stored call. */
export const callSent = "state = 'sent', is_repeatable = $repeatable";
export const callAnswered = "state = 'answered', answer = $json, answer_text_name = $textName, answer_text = $text";

/** Stores new calls, and deletes those that are not open any more. Stored calls that are open stay as they are. */
export function* replaceCalls(
  execution: string,
  { fresh, open }: { fresh: Iterable<StoreJobs["call"]["input"]>; open: readonly number[] },
): Work<void> {
  yield* run(
    `DELETE FROM claudikins.calls WHERE execution = $execution
     AND call NOT IN (SELECT CAST(value AS INTEGER) FROM texts($open))`,
    { execution, open },
  );
  const rows = Array.from(fresh, rowOf);
  const small = rows.filter(({ text, json }) => text === null && json.length <= largeJsonChars);
  const inserted = (from: string) =>
    `INSERT INTO claudikins.calls (execution, call, state, is_repeatable, namespace, "group", name, line, message, message_text_name, message_text)
     ${from} ON CONFLICT DO NOTHING`;
  if (small.length > 0) {
    const columns = `$execution, CAST(value->>'call' AS INTEGER), value->>'state', value->>'isRepeatable' = 'true', value->>'namespace',
      value->>'group', value->>'name', CAST(value->>'line' AS INTEGER), value->>'json', NULL, NULL`;
    // Both databases read the text alike.
    const given = small.map(({ repeatable, ...row }) => ({ ...row, isRepeatable: String(repeatable) }));
    yield* run(inserted(`SELECT ${columns} FROM each($given) WHERE TRUE`), { execution, given });
  }
  for (const row of rows.filter((each) => !small.includes(each))) {
    yield* run(
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
  const { namespace, group, name, line } = message as Place;
  return {
    call: message.call,
    state: isSent ? "sent" : "made",
    repeatable,
    namespace,
    group,
    name,
    line,
    ...textOf(message),
  };
}

/** The calls without their texts, which may be large. */
export function* callStates(execution: string): Work<StoreJobs["calls"]["output"]> {
  const rows = yield* all<{ call: number; isSent: boolean; isRepeatable: boolean; isAnswered: boolean }>(
    `SELECT call, state = 'sent' AS is_sent, is_repeatable, answer IS NOT NULL AS is_answered
     FROM claudikins.calls WHERE execution = $execution ORDER BY call`,
    { execution },
  );
  return rows.map(({ isRepeatable, ...row }) => ({ ...row, repeatable: isRepeatable }));
}

/**
 * Messages and answers of calls, which are flat objects with at most one text that may be large. That text is stored apart, so that the main
 * thread neither makes JSON of it nor reads it.
 */
export interface StoredText {
  /** JSON of everything else. */
  json: string;
  /** The property with the large text, and the text. Null without one. */
  textName: string | null;
  text: string | null;
}

export function textOf(message: object): StoredText {
  const [name, text] =
    Object.entries(message).find(([, value]) => typeof value === "string" && value.length > largeJsonChars) ?? [];
  if (name === undefined) return { json: JSON.stringify(message), textName: null, text: null };
  return { json: JSON.stringify({ ...message, [name]: undefined }), textName: name, text: text as string };
}

/** The message or the answer of a call. The JSON is \`null\` if there is none. */
export function* callText(execution: string, call: number, column: "message" | "answer"): Work<StoredText> {
  const statement = `SELECT ${column} AS json, ${column}_text_name AS text_name, ${column}_text AS text
    FROM claudikins.calls WHERE execution = $execution AND call = $call`;
  const row = yield* first<Omit<StoredText, "json"> & { json: string | null }>(statement, { execution, call });
  return { textName: null, text: null, ...row, json: row?.json ?? "null" };
}

export function messageOf({ json, textName, text }: StoredText): object {
  const message = JSON.parse(json) as object;
  return textName === null ? message : { ...message, [textName]: text };
}

/** The error of a store that has as much data as it may have. */
export function storeIsFull(roomBytes: number): ClaudikinsError {
  const text = `The programs that wait have filled the ${Math.round(roomBytes / megabyte)} MB that they may take together`;
  return new ClaudikinsError("FILE_NOT_WRITABLE", text, {
    hint: "To see them: claudikins executions list. To end one: claudikins executions cancel <execution>. Or raise executions.totalMb in the config.",
  });
}
