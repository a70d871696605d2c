/**
 * `bun run team-trial [--seed n] [--people n] [--replicas n] [--pause ms] [--lock seconds] [--tables name,name] [--before file]`: the trial of a
 * platform engineer, in a fixed order. People work with official clients of all eras at replicas behind a balancer. First, all replicas are
 * replaced one after the other, and nobody may see an error. Then a replica stands still, each table of the database is locked, the database
 * restarts, and a person with an open request is revoked. Meanwhile small programs show whether each of these stays within its figure. At the
 * end, the call log has every call that the servers got. With `--before`, the first replicas are another executable, and the trial ends
 * when those of this checkout have taken their places. Exits with code 1 if anything was wrong.
 */
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { executable } from "../../../test/support/claudikins.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { httpServe } from "../../../test/support/http-serve.ts";
import { postgresFixture, postgresNote } from "../../../test/support/postgres.ts";
import { temporaryFolder } from "../../../test/support/temporary.ts";
import { feltTable } from "./canary.ts";
import { tableOf } from "./figures.ts";
import type { Disturbance } from "./plan.ts";
import { teamStorm } from "./storm.ts";

/** The jobs of programs that wait. A replica makes this table last. */
const lastTable = "claudikins_jobs.job";

/** Time from the beginning to the first replica that leaves, and from each to the next. */
const everyMs = 30_000;

/** Time from the end of a lock to the next one. Everything works again before. */
const restMs = 7_000;

/** Longer than the lease of a replica, which is 15 s. */
const freezeMs = 17_000;

/** The plan, and when the part without errors is over. Without `tables`, the replicas are only replaced. */
export function trialOf(replicas: number, tables: readonly string[] | undefined, lockMs: number) {
  const plan: Disturbance[] = [];
  let atMs = 10_000;
  const add = (kind: Disturbance["kind"], forMs: number, more: Partial<Disturbance> = {}) => {
    plan.push({ kind, atMs, forMs, which: 0, ...more });
    atMs += kind === "lock" ? forMs + restMs : everyMs;
  };
  // The oldest is the first. A new one is started after each.
  for (let number = 0; number < replicas; number++) add("drain", 0);
  const calmMs = atMs;
  if (tables === undefined) return { plan, calmMs, seconds: atMs / 1_000 };
  add("freeze", freezeMs);
  for (const table of tables) add("lock", lockMs, { table });
  add("restart of the database", 0);
  add("revoke", 0, { which: 0.5 });
  return { plan, calmMs, seconds: atMs / 1_000 };
}

/** All tables that a replica makes, with their schemas. */
async function tablesOfTeam(): Promise<string[]> {
  await using server = await postgresFixture();
  const database = await server.database();
  using folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: {} });
  await using _ = await httpServe(folder, [], { env: { CLAUDIKINS_DATABASE: database }, command: [executable()] });
  let names: string[] = [];
  await eventually(
    async () => {
      const rows = await server.run(
        database,
        `SELECT relnamespace::regnamespace || '.' || relname AS name FROM pg_class
         WHERE relkind IN ('r', 'p') AND NOT relispartition AND relnamespace::regnamespace::text LIKE 'claudikins%' ORDER BY 1`,
      );
      names = rows.map(({ name }) => String(name));
      return names.includes(lastTable);
    },
    { everyMs: 100 },
  );
  return names;
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "815" },
      people: { type: "string", default: "60" },
      replicas: { type: "string", default: "3" },
      pause: { type: "string", default: "150" },
      lock: { type: "string", default: "20" },
      tables: { type: "string" },
      before: { type: "string" },
    },
  });
  if (postgresNote !== "") throw new Error(`the trial needs Postgres${postgresNote}`);
  const { before, tables: chosen } = values;
  const [replicas, lockMs] = [Number(values.replicas), Number(values.lock) * 1_000];
  const trial = trialOf(replicas, before === undefined ? await lockedTables(chosen) : undefined, lockMs);
  const numbers = { seed: Number(values.seed), people: Number(values.people), pauseMs: Number(values.pause), replicas };
  const report = (line: string) => console.error(line);
  // The executable before may keep no call log.
  const judged = { hasAllCalls: before === undefined, isMeasured: true };
  const result = await teamStorm({
    ...{ ...numbers, ...trial, ...judged, isCalm: false, report },
    ...(before === undefined ? {} : { before: resolve(before) }),
  });
  const { wrong, errors, done, disturbances, felt } = result;
  console.log(JSON.stringify({ errors, done, disturbances, felt, examples: result.examples }, null, 2));
  console.error(tableOf([result]));
  console.error(feltTable(felt));
  for (const each of wrong) console.error(each);
  console.error(`seed ${values.seed}: ${wrong.length} wrong`);
  return wrong.length > 0 ? 1 : 0;
}

/** `chosen` has names of the schema `claudikins` or with another one, separated by commas. By default, all tables are locked. */
async function lockedTables(chosen: string | undefined): Promise<string[]> {
  if (chosen === undefined) return tablesOfTeam();
  return chosen.split(",").flatMap((name) => (name === "" ? [] : [name.includes(".") ? name : `claudikins.${name}`]));
}

if (import.meta.main) process.exitCode = await main();
