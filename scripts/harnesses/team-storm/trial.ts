/**
 * `bun run team-trial [--seed n] [--people n] [--replicas n] [--pause ms] [--lock seconds] [--tables name,name]`: the trial of a platform engineer, in a fixed order. People work
 * with official clients of all eras at replicas behind a balancer. First, all replicas are replaced one after the other, and nobody may see
 * an error. Then a replica stands still, each table of the database is locked, the database restarts, and a person with an open request is
 * revoked. At the end, the call log has every call that the servers got. Exits with code 1 if anything was wrong.
 */
import { parseArgs } from "node:util";
import { postgresNote } from "../../../test/support/postgres.ts";
import { tableOf } from "./figures.ts";
import type { Disturbance } from "./plan.ts";
import { teamStorm } from "./storm.ts";

/** Tables that requests of agents read or write. */
const usualTables = ["sessions", "owners", "executions", "people", "call_log", "records", "approvals", "files"];

/** Time from the beginning to the first replica that leaves, and from each to the next. */
const everyMs = 30_000;

/** Longer than the lease of a replica, which is 15 s. */
const freezeMs = 17_000;

/** The plan, and when the part without errors is over. */
export function trialOf(replicas: number, tables: readonly string[], lockMs: number) {
  const plan: Disturbance[] = [];
  let atMs = 10_000;
  const add = (kind: Disturbance["kind"], forMs: number, more: Partial<Disturbance> = {}) => {
    plan.push({ kind, atMs, forMs, which: 0, ...more });
    atMs += Math.max(everyMs, forMs + 10_000);
  };
  // The oldest is the first. A new one is started after each.
  for (let number = 0; number < replicas; number++) add("drain", 0);
  const calmMs = atMs;
  add("freeze", freezeMs);
  for (const table of tables) add("lock", lockMs, { table });
  add("restart of the database", 0);
  add("revoke", 0, { which: 0.5 });
  return { plan, calmMs, seconds: atMs / 1_000 };
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "815" },
      people: { type: "string", default: "60" },
      replicas: { type: "string", default: "3" },
      pause: { type: "string", default: "150" },
      lock: { type: "string", default: "20" },
      tables: { type: "string", default: usualTables.join(",") },
    },
  });
  if (postgresNote !== "") throw new Error(`the trial needs Postgres${postgresNote}`);
  const [replicas, lockMs] = [Number(values.replicas), Number(values.lock) * 1_000];
  const tables = values.tables === "" ? [] : values.tables.split(",");
  const trial = trialOf(replicas, tables, lockMs);
  const numbers = { seed: Number(values.seed), people: Number(values.people), pauseMs: Number(values.pause), replicas };
  const report = (line: string) => console.error(line);
  const result = await teamStorm({ ...numbers, ...trial, isCalm: false, hasAllCalls: true, report });
  const { wrong, errors, done, disturbances } = result;
  console.log(JSON.stringify({ errors, done, disturbances, examples: result.examples }, null, 2));
  console.error(tableOf([result]));
  for (const each of wrong) console.error(each);
  console.error(`seed ${values.seed}: ${wrong.length} wrong`);
  return wrong.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
