/** A new user's first day, from the installer to `restore`, with four agents that have servers and a session of one of them. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ListRootsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { Machine, Release } from "../install/harness.ts";
import { claudikinsCommand } from "../support/command.ts";
import { processesLeft, runProgram, shellLine } from "../support/process.ts";
import { everything, filesystem, fixture, memory, sequentialThinking } from "../support/servers.ts";

setDefaultTimeout(120_000);

const words = (...command: string[]) => shellLine(command);

/** The settings files of four agents, as the agents or people write them. */
function writeAgents(home: string, project: string): Record<string, string> {
  const claude = {
    numStartups: 41,
    installMethod: "native",
    mcpServers: {
      files: { type: "stdio", ...filesystem(project), env: {} },
      memory: { type: "stdio", ...memory(join(home, "claude-memory.jsonl")) },
      docs: { type: "http", url: "https://docs.example.com/mcp", headers: { Authorization: "Bearer ${DOCS_TOKEN}" } },
    },
    projects: {
      [project]: {
        allowedTools: [],
        mcpServers: { everything: { type: "stdio", ...everything() } },
        hasTrustDialogAccepted: true,
      },
    },
    oauthAccount: { emailAddress: "somebody@example.com" },
  };
  const { command, args, env } = memory(join(home, "cursor-memory.jsonl"));
  const thinking = sequentialThinking();
  const files: Record<string, string> = {
    ".claude.json": JSON.stringify(claude, null, 2),
    ".cursor/mcp.json": `{
  // the one that I use for notes
  "mcpServers": {
    "memory": { "command": "${command}", "args": ${JSON.stringify(args)}, "env": ${JSON.stringify(env)} }, // mine
  },
}
`,
    ".codex/config.toml": `model = "gpt-5" # the good one

[mcp_servers.thinking]
command = "${thinking.command}"
args = ${JSON.stringify(thinking.args)}
startup_timeout_sec = 20

[projects."${project}"]
trust_level = "trusted"
`,
    ".config/Code/User/mcp.json": JSON.stringify(
      {
        inputs: [{ type: "promptString", id: "shop-key", description: "Key of the shop", password: true }],
        servers: { shop: { type: "stdio", ...fixture("chatty"), env: { SHOP_KEY: "${input:shop-key}" } } },
      },
      null,
      "\t",
    ),
  };
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true });
    writeFileSync(join(home, name), text);
  }
  return files;
}

