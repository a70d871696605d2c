/** The files that a project shares: their servers stay in the project, and nothing personal is written to them. */
import { beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ownFolder } from "../support/own-folder.ts";
import { shellLine } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { type CliOptions, cli } from "./in-memory.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
let cwd: string;
beforeEach(() => {
  cwd = join(folder.path, "code", "shop");
  mkdirSync(join(cwd, ".git"), { recursive: true });
  folder.write(".claude.json", { mcpServers: { mine: { command: "mine", env: { TOKEN: "s3cr3t-0815" } } } });
  folder.write("code/shop/.mcp.json", { mcpServers: { team: { command: "team-mcp", args: ["--root", "."] } } });
});

const run = (argv: string[], options: CliOptions = {}) =>
  cli(["init", "--no-start", ...argv], { cwd, ...options, env: { HOME: folder.path, ...options.env } });
const text = (...names: string[]) => readFileSync(join(folder.path, ...names), "utf8");
const json = (...names: string[]) => JSON.parse(text(...names));

test("init --project refuses to move a project's servers to the user's config", async () => {
  const before = [text(".claude.json"), text("code/shop/.mcp.json")];
  const { exitCode, stdout, stderr } = await run(["--project", "--apply"]);
  expect([exitCode, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(`${join(cwd, ".mcp.json")}: 1 server\n`);
  expect(stderr).toContain("claudikins init --project --config claudikins.json");
  expect([text(".claude.json"), text("code/shop/.mcp.json")]).toEqual(before);
  expect(existsSync(join(folder.path, ".config"))).toBe(false);
});

test("a project's servers go to its own claudikins.json, and the user's servers to the user's config", async () => {
  folder.write("code/shop/claudikins.json", '{\n  // ours\n  "mcpServers": {}\n}\n');
  const { exitCode, stderr } = await run(["--project", "--apply"]);
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("Commit the project's claudikins.json")]);
  expect(text("code/shop/claudikins.json")).toContain("// ours");
  expect(text("code/shop/claudikins.json")).not.toContain(folder.path);
  expect(json("code/shop/.mcp.json").mcpServers).toEqual({
    claudikins: { type: "stdio", command: "claudikins", args: ["serve"], env: {} },
  });
  expect(Object.keys(json(".config/claudikins/claudikins.json").mcpServers)).toEqual(["mine"]);
  // A teammate with another home and another checkout gets the servers.
  using other = temporaryFolder();
  other.write("work/claudikins.json", text("code/shop/claudikins.json"));
  const list = await cli(["list", "--json"], { cwd: join(other.path, "work"), env: { HOME: other.path } });
  expect(JSON.parse(list.stdout).servers.map(({ server }: { server: string }) => server)).toEqual(["team"]);
});

test("--config is relative to the current folder, and is written as a path relative to the project", async () => {
  folder.write("code/shop/deep/er/x", "");
  expect(
    (await run(["--project", "--apply", "--config", "../../config/mcp.json"], { cwd: join(cwd, "deep", "er") }))
      .exitCode,
  ).toBe(0);
  expect(json("code/shop/.mcp.json").mcpServers.claudikins.args).toEqual(["serve", "--config", "config/mcp.json"]);
  // Its cwd is relative to the config's folder.
  expect(json("code/shop/config/mcp.json").mcpServers.team).toEqual({
    command: "team-mcp",
    args: ["--root", "."],
    cwd: "..",
  });
});

test("a config outside the project is refused", async () => {
  const { exitCode, stderr } = await run(["--project", "--apply", "--config", "../mine.json"]);
  expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`is not in the project ${cwd}`)]);
  expect(json("code/shop/.mcp.json").mcpServers.claudikins).toBeUndefined();
});

test("no personal path, value or choice is written to files that a project shares", async () => {
  folder.write("code/shop/.env", "API_KEY=s3cr3t-4711\n");
  folder.write("code/shop/.vscode/mcp.json", {
    inputs: [{ id: "key", type: "promptString" }],
    servers: {
      tools: {
        command: "${workspaceFolder}/bin/tools",
        args: ["--in=${workspaceFolder}/a", "${userHome}/x"],
        cwd: "${workspaceFolder}/sub",
        envFile: "${workspaceFolder}/.env",
      },
      keyed: { type: "http", url: "https://x.example.com", headers: { "X-Key": "${input:key}" } },
      addressed: { command: "x", args: ["file://${workspaceFolder}/a"] },
    },
  });
  folder.write(".claude/settings.json", { disabledMcpjsonServers: ["team"] });
  const { exitCode, stdout, stderr } = await run(["--project", "--apply", "--json", "--config", "claudikins.json"]);
  expect([exitCode, stderr]).toEqual([0, ""]);
  expect(json("code/shop/claudikins.json").mcpServers).toEqual({
    tools: { command: "../bin/tools", args: ["--in=../a", "${HOME}/x"], env: { API_KEY: "${API_KEY:-}" }, cwd: "sub" },
    keyed: { type: "http", url: "https://x.example.com", headers: { "X-Key": "${KEY}" } },
  });
  expect(text("code/shop/claudikins.json")).not.toContain("s3cr3t");
  const { skipped } = JSON.parse(stdout);
  expect(skipped.map(({ name, why }: { name: string; why: string }) => [name, why])).toEqual([
    ["team", "you disabled it in Claude Code"],
    ["addressed", "it needs the absolute path of the project in file://${workspaceFolder}/a"],
  ]);
  expect(json("code/shop/.mcp.json").mcpServers.team).toEqual({ command: "team-mcp", args: ["--root", "."] });
});

test("a program of the project starts from any folder in which an agent runs", async () => {
  const { command, args } = fixture("odd");
  folder.write("code/shop/bin/server.sh", `#!/bin/sh\nexec ${shellLine([command, ...(args ?? [])])}\n`);
  chmodSync(join(cwd, "bin", "server.sh"), 0o755);
  folder.write("code/shop/.cursor/mcp.json", { mcpServers: { odd: { command: "${workspaceFolder}/bin/server.sh" } } });
  await run(["--project", "--apply", "--host", "cursor", "--config", "claudikins.json"]);
  expect(json("code/shop/claudikins.json").mcpServers.odd).toEqual({ command: "./bin/server.sh" });
  folder.write("code/shop/src/x", "");
  const list = await cli(["list", "--check", "--json"], { cwd: join(cwd, "src"), env: { HOME: folder.path } });
  expect(JSON.parse(list.stdout).servers[0]).toMatchObject({ server: "odd", state: "ready" });
});

test("a dry run starts no program of a repository", async () => {
  const mark = join(folder.path, "started");
  folder.write("code/shop/.mcp.json", { mcpServers: { hostile: { command: "touch", args: [mark] } } });
  const argv = ["init", "--project", "--dry-run", "--config", "claudikins.json"];
  expect((await cli(argv, { cwd, env: { HOME: folder.path } })).exitCode).toBe(0);
  expect([existsSync(mark), existsSync(join(cwd, "claudikins.json"))]).toEqual([false, false]);
});
