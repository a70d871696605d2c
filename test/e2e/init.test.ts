/** A new user with six servers in Claude Code: init in a fresh home, a session, and restore. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { executable, root } from "../support/claudikins.ts";
import { processesLeft, runProgram } from "../support/process.ts";
import { everything, filesystem, fixture, memory, sequentialThinking } from "../support/servers.ts";
import { temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(120_000);

test("init --apply imports six servers of Claude Code, and the agent's first search and execution use them", async () => {
  using folder = temporaryFolder();
  const mark = join(folder.path, "memory.jsonl");
  folder.write("project/notes.txt", "hello\n");
  const settings = {
    numStartups: 3,
    mcpServers: {
      everything: { type: "stdio", ...everything() },
      files: filesystem(join(folder.path, "project")),
      memory: { ...memory(mark), type: "stdio" },
      thinking: sequentialThinking(),
      odd: fixture("odd"),
      docs: { type: "http", url: "https://docs.example.com/mcp", headers: { Authorization: "Bearer ${DOCS_TOKEN}" } },
    },
    tipsHistory: { "new-user-warmup": 1 },
  };
  const file = folder.write(".claude.json", settings);
  const before = readFileSync(file);
  const cwd = join(folder.path, "project");
  // Without the home of this test run.
  const env = { HOME: folder.path, XDG_CONFIG_HOME: "", XDG_DATA_HOME: "", XDG_CACHE_HOME: "", XDG_STATE_HOME: "" };
  const claudikins = (...argv: string[]) => runProgram([executable(), ...argv], { cwd, env });

  const init = await claudikins("init", "--apply");
  expect([init.exitCode, init.stderr]).toEqual([0, expect.stringContaining(`Changed claude-code: ${file}\n`)]);
  expect(init.stderr).toMatch(
    /\n\d+ tools of 5 servers: about [\d,]+ tokens of definitions \(estimated\)\. With claudikins: at most 725\.\n/,
  );
  const { mcpServers, ...rest } = JSON.parse(readFileSync(file, "utf8"));
  const { mcpServers: _, ...was } = settings;
  expect(rest).toEqual(was);
  const own = { type: "stdio", command: executable(), args: ["serve"], env: {} };
  // It needs a variable that is not set, so that it stays.
  expect(mcpServers).toEqual({ docs: settings.mcpServers.docs, claudikins: own });

  // What Claude Code does with the entry.
  const client = new Client({ name: "claude-code", version: "2" });
  const { PATH = "" } = process.env;
  await client.connect(
    new StdioClientTransport({
      command: own.command,
      args: own.args,
      cwd,
      env: { PATH, CLAUDIKINS_DAEMON: "off", ...env },
    }),
  );
  const text = async (name: string, args: object) => {
    const { content } = await client.callTool({ name, arguments: { ...args } });
    return (content as { text: string }[])[0]?.text ?? "";
  };
  expect(await text("search_tools", { query: "read a text file" })).toContain("files.read_text_file");
  const code = `const { content } = await files.read_text_file({ path: ${JSON.stringify(join(cwd, "notes.txt"))} });
    return [content.trim(), await everything.get_sum({ a: 2, b: 3 })]`;
  expect(await text("execute_code", { code })).toMatch(/hello[\s\S]*The sum of 2 and 3 is 5\./);
  await client.close();

  expect(await claudikins("restore")).toEqual({
    exitCode: 0,
    stdout: `Restored claude-code: ${file}\n`,
    stderr: "Restart your agents to use their own servers again.\n",
  });
  expect(readFileSync(file).equals(before)).toBe(true);
  expect(await processesLeft(mark)).toEqual([]);
});

test("two concurrent inits lose nothing: one does the work, the other finds it done", async () => {
  using folder = temporaryFolder();
  const servers = Object.fromEntries(Array.from({ length: 6 }, (_, place) => [`s${place}`, { command: `c${place}` }]));
  for (const path of [
    ".claude.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".codeium/windsurf/mcp_config.json",
  ]) {
    folder.write(path, { mcpServers: servers });
  }
  const env = { HOME: folder.path, XDG_CONFIG_HOME: "", XDG_DATA_HOME: "" };
  const program = [process.execPath, join(root, "src", "main.ts"), "init", "--apply", "--no-start"];
  const run = () => runProgram(program, { cwd: folder.path, env });
  const ended = await Promise.all([run(), run(), run()]);
  expect(ended.some(({ exitCode }) => exitCode === 0)).toBe(true);
  for (const path of [
    ".claude.json",
    ".cursor/mcp.json",
    ".gemini/settings.json",
    ".codeium/windsurf/mcp_config.json",
  ]) {
    const { mcpServers } = JSON.parse(readFileSync(join(folder.path, path), "utf8"));
    expect(Object.keys(mcpServers)).toEqual(["claudikins"]);
  }
  const config = JSON.parse(readFileSync(join(folder.path, ".config", "claudikins", "claudikins.json"), "utf8"));
  expect(config.mcpServers).toEqual(servers);
  const restored = await runProgram([process.execPath, join(root, "src", "main.ts"), "restore"], {
    cwd: folder.path,
    env,
  });
  expect(restored.exitCode).toBe(0);
  expect(JSON.parse(readFileSync(join(folder.path, ".claude.json"), "utf8"))).toEqual({ mcpServers: servers });
});
