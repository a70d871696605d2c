/** The load of people who are known and do nothing: what their rows need in the database, and what they cost a replica and one of them who works. */
import { roomKnownMs, storedSize } from "../../src/store/postgres/room.ts";
import { eventually } from "../../test/support/eventually.ts";
import { PersonHosts } from "../../test/support/person-hosts.ts";
import { residentMb } from "../bench/measure.ts";
import { Replicas } from "../harnesses/team-storm/replicas.ts";
import { openSite, type Site, subjectOf } from "../harnesses/team-storm/site.ts";

/** People who are known in the larger measurement. */
export const knownPeople = 10_000;

/** Pages of programs that wait: some 53 for each person's one. */
export const storedPages = 520_000;

/** Bytes of each page here. They are fewer than those of a real one, and the size of what is stored is never read. */
const pageBytes = 50;

/** Measurements of one time, for the median. */
const times = 30;

/** How long a replica without work is watched: as long as it takes from one look at all documents to the next. */
const idleMs = 15_000;

/** Time after which the last writes of a person and the statistics of Postgres have arrived. */
const settledMs = 11_000;

/** The tables with rows of a person who does nothing. Some name the person, and rows of the others are known by digests. */
const tables = ["people", "newest_groups", "documents", "sessions", "kept_values"] as const;

export interface WithPeople {
  people: number;
  /** Rows by table. */
  rows: Record<string, number>;
  /** The tables with their indexes, in MB. */
  tablesMb: number;
  /** Resident size of a replica for which one of the people has worked, in MB. */
  replicaMb: number;
  /** The median time of a small program of one of the people, in milliseconds. */
  programMs: number;
  /** Rows that a replica without work reads in a second. */
  rowsRead: number;
}

export interface Room {
  /** The time for a look at how much is stored, with many pages, in milliseconds. */
  lookMs: number;
  /** That time in percent of a core of the database. */
  corePercent: number;
}

export interface MeasuredPeople {
  known: WithPeople[];
  room: Room;
}

export async function measurePeople(report: (name: string) => void): Promise<MeasuredPeople> {
  await using site = await openSite(1, 1);
  const wrong: string[] = [];
  await using replicas = new Replicas(site, wrong, "600m");
  report("one person signs in");
  await replicas.start();
  await signIn(site);
  await replicas.drainAll();
  const one = await measured(site, replicas, 1);
  report(`${knownPeople} people`);
  await multiply(site);
  const many = await measured(site, replicas, knownPeople);
  report(`${storedPages} pages`);
  const room = await roomOf(site);
  if (wrong.length > 0) throw new Error(wrong.join("; "));
  return { known: [one, many], room };
}

/** The person has an agent with a session, a page in a browser, and an account at a server. */
async function signIn(site: Site): Promise<void> {
  const { balancer, provider } = site;
  await ready(site);
  const hosts = new PersonHosts(balancer.origin, () => provider);
  const { status, text } = await hosts.browse(`${balancer.origin}/ui/`, new Map(), subjectOf(0));
  if (status !== 200) throw new Error(`the page answers ${status}: ${text}`);
  const host = await hosts.host(subjectOf(0));
  const who = await host.execute("return (await own.who({})).who");
  if (who !== subjectOf(0)) throw new Error(`the person did not sign in at the server: ${who}`);
  // The session stays.
  await host.client.close();
}

async function ready({ balancer }: Site): Promise<void> {
  await eventually(async () => (await fetch(`${balancer.origin}/readyz`)).ok, { everyMs: 50 });
}

