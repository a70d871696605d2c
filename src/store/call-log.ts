/** The call log: one row for each call of a tool, with the person for whom it was made. Rows have no contents. */
import { megabyte } from "../base/units.ts";
import { all, type Database, run, type Work } from "./work.ts";

/** Calls that one statement reads, so that a reader of a long log keeps few in memory. */
export const maxCallsReadAtOnce = 1_000;

/** Size of the log in the file of one user. The oldest calls are removed beyond it. */
const maxUserLogBytes = 64 * megabyte;

/** Size of one call in the user's file with its places in three indexes, as measured with 100,000 calls. */
const userCallBytes = 640;

/** Calls in the file of one user. */
export const maxUserCalls = Math.floor(maxUserLogBytes / userCallBytes);

export const callOutcomes = ["ok", "tool_error", "denied", "failed", "cancelled"] as const;
export type CallOutcome = (typeof callOutcomes)[number];

/** Programs that were started by a command, an agent, a schedule or an event; and single calls by an agent (`serve`) or a command. */
export const callStarters = ["exec", "serve", "schedule", "event", "call"] as const;
export type CallStarter = (typeof callStarters)[number];

/** Times are in milliseconds. What is not known, or does not apply, is null. */
export interface StoredCall {
  /** Ids sort by time. */
  id: string;
  /** When the call was made, since 1970. */
  at: number;
  /** The config file. */
  config: string | null;
  door: string | null;
  /** The id and the name of the person who has signed in. */
  person: string | null;
  personName: string | null;
  /** The id of the token of `serve --http`. */
  token: string | null;
  /** The agent, as it names itself. */
  agent: string | null;
  startedBy: CallStarter;
  /** The execution of the program that made the call, and the number of the call in it. */
  execution: string | null;
  call: number | null;
  /** The name of the saved program. */
  program: string | null;
  server: string;
  /** The name of the tool, or of another function, such as `resources.read`. */
  tool: string;
  outcome: CallOutcome;
  /** The code of the error. */
  code: string | null;
  /** Without the time in which a person was asked. */
  durationMs: number;
  waitedMs: number;
  argumentBytes: number;
  resultBytes: number;
  /** How often the call left for its server: more than once if a connection was lost. */
  sent: number;
  /** What a person has decided about it: `once`, `program`, `session`, `denied`, `expired`, `withdrawn`, or `open`. */
  approval: string | null;
  /** The id of the decision in the audit log. */
  approvalId: string | null;
  /** The labels of the tool's data, with spaces between them. */
  labels: string | null;
}

/** A place in the log: after or before this call. */
export type CallPlace = Pick<StoredCall, "id" | "at">;

/** Selects calls. All given conditions must hold. */
export interface CallFilter {
  /** Calls that were made then or later, in milliseconds since 1970. */
  since?: number | undefined;
  /** Calls that were made before. */
  until?: number | undefined;
  config?: string | undefined;
  /** Ids or names of people, and ids of tokens: any of them. */
  who?: readonly string[] | undefined;
  /** The id of the person. */
  person?: string | undefined;
  door?: string | undefined;
  server?: string | undefined;
  /** As `server.tool`. */
  tool?: string | undefined;
  execution?: string | undefined;
  /** Calls with one of these outcomes. */
  outcomes?: readonly CallOutcome[] | undefined;
}

export interface ReadCalls {
  order: "newest first" | "oldest first";
  limit: number;
  /** The last call that was read. The next ones follow it. */
  after?: CallPlace | undefined;
}

export interface CallLogRows {
  /** Adds calls in one statement. */
  add(calls: readonly StoredCall[]): Promise<void>;
  /** The first calls that fit, at most `limit`. */
  read(filter: CallFilter, how: ReadCalls): Promise<StoredCall[]>;
  /** Removes the calls of a config that were made `before` a time. A database of a team removes whole days, the file of a user also what is too much. */
  tidy(config: string | null, before: number): Promise<void>;
  /** Removes the calls of a person. Returns how many there were. */
  removePerson(config: string, person: string): Promise<number>;
}

/** In the order of the table. */
export const callKeys: readonly (keyof StoredCall)[] = [
  "id",
  "at",
  "config",
  "door",
  "person",
  "personName",
  "token",
  "agent",
  "startedBy",
  "execution",
  "call",
  "program",
  "server",
  "tool",
  "outcome",
  "code",
  "durationMs",
  "waitedMs",
  "argumentBytes",
  "resultBytes",
  "sent",
  "approval",
  "approvalId",
  "labels",
];

export const callColumnOf = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
export const callColumns = callKeys.map(callColumnOf).join(", ");

/** What differs between the databases. */
interface Upkeep {
  /** Makes room for calls of these times. */
  prepare?(times: readonly number[]): Promise<void>;
  insert(calls: readonly StoredCall[]): Work<void>;
  tidy: CallLogRows["tidy"];
}

export function callLogRows(database: Database, upkeep: Upkeep): CallLogRows {
  return {
    async add(calls) {
      if (calls.length === 0) return;
      await upkeep.prepare?.(calls.map(({ at }) => at));
      await database.write(() => upkeep.insert(calls));
    },
    read: (filter, how) => database.read(() => readCalls(filter, how)),
    tidy: (config, before) => upkeep.tidy(config, before),
    removePerson: (config, person) =>
      database.write(() =>
        run("DELETE FROM claudikins.call_log WHERE config = $config AND person = $person", { config, person }),
      ),
  };
}

/** All calls that fit, read while they are asked for. */
export async function* eachCall(
  rows: Pick<CallLogRows, "read">,
  filter: CallFilter,
  order: ReadCalls["order"],
): AsyncGenerator<StoredCall> {
  for (let after: CallPlace | undefined; ; ) {
    const calls = await rows.read(filter, { order, limit: maxCallsReadAtOnce, after });
    yield* calls;
    after = calls.at(-1);
    if (calls.length < maxCallsReadAtOnce) return;
  }
}

function readCalls(filter: CallFilter, { order, limit, after }: ReadCalls): Work<StoredCall[]> {
  const isNewestFirst = order === "newest first";
  const conditions = [
    filter.since === undefined ? "" : "at >= $since",
    filter.until === undefined ? "" : "at < $until",
    filter.config === undefined ? "" : "config = $config",
    filter.who === undefined
      ? ""
      : `(${["person", "person_name", "token"].map((column) => isOneOf(column, "who")).join(" OR ")})`,
    filter.person === undefined ? "" : "person = $person",
    filter.door === undefined ? "" : "door = $door",
    filter.server === undefined ? "" : "server = $server",
    filter.tool === undefined ? "" : "server || '.' || tool = $tool",
    filter.execution === undefined ? "" : "execution = $execution",
    filter.outcomes === undefined ? "" : isOneOf("outcome", "outcomes"),
    after === undefined ? "" : `(at, id) ${isNewestFirst ? "<" : ">"} ($afterAt, $afterId)`,
  ].filter(Boolean);
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
  const direction = isNewestFirst ? "DESC" : "ASC";
  return all(
    `SELECT ${callColumns} FROM claudikins.call_log ${where} ORDER BY at ${direction}, id ${direction} LIMIT $limit`,
    { ...filter, limit, ...(after ? { afterAt: after.at, afterId: after.id } : {}) },
  );
}

function isOneOf(column: string, list: "who" | "outcomes"): string {
  return `${column} IN (SELECT value FROM texts($${list}))`;
}
