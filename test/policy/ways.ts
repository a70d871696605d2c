/** Every way to call a tool, so that tests can show that none of them bypasses the policy. */

import type { App } from "../../src/app/app.ts";
import { callOnce } from "../../src/programs/call.ts";
import { call } from "../../src/programs/shell-call.ts";
import type { Recorded } from "./recorded.ts";

export interface Called {
  ok: boolean;
  code?: string | undefined;
  message?: string | undefined;
  hint?: string | undefined;
}

/** Calls the tool of `rec` with this name and these arguments. */
export type Way = (recorded: Recorded, tool: string, args?: object) => Promise<Called>;

const never = () => new AbortController().signal;

/** The tool's name in code. */
const js = (tool: string) => tool.replaceAll("-", "_");

const inCode =
  (source: (tool: string, args: string) => string): Way =>
  async (recorded, tool, args = {}) => {
    const outcome = await recorded.run(source(tool, JSON.stringify(args)));
    if (outcome.ok) return { ok: true };
    const { code, message, hint } = outcome.error;
    return { ok: false, code, message, hint };
  };

const byItself =
  (call: (app: App, tool: string, args: object) => Promise<unknown>): Way =>
  async ({ app }, tool, args = {}) => {
    try {
      await call(app, tool, args);
      return { ok: true };
    } catch (error) {
      const { code, message, hint } = error as Called;
      return { ok: false, code, message, hint };
    }
  };

export const ways: Record<string, Way> = {
  global: inCode((tool, args) => `return rec.${js(tool)}(${args})`),
  "global, original name": inCode((tool, args) => `return rec["${tool}"](${args})`),
  servers: inCode((tool, args) => `return servers.rec["${tool}"](${args})`),
  raw: inCode((tool, args) => `return rec.${js(tool)}.raw(${args})`),
  callTool: inCode((tool, args) => `return callTool("rec", "${tool}", ${args})`),
  __mcp_call: inCode((tool, args) => `return __mcp_call("rec__${js(tool)}", ${args})`),
  "import of a server": inCode(
    (tool, args) => `import { ${js(tool)} } from "./servers/rec"; return ${js(tool)}(${args})`,
  ),
  "import of a whole server": inCode(
    (tool, args) => `import * as all from "./servers/rec/index.ts"; return all.${js(tool)}(${args})`,
  ),
  "import of one tool": inCode(
    (tool, args) => `import { ${js(tool)} } from "./servers/rec/${js(tool)}.ts"; return ${js(tool)}(${args})`,
  ),
  "import of a generated file": inCode(
    (tool, args) => `import { ${js(tool)} } from "./registry/test/rec/${js(tool)}.ts"; return ${js(tool)}(${args})`,
  ),
  skill: inCode(
    (tool, args) => `await fs.mkdir("./workspace/skills", { recursive: true });
      await fs.writeFile("./workspace/skills/it.ts", 'export const it = (args: object) => rec.${js(tool)}(args);');
      const { it } = await import("./skills/it"); return it(${args})`,
  ),
  "generated code at run time": inCode(
    (tool, args) => `return new Function("rec", "return rec.${js(tool)}(${args.replaceAll('"', '\\"')})")(rec)`,
  ),
  // As the daemon does for a generated program (test/daemon/policy.test.ts runs one).
  daemon: byItself((app, tool, args) => callOnce({ server: "rec", tool, args: { ...args } }, app, never())),
  // As `claudikins call` does, in the daemon or by itself.
  call: byItself((app, tool, args) =>
    call({ target: `rec.${tool}`, given: [{ word: "{…}", object: { ...args } }] }, app, { signal: never() }),
  ),
  "call, in two words": byItself((app, tool, args) =>
    call({ target: "rec", tool, given: [{ word: "{…}", object: { ...args } }] }, app, {
      signal: never(),
    }),
  ),
  // As direct mode does (test/policy/hosts.test.ts has a host in that mode).
  "direct mode": byItself((app, tool, args) => app.pool.callTool("rec", tool, args)),
  "any request": byItself((app, tool, args) =>
    app.pool.request("rec", { method: "tools/call", params: { name: tool, arguments: args } }),
  ),
};
