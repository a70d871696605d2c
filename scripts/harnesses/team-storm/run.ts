/**
 * `bun run team-storm [--seed n] [--seconds n] [--people n] [--replicas n,n] [--pause ms] [--calm] [--report file]`: people work with several
 * replicas of `serve --http` at one Postgres, behind a balancer, while replicas and the database fail. `--calm` is without failures. `--pause` is the mean
 * pause of a person between two activities, for each person: less is more work. Several numbers of replicas are measured one after the other. Exits with code 1 if anything was wrong.
 */
import { writeFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { postgresNote } from "../../../test/support/postgres.ts";
import { type StormResult, tableOf } from "./figures.ts";
import { teamStorm } from "./storm.ts";

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      seconds: { type: "string", default: "600" },
      people: { type: "string", default: "200" },
      replicas: { type: "string", default: "3" },
      pause: { type: "string", default: "150" },
      calm: { type: "boolean", default: false },
      report: { type: "string" },
    },
  });
  if (postgresNote !== "") throw new Error(`the storm needs Postgres${postgresNote}`);
  const { seed, seconds, people, replicas, pause, calm: isCalm, report } = values;
  const results: StormResult[] = [];
  for (const each of replicas.split(",")) {
    const numbers = { seed: Number(seed), seconds: Number(seconds), people: Number(people), pauseMs: Number(pause) };
    const options = { ...numbers, replicas: Number(each) };
    console.error(`seed ${seed}: ${each} replicas`);
    results.push(await teamStorm({ ...options, isCalm, report: (line) => console.error(line) }));
  }
  console.log(JSON.stringify(results, null, 2));
  if (report !== undefined) writeFileSync(report, `${JSON.stringify(results, null, 2)}\n`);
  console.error(tableOf(results));
  const wrong = results.flatMap((result) => result.wrong);
  for (const each of wrong) console.error(each);
  console.error(`seed ${seed}: ${wrong.length} wrong`);
  return wrong.length > 0 ? 1 : 0;
}

if (import.meta.main) process.exitCode = await main();
