/**
 * The plugin and the bundle in the agents themselves: validated by their own tools, installed into an empty home, and connected. The
 * agents take 900 MB, so they are not dependencies. They are installed from npm for this test, or taken from `TEST_HOSTS`, a folder in
 * which the packages below were installed.
 */
import { afterAll, afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { bundleOf } from "../../scripts/plugins/bundle.ts";
import { pluginFiles } from "../../scripts/plugins/plugin-files.ts";
import { archive } from "../../scripts/release/archive.ts";
import { version } from "../../src/base/version.ts";
import { platformOf } from "../../src/setup/upgrade/platforms.ts";
import { executable, root } from "../support/claudikins.ts";
import { type Ended, processesLeft, runProgram } from "../support/process.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

const packages = [
  "@anthropic-ai/claude-code@2.1.330",
  "@openai/codex@0.169.0",
  "@google/gemini-cli@0.61.0",
  "@anthropic-ai/mcpb@2.1.2",
];

const hosts = process.env["TEST_HOSTS"] ?? mkdtempSync(join(tmpdir(), "claudikins-hosts-"));
afterAll(() => {
  if (process.env["TEST_HOSTS"] === undefined) rmSync(hosts, { recursive: true, force: true });
});
const problem = await installProblem();
if (problem !== undefined) console.log(`(skipped: the agents cannot be installed from npm: ${problem})`);

/** Why the agents are not there; undefined if they are. */
async function installProblem(): Promise<string | undefined> {
  if (existsSync(join(hosts, "node_modules"))) return undefined;
  writeFileSync(join(hosts, "package.json"), "{}");
  const command = [process.execPath, "add", "--exact", "--ignore-scripts", ...packages];
  const { exitCode, stderr } = await runProgram(command, { cwd: hosts, env: { HOME: hosts } });
  return exitCode === 0 ? undefined : (stderr.trim().split("\n").at(-1) ?? "");
}

let folder: TemporaryFolder;
let env: Record<string, string>;
let project: string;
beforeEach(() => {
  folder = temporaryFolder();
  // The agents keep their settings in the home, and find claudikins and npx in one folder.
  const [home, bin] = [join(folder.path, "home"), join(folder.path, "bin")];
  project = join(folder.path, "project");
  for (const each of [home, bin, project]) mkdirSync(each);
  symlinkSync(executable(), join(bin, "claudikins"));
  const npx = folder.write("bin/npx", '#!/bin/sh\n[ "$1 $2 $3" = "--prefix / -y" ] && shift 3 && exec "$@"\n');
  chmodSync(npx, 0o755);
  env = { HOME: home, PATH: `${bin}:${process.env["PATH"]}`, CODEX_HOME: join(home, ".codex"), ...xdg(home) };
});
afterEach(async () => {
  expect(await processesLeft(folder.path)).toEqual([]);
  folder[Symbol.dispose]();
});

function xdg(home: string): Record<string, string> {
  const names = ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"];
  return Object.fromEntries(names.map((name) => [name, join(home, name)]));
}

const programOf = (name: string) => join(hosts, "node_modules", ".bin", name);

/** Runs an agent's program in the project, and expects that it succeeds. */
async function run(name: string, ...args: string[]): Promise<Ended> {
  const ended = await runProgram([programOf(name), ...args], { cwd: project, env });
  expect({ ...ended, command: [name, ...args] }).toMatchObject({ exitCode: 0 });
  return ended;
}

/** The part of the repository that shops read. */
function marketplace(): string {
  const copy = join(folder.path, "repository");
  for (const name of [".claude-plugin", "deploy", "README.md", "LICENSE"]) {
    cpSync(join(root, name), join(copy, name), { recursive: true });
  }
  return copy;
}

describe.skipIf(problem !== undefined)("the plugin", () => {
  test("is valid for Claude Code and its directory, and connects", async () => {
    const repository = marketplace();
    const plugin = join(repository, "deploy", "plugin");
    for (const path of [repository, plugin]) await run("claude", "plugin", "validate", "--strict", path);
    await run("claude", "plugin", "validate", "--profile", "directory", plugin);
    await run("claude", "plugin", "install", "claudikins", "--marketplace", repository);
    const details = await run("claude", "plugin", "details", "claudikins");
    expect(details.stdout).toContain("Skills (2)  claudikins, setup");
    expect(details.stdout).toContain("MCP servers (1)  claudikins");
    const { stdout } = await run("claude", "mcp", "list");
    expect(stdout).toMatch(/^plugin:claudikins:claudikins: .*\/bin\/claudikins serve - ✔ Connected$/m);

    // doctor and init see the same.
    const doctor = await runProgram([executable(), "doctor", "--no-servers", "--json"], { cwd: project, env });
    const messages = JSON.parse(doctor.stdout).findings.map(({ message }: { message: string }) => message);
    expect(messages).toContain("Claude Code starts claudikins by its plugin");
    await run("claude", "mcp", "add", "--scope", "user", "memory", "--", "memory-mcp");
    const init = await runProgram([executable(), "init", "--apply", "--no-start"], { cwd: project, env });
    expect(init.exitCode).toBe(0);
    const after = await run("claude", "mcp", "list");
    expect(after.stdout.match(/^.*: .* - .*$/gm)).toEqual([expect.stringContaining("plugin:claudikins:claudikins")]);
  });

  test("connects in Codex, and gives way to an entry of init", async () => {
    const repository = marketplace();
    mkdirSync(env["CODEX_HOME"] ?? "");
    await run("codex", "plugin", "marketplace", "add", repository);
    await run("codex", "plugin", "add", "claudikins@claudikins");
    const listed = async () => JSON.parse((await run("codex", "mcp", "list", "--json")).stdout);
    expect(await listed()).toMatchObject([
      { name: "claudikins", enabled: true, transport: { command: "npx", cwd: null } },
    ]);
    const [server] = await codexServers();
    expect([server?.pluginId, Object.keys(server?.tools ?? {}).sort()]).toEqual([
      "claudikins@claudikins",
      ["execute_code", "search_tools"],
    ]);
    const skill = join(
      env["CODEX_HOME"] ?? "",
      "plugins/cache/claudikins/claudikins",
      version,
      "skills/claudikins/SKILL.md",
    );
    expect(existsSync(skill)).toBe(true);

    const init = await runProgram([executable(), "init", "--apply", "--no-start", "--host", "codex"], {
      cwd: project,
      env,
    });
    expect(init.exitCode).toBe(0);
    expect(await listed()).toMatchObject([{ name: "claudikins", transport: { command: executable() } }]);
  });

  test("is valid for Gemini CLI as it is in a release, and connects", async () => {
    const extension = join(folder.path, "extension");
    mkdirSync(extension);
    writeFileSync(join(folder.path, "extension.tar.gz"), await archive(pluginFiles()));
    await runProgram(["tar", "-xzf", "extension.tar.gz", "-C", "extension"], { cwd: folder.path });
    // Gemini CLI asks about folders that are not trusted, even without a terminal.
    const trusted = Object.fromEntries([extension, project].map((each) => [each, "TRUST_FOLDER"]));
    folder.write("home/.gemini/trustedFolders.json", trusted);
    await run("gemini", "extensions", "validate", extension);
    await run("gemini", "extensions", "install", extension, "--consent");
    const { stdout, stderr } = await run("gemini", "mcp", "list");
    expect(stdout + stderr).toMatch(/claudikins \(from claudikins\): .*\/bin\/claudikins serve \(stdio\) - Connected/);
    expect(existsSync(join(env["HOME"] ?? "", ".gemini/extensions/claudikins/skills/claudikins/SKILL.md"))).toBe(true);
    expect(existsSync(join(env["HOME"] ?? "", ".gemini/extensions/claudikins/commands/claudikins/setup.toml"))).toBe(
      true,
    );
  });
});

interface CodexServer {
  pluginId: string;
  tools: object;
}

/** What Codex says about its servers, after it has started them. */
async function codexServers(): Promise<CodexServer[]> {
  await using codex = Bun.spawn([programOf("codex"), "app-server"], {
    cwd: project,
    env: { ...env, NO_COLOR: "1" },
    stdin: "pipe",
    stdout: "pipe",
    stderr: "ignore",
  });
  const clientInfo = { name: "test", title: "test", version: "1" };
  codex.stdin.write(
    [
      { id: 1, method: "initialize", params: { clientInfo } },
      { method: "initialized" },
      { id: 2, method: "mcpServerStatus/list", params: {} },
    ]
      .map((message) => `${JSON.stringify(message)}\n`)
      .join(""),
  );
  codex.stdin.flush();
  let text = "";
  for await (const chunk of codex.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    const answer = text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line))
      .find(({ id }) => id === 2);
    if (answer) return answer.result.data;
  }
  throw new Error(`Codex ended: ${text}`);
}

test.skipIf(problem !== undefined)("the bundle is valid, and starts as its manifest says", async () => {
  const platform = platformOf(process)!;
  const bundle = join(folder.path, "claudikins.mcpb");
  writeFileSync(bundle, bundleOf(platform, await Bun.file(executable()).bytes(), version));
  const unpacked = join(folder.path, "unpacked");
  await run("mcpb", "unpack", bundle, unpacked);
  await run("mcpb", "validate", join(unpacked, "manifest.json"));
  await run("mcpb", "info", bundle);

  const { server } = await Bun.file(join(unpacked, "manifest.json")).json();
  const { command, args } = server.mcp_config;
  const client = new Client({ name: "test", version: "1" });
  const program = command.replace("${__dirname}", unpacked);
  await client.connect(new StdioClientTransport({ command: program, args, env, cwd: project, stderr: "ignore" }));
  const { tools } = await client.listTools();
  await client.close();
  expect(tools.map(({ name }) => name)).toEqual(["search_tools", "execute_code"]);
  // Their packer takes the same files. It compresses slowly, so it gets a small program.
  writeFileSync(program, "small");
  await run("mcpb", "pack", unpacked, join(folder.path, "again.mcpb"));
});
