/** A program that writes entries to an audit log: the database, a name, and how many. */

import { thisProcess } from "../../../src/store/audit/decider.ts";
import { record } from "../../../src/store/sqlite/audit.ts";

const [file = "", server = "", count = "1"] = process.argv.slice(2);
for (let call = 1; call <= Number(count); call++) {
  await record(file, [{ decision: "approved", server, tool: "merge", call }], thisProcess("command"));
}
