/** A program that writes entries to an audit log: the folder, a name, and how many. */

import { thisProcess } from "../../../src/policy/audit/decider.ts";
import { auditing } from "../../../src/policy/audit/log.ts";

const [folder = "", server = "", count = "1"] = process.argv.slice(2);
for (let call = 1; call <= Number(count); call++) {
  await auditing(folder, (write) =>
    write({ decision: "approved", server, tool: "merge", call }, thisProcess("command")),
  );
}