/** Measures with a replica of its own. */
async function measured(site: Site, replicas: Replicas, people: number): Promise<WithPeople> {
  const { balancer, provider } = site;
  const rows = await rowsOf(site);
  const tablesMb = await sizeOf(site);
  await replicas.start();
  await ready(site);
  await Bun.sleep(settledMs);
  const before = await rowsReadIn(site);
  await Bun.sleep(idleMs);
  const rowsRead = ((await rowsReadIn(site)) - before) / (idleMs / 1_000);
  const hosts = new PersonHosts(balancer.origin, () => provider);
  const host = await hosts.host(subjectOf(0));
  await host.execute("return 0");
  const programMs = await medianOf(async () => {
    const answer = await host.execute("return 1");
    if (answer !== "1") throw new Error(answer);
  });
  const replicaMb = residentMb(replicas.serving[0]!.serve.pid);
  await host[Symbol.asyncDispose]();
  await replicas.drainAll();
  return { people, rows, tablesMb, replicaMb, programMs, rowsRead };
}

async function medianOf(work: () => Promise<unknown>): Promise<number> {
  const taken: number[] = [];
  for (let time = 0; time < times; time++) {
    const begun = performance.now();
    await work();
    taken.push(performance.now() - begun);
  }
  return taken.sort((one, other) => one - other)[Math.floor(times / 2)]!;
}

async function rowsOf({ postgres, database }: Site): Promise<Record<string, number>> {
  const parts = tables.map((table) => `SELECT '${table}' AS name, count(*)::int AS rows FROM claudikins.${table}`);
  const found = await postgres.run(database, parts.join(" UNION ALL "));
  const counts = new Map(found.map(({ name, rows }) => [String(name), Number(rows)]));
  return Object.fromEntries(tables.map((table) => [table, counts.get(table) ?? 0]));
}

async function sizeOf({ postgres, database }: Site): Promise<number> {
  const [row] = await postgres.run(
    database,
    `SELECT sum(pg_total_relation_size(name))::float8 / 1e6 AS mb
     FROM unnest(ARRAY[${tables.map((table) => `'claudikins.${table}'`).join(", ")}]::regclass[]) AS name`,
  );
  return Number(row!["mb"]);
}

/** Rows of all tables that were read so far, with an index or without. */
async function rowsReadIn({ postgres, database }: Site): Promise<number> {
  const [row] = await postgres.run(
    database,
    "SELECT sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::float8 AS rows FROM pg_stat_user_tables WHERE schemaname = 'claudikins'",
  );
  return Number(row!["rows"]);
}

/** Gives each of the other people the rows of the first one, under ids of their own. */
async function multiply(site: Site): Promise<void> {
  const { postgres, database } = site;
  const own = site.personId(0);
  const digest = (kind: string) => `encode(sha256(convert_to('${kind} ' || id || ' ' || number, 'UTF8')), 'hex')`;
  for (const table of tables) {
    const isKnownByDigest = table === "sessions" || table === "kept_values";
    const changed = `replace(replace(row.json, '${own}', substr(md5(number::text), 1, 16)), '"${subjectOf(0)}"', '"p' || number || '"')::jsonb`;
    const made = isKnownByDigest
      ? `(SELECT ${changed} || jsonb_build_object('id', ${digest(table)}) FROM (SELECT row.json::jsonb ->> 'id' AS id) AS known)`
      : changed;
    await postgres.run(
      database,
      `INSERT INTO claudikins.${table} OVERRIDING SYSTEM VALUE
       SELECT (jsonb_populate_record(NULL::claudikins.${table}, ${made})).*
       FROM (SELECT to_jsonb(each)::text AS json FROM claudikins.${table} AS each) AS row, generate_series(1, ${knownPeople - 1}) AS number
       WHERE ${isKnownByDigest} OR row.json LIKE '%${own}%'`,
    );
  }
  await postgres.run(database, "ANALYZE");
}

async function roomOf({ postgres, database }: Site): Promise<Room> {
  await postgres.run(
    database,
    `INSERT INTO claudikins.pages SELECT 'execution ' || number / 53, number % 53, 1, decode(repeat('ab', ${pageBytes}), 'hex')
     FROM generate_series(0, ${storedPages - 1}) AS number`,
  );
  await using connection = new Bun.SQL(database, { max: 1 });
  const look = () => connection.unsafe(storedSize);
  await look();
  const lookMs = await medianOf(look);
  return { lookMs, corePercent: (100 * lookMs) / roomKnownMs };
}
