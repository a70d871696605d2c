/** The real Codex, without a person and with a scripted model, calls `execute_code`. */
import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import {
  type CodexModel,
  codexCommand,
  codexModel,
  codexSettings,
  problemOfCodex,
  removeCodex,
} from "../support/codex.ts";
import { processesLeft, runProgram } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

afterAll(removeCodex);
const problem = await problemOfCodex();
if (problem !== undefined) console.log(`(skipped: Codex cannot run here: ${problem})`);

let folder: TemporaryFolder;
let model: CodexModel;
beforeEach(() => {
  folder = temporaryFolder();
  for (const name of ["home/.codex", "work"]) mkdirSync(join(folder.path, name), { recursive: true });
  model = codexModel(["return 6 * 7"]);
});
afterEach(async () => {
  await model[Symbol.asyncDispose]();
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

const settings = () => join(folder.path, "home", ".codex", "config.toml");

const writeSettings = (more: string) => writeFileSync(settings(), codexSettings(model, more));

function run(command: readonly string[]) {
  const home = join(folder.path, "home");
  const xdg = ["CONFIG", "DATA", "CACHE", "STATE"].map((name) => [`XDG_${name}_HOME`, join(home, `xdg-${name}`)]);
  const env = { HOME: home, CODEX_HOME: join(home, ".codex"), CLAUDIKINS_DAEMON: "off", ...Object.fromEntries(xdg) };
  return runProgram([...command], { cwd: join(folder.path, "work"), env });
}

/** What the model got from the tool. */
async function executed(): Promise<string> {
  const { exitCode, stderr } = await run(codexCommand);
  expect([exitCode, stderr]).toEqual([0, expect.any(String)]);
  return JSON.stringify(model.outputs);
}

describe.skipIf(problem !== undefined)("codex exec", () => {
  test("runs execute_code with the entry that init writes, and its config is valid for Codex", async () => {
    writeSettings('[mcp_servers.memory]\ncommand = "memory-mcp"\n');
    const init = await run([executable(), "init", "--apply", "--no-start", "--host", "codex"]);
    expect([init.exitCode, init.stderr]).toEqual([0, expect.stringContaining("note: Codex will run the tools")]);
    const { mcp_servers } = Bun.TOML.parse(readFileSync(settings(), "utf8")) as { mcp_servers: object };
    expect(Object.keys(mcp_servers)).toEqual(["claudikins"]);
    expect(await executed()).toContain("42");
  });

  test("cancels execute_code without the line that init writes, and doctor says so", async () => {
    writeSettings(`[mcp_servers.claudikins]\ncommand = ${JSON.stringify(executable())}\nargs = ["serve"]\n`);
    expect(await executed()).toContain("requires approval");
    const doctor = await run([executable(), "doctor", "--no-servers"]);
    expect(doctor.stdout).toContain("asks before each execute_code, and codex exec cancels it");
    expect(doctor.stdout).toContain('add default_tools_approval_mode = "approve" to the entry of claudikins');
  });
});
