/**
 * The real Codex, without a person and with a scripted model, calls `execute_code`. Codex takes 300 MB, so it is not a dependency. It is
 * installed from npm for this test, or taken from `TEST_HOSTS`, a folder in which the package was installed.
 */
import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable } from "../support/claudikins.ts";
import { processesLeft, runProgram } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

const given = process.env["TEST_HOSTS"];
const hosts = given ?? mkdtempSync(join(tmpdir(), "claudikins-codex-"));
const codex = join(hosts, "node_modules", ".bin", "codex");
afterAll(() => {
  if (given === undefined) rmSync(hosts, { recursive: true, force: true });
});
const problem = await problemOfCodex();
if (problem !== undefined) console.log(`(skipped: Codex cannot run here: ${problem})`);

/** Why the program is not there, or does not run; undefined if it does. */
async function problemOfCodex(): Promise<string | undefined> {
  const env = { HOME: hosts, CODEX_HOME: hosts };
  if (!existsSync(codex)) {
    writeFileSync(join(hosts, "package.json"), "{}");
    const command = [process.execPath, "add", "--exact", "--ignore-scripts", "@openai/codex@0.169.0"];
    const added = await runProgram(command, { cwd: hosts, env });
    if (added.exitCode !== 0) return added.stderr.trim().split("\n").at(-1);
  }
  const { exitCode, stderr } = await runProgram([codex, "--version"], { cwd: hosts, env });
  return exitCode === 0 ? undefined : stderr.trim();
}

let folder: TemporaryFolder;
let model: ReturnType<typeof scriptedModel>;
beforeEach(() => {
  folder = temporaryFolder();
  for (const name of ["home/.codex", "work"]) mkdirSync(join(folder.path, name), { recursive: true });
  model = scriptedModel("return 6 * 7");
});
afterEach(async () => {
  await model.stop();
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

interface Item {
  type: string;
  output?: unknown;
}

/** A Responses API whose model calls `execute_code` of claudikins once, and then ends. */
function scriptedModel(code: string) {
  const outputs: unknown[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      if (!request.url.endsWith("/responses")) return Response.json({ data: [], models: [] });
      const { input } = (await request.json()) as { input: Item[] };
      const answers = input.filter(({ type }) => type === "function_call_output");
      outputs.push(...answers.map(({ output }) => output));
      const call = { call_id: "call_1", namespace: "mcp__claudikins", name: "execute_code" };
      const item =
        answers.length === 0
          ? { type: "function_call", id: "fc_1", ...call, arguments: JSON.stringify({ code }) }
          : { type: "message", id: "msg_1", role: "assistant", content: [{ type: "output_text", text: "Done." }] };
      const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
      const events = [
        { type: "response.created", response: { id: "resp_1" } },
        { type: "response.output_item.done", output_index: 0, item },
        { type: "response.completed", response: { id: "resp_1", usage } },
      ];
      const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
      return new Response(text, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return { url: `http://127.0.0.1:${server.port}/v1`, outputs, stop: () => server.stop(true) };
}

const settings = () => join(folder.path, "home", ".codex", "config.toml");

/** Settings with the scripted model, and more lines. */
function writeSettings(more: string): void {
  const provider = `name = "scripted"\nbase_url = "${model.url}"\nwire_api = "responses"\nrequires_openai_auth = false\n`;
  const text = `model = "m"\nmodel_provider = "scripted"\n\n[model_providers.scripted]\n${provider}\n${more}`;
  writeFileSync(settings(), text);
}

function run(command: string[]) {
  const home = join(folder.path, "home");
  const xdg = ["CONFIG", "DATA", "CACHE", "STATE"].map((name) => [`XDG_${name}_HOME`, join(home, `xdg-${name}`)]);
  const env = { HOME: home, CODEX_HOME: join(home, ".codex"), CLAUDIKINS_DAEMON: "off", ...Object.fromEntries(xdg) };
  return runProgram(command, { cwd: join(folder.path, "work"), env });
}

/** What the model got from the tool. */
async function executed(): Promise<string> {
  const { exitCode, stderr } = await run([codex, "exec", "--strict-config", "--skip-git-repo-check", "go"]);
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
