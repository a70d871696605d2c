/** Opens the database and prints whether that worked. Arguments: its file. */
import { openDatabase } from "../../../src/store/sqlite/database.ts";

// All processes of the test begin at the same moment.
while (Date.now() < Number(process.argv[3])) await Bun.sleep(1);
const database = await openDatabase(process.argv[2] ?? "").catch((error: Error) => error.message);
console.log(typeof database === "string" ? database : "opened");
