/** The user who decides, as the audit log names them. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { root } from "../../support/claudikins.ts";
import { runProgram } from "../../support/process.ts";

const program = `const { thisProcess } = await import(${JSON.stringify(join(root, "src", "store", "audit", "decider.ts"))});
  console.log(thisProcess().user);`;

test.skipIf(process.platform === "win32").each([
  ["without $USER, as in a service", {}],
  ["whatever $USER says", { USER: "mallory", LOGNAME: "mallory", USERNAME: "mallory" }],
])("the user is named by the system's list of users %s", async (_, env: Record<string, string>) => {
  const known = Bun.spawnSync(["id", "-un"]).stdout.toString().trim() || String(process.getuid?.());
  const ended = await runProgram([process.execPath, "-e", program], { env });
  expect(ended).toMatchObject({ exitCode: 0, stdout: `${known}\n` });
});
