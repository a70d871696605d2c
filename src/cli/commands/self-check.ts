/** `claudikins self-check`: `claudikins upgrade` lets a new executable prove itself with it before it takes the place of another one. */

import { ClaudikinsError } from "../../base/errors.ts";
import { record, text, texts } from "../../base/json-shape.ts";
import { buildMark } from "../../base/program-format.ts";
import { version } from "../../base/version.ts";
import { inEmptyHome } from "../../setup/upgrade/proof.ts";
import { command } from "../command.ts";
import { unreadableStores } from "../doctor/unreadable-stores.ts";
import { appOf } from "../open-app.ts";
import { outcomeError } from "../output/report.ts";

/** One call of the demo server, which is a process of this executable, and the arithmetic of the sandbox. */
const program = "const { total } = await demo.list_orders(); return total > 0 ? [1, 2, 3].map((n) => n * 2) : total";

export default command({
  description: "Run a small program that calls the demo server, without a daemon and without the user's config.",
  args: {},
  examples: ["claudikins self-check --json"],
  json: record({ version: text, engine: text, unreadable: texts }),
  async run(_, io) {
    const unreadable = await unreadableStores(io.env);
    return inEmptyHome(io.env, async (env) => {
      const cwd = env["HOME"] ?? io.cwd;
      const { loadConfig } = await import("../../config/load.ts");
      const config = await loadConfig({ demo: true, cwd, env });
      await using app = await appOf(config, { ...io, env, cwd }, { cwd, logs: undefined });
      const executions = await app.executions();
      const outcome = await executions.start({ source: program, signal: io.interrupted }, app).outcome;
      if (!outcome.ok) throw outcomeError(outcome);
      if (JSON.stringify(outcome.value) !== "[2,4,6]") {
        throw new ClaudikinsError("UNEXPECTED", "The program returned something else");
      }
      const json = { version, engine: buildMark, unreadable };
      return { json, text: `claudikins ${version} works\n` };
    });
  },
});
