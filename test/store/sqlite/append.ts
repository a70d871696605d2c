/** A program that writes entries to an audit log: the database, a name, and how many. */

import { thisProcess } from "../../../src/store/audit/decider.ts";
import { SqliteStore } from "../../../src/store/sqlite/store.ts";

const [file = "", server = "", count = "1"] = process.argv.slice(2);
await using store = new SqliteStore(file);
for (let call = 1; call <= Number(count); call++) {
  await store.audit.add([{ decision: "approved", server, tool: "merge", call }], thisProcess("command"));
}
