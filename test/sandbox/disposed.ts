/** Disposes a sandbox whose execution is still being parsed. The process ends by itself if no worker is left. */
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { someLimits } from "./some-limits.ts";

const sandbox = new Sandbox();
const execution = sandbox.run("return 'done'", {
  bindings: { namespaces: [], call: async () => ({ json: "1" }) },
  limits: someLimits({ timeoutMs: 60_000, memoryBytes: 32 * 1_048_576 }),
  mounts: { workspace: "/nowhere/workspace", registry: "/nowhere/registry" },
  check: "off",
});
sandbox[Symbol.dispose]();
const outcome = await execution;
console.log(outcome.ok && outcome.value);
