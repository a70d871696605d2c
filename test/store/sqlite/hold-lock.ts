/** Locks a database, says so, and unlocks it a moment after it was told to. Arguments: its file. */
import { Database } from "bun:sqlite";

const database = new Database(process.argv[2] ?? "", { create: true });
database.run("BEGIN EXCLUSIVE");
console.log("locked");
for await (const _ of Bun.stdin.stream()) break;
// Long enough for the other process to meet the lock. If it is slower than that, the test passes without having met it.
await Bun.sleep(300);
database.run("COMMIT");
