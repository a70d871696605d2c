/** A program that writes entries to an audit log: the database, a name, and how many. */

import { thisProcess } from "../../../src/policy/audit/decider.ts";
import { record } from "../../../src/policy/audit/log.ts";

const [file = "", server = "", count = "1"] = process.argv.slice(2);
for (let call = 1; call <= Number(count); call++) {
  await record(file, { decision: "approved", server, tool: "merge", call }, thisProcess("command"));
}
