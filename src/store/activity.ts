/** What lists of executions show and select: one short row for each record of `records`, which is removed with it. */
import { all, type Values, type Work } from "./work.ts";

/** Agents, doors and people that a list can be narrowed to. */
const maxListedFacets = 50;

/** What a record is selected by. */
export interface ActivityFacts {
  /** The config file; null for the demo. */
  config: string | null;
  door: string | null;
  /** The id of the person who has signed in. */
  person: string | null;
  /** The agent, as it names itself. */
  agent: string | null;
  /** The name of the saved program. */
  program: string | null;
  state: string;
  /** The called tools: a line break, and for each tool the server, a tab, the tool and a line break. */
  tools: string;
  /** The lowercase text that is searched. */
  words: string;
}

/** Selects records. All given conditions must hold. */
export interface ActivityFilter {
  /** The config file; null for the demo. Undefined for all configs. */
  config?: string | null | undefined;
  door?: string | undefined;
  person?: string | undefined;
  agent?: string | undefined;
  /** Names of saved programs: any of them. */
  programs?: readonly string[] | undefined;
  states?: readonly string[] | undefined;
  server?: string | undefined;
  /** The name of a tool, with `server`. */
  tool?: string | undefined;
  /** Executions that began then or later, in milliseconds since 1970. */
  since?: number | undefined;
  /** Executions that began before then. */
  until?: number | undefined;
  text?: string | undefined;
}

/**
 * Orders of lists. Each of them has the newest first where nothing else decides. `session`: executions of one session follow each other, and the
 * session with the newest execution comes first. Those without a session belong together if one command started them in one folder.
 */
export const activityOrders = ["newest", "longest", "session"] as const;
export type ActivityOrder = (typeof activityOrders)[number];

/** The records after the one with the id `after`. */
export interface ActivityPage {
  limit: number;
  after?: string | undefined;
  /** Default: newest. */
  order?: ActivityOrder | undefined;
}

export interface Facets {
  agents: string[];
  doors: string[];
  /** The ids of people who have signed in. */
  people: string[];
}

const factColumns = ["config", "door", "person", "agent", "program", "state", "tools", "words"] as const;

/** Adds what records are selected by. Those that were written before stay as they are. */
export const insertFacts = `
  INSERT INTO claudikins.activity (id, at, ${factColumns.join(", ")})
  SELECT value->>'id', CAST(value->>'at' AS DOUBLE PRECISION), ${factColumns.map((name) => `value->>'${name}'`).join(", ")}
  FROM each($facts) WHERE TRUE ON CONFLICT DO NOTHING`;

type Summaries = { id: string; summary: string }[];

export function selectActivity(filter: ActivityFilter, { limit, after, order }: ActivityPage): Work<Summaries> {
  const { conditions, values } = conditionsOf(filter);
  if (order === "longest" || order === "session") {
    return all(
      `WITH fitting AS (SELECT activity.id, records.summary, ${places[order]} AS place
         FROM claudikins.activity JOIN claudikins.records ON records.id = activity.id ${whereAll(conditions)})
       SELECT id, summary FROM fitting
       ${after === undefined ? "" : "WHERE (place, id) < (SELECT place, id FROM fitting WHERE id = $after)"}
       ORDER BY place DESC, id DESC LIMIT CAST($limit AS INTEGER)`,
      { ...values, limit, after },
    );
  }
  if (after !== undefined) conditions.push("activity.id < $after");
  return all(
    `SELECT records.id, records.summary FROM claudikins.activity JOIN claudikins.records ON records.id = activity.id
     ${whereAll(conditions)} ORDER BY activity.id DESC LIMIT CAST($limit AS INTEGER)`,
    { ...values, limit, after },
  );
}

/** The place of a record in an order, highest first. */
const places = {
  longest: "CAST(json(summary) ->> 'durationMs' AS DOUBLE PRECISION)",
  session: `max(activity.id) OVER (PARTITION BY coalesce(json(summary) ->> 'session', (json(summary) ->> 'startedBy') || '\n' ||
    coalesce(json(summary) ->> 'folder', '') || '\n' || coalesce(json(summary) ->> 'door', '')))`,
};

/** The newest runs of each saved program, newest first: at most `count` of a program of a door. */
export function selectRuns(config: string | null, count: number): Work<Summaries> {
  return all(
    `SELECT records.id, records.summary FROM claudikins.records JOIN
       (SELECT id, row_number() OVER (PARTITION BY program, door ORDER BY id DESC) AS place FROM claudikins.activity
        WHERE config IS NOT DISTINCT FROM $config AND program IS NOT NULL) AS runs ON runs.id = records.id
     WHERE place <= $count ORDER BY records.id DESC`,
    { config, count },
  );
}

/** The agents, doors and people of the records that fit, sorted. */
export function* selectFacets({ config, person }: Pick<ActivityFilter, "config" | "person">): Work<Facets> {
  const { conditions, values } = conditionsOf({ config, person });
  const of = function* (column: "agent" | "door" | "person"): Work<string[]> {
    const rows = yield* all<{ value: string }>(
      `SELECT DISTINCT ${column} AS value FROM claudikins.activity ${whereAll([...conditions, `${column} IS NOT NULL`])}
       ORDER BY ${column} LIMIT CAST($limit AS INTEGER)`,
      { ...values, limit: maxListedFacets },
    );
    return rows.map(({ value }) => value);
  };
  return { agents: yield* of("agent"), doors: yield* of("door"), people: yield* of("person") };
}

function conditionsOf(filter: ActivityFilter): { conditions: string[]; values: Values } {
  const { config, door, person, agent, programs, states, server, tool, since, until, text } = filter;
  const conditions = [
    config === undefined ? "" : "activity.config IS NOT DISTINCT FROM $config",
    door === undefined ? "" : "door = $door",
    person === undefined ? "" : "person = $person",
    agent === undefined ? "" : "agent = $agent",
    programs === undefined ? "" : "program IN (SELECT value FROM texts($programs))",
    states === undefined ? "" : "state IN (SELECT value FROM texts($states))",
    server === undefined ? "" : "tools LIKE $called ESCAPE '!'",
    since === undefined ? "" : "activity.at >= $since",
    until === undefined ? "" : "activity.at < $until",
    text === undefined ? "" : "words LIKE $part ESCAPE '!'",
  ].filter(Boolean);
  const called = tool === undefined ? `\n${server}\t` : `\n${server}\t${tool}\n`;
  const part = containing((text ?? "").toLowerCase());
  return {
    conditions,
    values: { config, door, person, agent, programs, states, called: containing(called), since, until, part },
  };
}

/** A pattern of LIKE. */
function containing(text: string): string {
  return `%${text.replace(/[!%_]/g, "!$&")}%`;
}

function whereAll(conditions: readonly string[]): string {
  return conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
}
