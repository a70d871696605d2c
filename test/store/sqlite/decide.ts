/** A program that decides each approval of a database as fast as it can, and prints the ids that it decided. */
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { ApprovalRows } from "./rows.ts";

const [file = "", by = ""] = process.argv.slice(2);
const store = new ApprovalRows(await openDatabase(file));
const decision =
  by === "page" ? ({ state: "denied", by } as const) : ({ state: "approved", scope: "once", by: "command" } as const);
const mine = store.list().flatMap(({ id }) => store.decide(id, decision, 1_500));
console.log(JSON.stringify(mine.map(({ id }) => id)));
store.close();
