/**
 * `bun run scale [--without-transactions] [--json]`: measures what a piece of work writes into the database of a team, with a replica and a Postgres
 * that it starts, and prints the first table of docs/scale.md.
 */
import { parseArgs } from "node:util";
import { postgresNote } from "../../test/support/postgres.ts";
import { measurePieces } from "./pieces-of-work.ts";
import { tableOf } from "./table.ts";

const { values } = parseArgs({
  options: { "without-transactions": { type: "boolean", default: false }, json: { type: "boolean", default: false } },
});
if (postgresNote !== "") throw new Error(`the measurement needs Postgres${postgresNote}`);
const measured = await measurePieces({
  countsTransactions: !values["without-transactions"],
  report: (name) => console.error(`${(performance.now() / 1000).toFixed(0)} s: ${name}`),
});
console.log(values.json ? JSON.stringify(measured, null, 2) : tableOf(measured));