test("install, init, a session with an added server, stats and restore work in turn, and restore brings back every file", async () => {
  using machine = new Machine("claudikins-first-day-");
  const { home } = machine;
  const project = join(home, "code", "shop");
  mkdirSync(join(project, ".git"), { recursive: true });
  writeFileSync(join(project, "notes.txt"), "hello\n");
  writeFileSync(join(home, "private.txt"), "nobody's business\n");
  const before = writeAgents(home, project);
  const read = (name: string) => readFileSync(join(home, name), "utf8");
  const env = { HOME: home, XDG_CONFIG_HOME: "", XDG_DATA_HOME: "", XDG_CACHE_HOME: "", XDG_STATE_HOME: "" };
  const claudikins = (...argv: string[]) => runProgram([machine.program, ...argv], { cwd: project, env });

  // The installer prints the next steps.
  await using release = new Release(`#!/bin/sh\nexec ${words(...claudikinsCommand)} "$@"\n`);
  const installed = await machine.run({ env: { ...release.env, CLAUDIKINS_NO_DEMO: "1" } });
  expect([installed.code, installed.stderr]).toEqual([0, ""]);
  expect(installed.stdout).toEndWith("  ~/.local/bin/claudikins init\n  ~/.local/bin/claudikins restore\n");

  // The dry run writes nothing, and says what must be decided.
  const dry = await claudikins("init", "--dry-run");
  expect([dry.exitCode, dry.stdout]).toEqual([
    0,
    expect.stringContaining(`Codex (${join(home, ".codex/config.toml")}): 1 server\n`),
  ]);
  expect(dry.stdout).toMatch(/\n {2}memory\n {4}claude-code: .*\n {4}cursor: /);
  expect(dry.stderr).toContain("--keep-both");
  for (const [name, text] of Object.entries(before)) expect(read(name)).toBe(text);
  expect([existsSync(join(home, ".config/claudikins")), existsSync(join(home, ".local/share"))]).toEqual([
    false,
    false,
  ]);

  // After init, each server of each agent is in the config or is listed.
  const init = await claudikins(
    "init",
    "--apply",
    "--prefer",
    "claude-code",
    "--env",
    "SHOP_KEY=s3cr3t-0815",
    "--json",
  );
  expect([init.exitCode, init.stderr]).toEqual([0, ""]);
  const { servers, skipped, hosts } = JSON.parse(init.stdout);
  const named = (each: { server: string; tools?: number; needs: string[] }) => [
    each.server,
    (each.tools ?? 0) > 0,
    each.needs,
  ];
  expect(servers.map(named)).toEqual([
    ["files", true, []],
    ["everything", true, []],
    ["shop", true, []],
    ["thinking", true, []],
    ["memory", true, []],
    ["memory-cursor", true, []],
  ]);
  // A server that could not work here stays with its agent.
  expect(skipped).toMatchObject([{ host: "claude-code", name: "docs", why: expect.stringContaining("DOCS_TOKEN") }]);
  expect(hosts).toHaveLength(4);
  expect(init.stdout).toContain(`it was available only in ${project}`);
  expect(init.stdout).not.toContain("s3cr3t-0815");
  expect(JSON.parse(read(".config/claudikins/claudikins.json")).mcpServers.shop.env).toEqual({
    SHOP_KEY: "${secret:SHOP_KEY}",
  });

  // A session of Claude Code, started from the entry in its own file.
  const { command, args } = JSON.parse(read(".claude.json")).mcpServers.claudikins;
  const client = new Client({ name: "claude-code", version: "2" }, { capabilities: { roots: {} } });
  client.setRequestHandler(ListRootsRequestSchema, () => ({ roots: [{ uri: pathToFileURL(project).href }] }));
  const { PATH = "" } = process.env;
  await client.connect(
    new StdioClientTransport({ command, args, cwd: project, env: { PATH, CLAUDIKINS_DAEMON: "off", ...env } }),
  );
  const answer = async (name: string, given: object) => {
    const { content } = await client.callTool({ name, arguments: { ...given } });
    return (content as { text: string }[]).map(({ text }) => text).join("\n");
  };
  const run = (code: string) => answer("execute_code", { code });
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["search_tools", "execute_code"]);
  // The first call already uses the agent's roots.
  expect(await run(`await files.read_text_file({ path: ${JSON.stringify(join(home, "private.txt"))} })`)).toContain(
    "Access denied",
  );
  expect(await answer("search_tools", { query: "read a text file" })).toContain("files.read_text_file");
  const fact = (name: string) => `{ entities: [{ name: "${name}", entityType: "note", observations: ["x"] }] }`;
  expect(
    await run(`const { content } = await files.read_text_file({ path: ${JSON.stringify(join(project, "notes.txt"))} });
      await Promise.all([memory.create_entities(${fact("one")}), servers["memory-cursor"].create_entities(${fact("two")})]);
      return [content.trim(), (await everything.get_sum({ a: 2, b: 3 }))]`),
  ).toMatch(/hello[\s\S]*The sum of 2 and 3 is 5\./);
  expect([read("claude-memory.jsonl"), read("cursor-memory.jsonl")]).toEqual([
    expect.stringContaining("one"),
    expect.stringContaining("two"),
  ]);

  // A server that is added while the session runs.
  const odd = fixture("odd");
  const added = await claudikins("add", "odd", "--", odd.command, ...odd.args);
  expect([added.exitCode, added.stderr]).toEqual([0, ""]);
  expect(await run("return await odd.structured()")).toContain("answer");

  // Claude Code writes to its file in each session.
  const during = JSON.parse(read(".claude.json"));
  during.numStartups += 1;
  during.projects[join(home, "code", "new")] = { allowedTools: [], mcpServers: {} };
  writeFileSync(join(home, ".claude.json"), JSON.stringify(during, null, 2));
  await client.close();

  const stats = await claudikins("stats", "--json");
  expect(stats.exitCode).toBe(0);
  const { total, tools } = JSON.parse(stats.stdout);
  expect(total).toMatchObject({ sessions: 1, executions: 3, searches: 1, calls: 6, failures: 1 });
  const counted = tools.map(({ server, tool, calls }: { server: string; tool: string; calls: number }) => [
    `${server}.${tool}`,
    calls,
  ]);
  expect(Object.fromEntries(counted)).toEqual({
    "files.read_text_file": 2,
    "memory.create_entities": 1,
    "memory-cursor.create_entities": 1,
    "everything.get-sum": 1,
    "odd.structured": 1,
  });

  // Restore.
  const restored = await claudikins("restore");
  expect([restored.exitCode, restored.stderr]).toEqual([0, "Restart your agents to use their own servers again.\n"]);
  const { ".claude.json": claude = "", ...others } = before;
  for (const [name, text] of Object.entries(others)) expect(read(name)).toBe(text);
  const was = JSON.parse(claude);
  expect(JSON.parse(read(".claude.json"))).toEqual({
    ...was,
    numStartups: 42,
    projects: { ...was.projects, [join(home, "code", "new")]: { allowedTools: [], mcpServers: {} } },
  });
  expect(await processesLeft(home)).toEqual([]);
});
