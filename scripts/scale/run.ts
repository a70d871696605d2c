/**
 * `bun run scale [--without-transactions] [--only work|people] [--json]`: measures what a piece of work writes into the database of a team, and what
 * people cost who are only known, with replicas and a Postgres that it starts. Prints two tables of docs/scale.md.
 */
import { parseArgs } from "node:util";
import { postgresNote } from "../../test/support/postgres.ts";
import { measurePeople } from "./known-people.ts";
import { measurePieces } from "./pieces-of-work.ts";
import { peopleTableOf, tableOf } from "./table.ts";

const { values } = parseArgs({
  options: {
    "without-transactions": { type: "boolean", default: false },
    only: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
if (postgresNote !== "") throw new Error(`the measurement needs Postgres${postgresNote}`);
const report = (name: string) => console.error(`${(performance.now() / 1000).toFixed(0)} s: ${name}`);
const work =
  values.only === "people"
    ? undefined
    : await measurePieces({ countsTransactions: !values["without-transactions"], report });
const people = values.only === "work" ? undefined : await measurePeople(report);
if (values.json) console.log(JSON.stringify({ work, people }, null, 2));
else {
  if (work) console.log(tableOf(work));
  if (people) console.log(`\n${peopleTableOf(people)}`);
}
