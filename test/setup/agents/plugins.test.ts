/** init with agents that have the plugin of claudikins: other servers move, the plugin stays, and nothing starts twice. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { cli } from "../../cli/in-memory.ts";
import { ownFolder } from "../../support/own-folder.ts";

const folder = ownFolder();

const at = (...names: string[]) => join(folder.path, ...names);
const read = (name: string) => readFileSync(at(name), "utf8");
const env = () => ({ HOME: folder.path, XDG_CONFIG_HOME: at(".config"), CI: "true" });
const run = (...argv: string[]) => cli(argv, { cwd: folder.path, env: env() });
const init = (...argv: string[]) => run("init", "--apply", "--no-start", ...argv);

const others = { mcpServers: { memory: { command: "memory-mcp" } } };
const config = () => JSON.parse(read(".config/claudikins/claudikins.json"));

/** As the plugin stands in the cache of Claude Code. */
function installClaudePlugin(): string {
  folder.write(".claude/settings.json", { enabledPlugins: { "claudikins@claudikins": true } });
  return folder.write(".claude/plugins/cache/claudikins/claudikins/0.1.0/.claude-plugin/plugin.json", {
    name: "claudikins",
    mcpServers: { claudikins: { command: "${CLAUDE_PLUGIN_ROOT}/bin/claudikins", args: ["serve"] } },
  });
}

test("the plugin of Claude Code stays, and takes the place of an entry", async () => {
  const plugin = installClaudePlugin();
  const before = readFileSync(plugin, "utf8");
  folder.write(".claude.json", others);
  const { exitCode, stderr } = await init();
  expect(exitCode).toBe(0);
  expect(stderr).toContain(
    `note: Claude Code starts claudikins by its plugin, so ${at(".claude.json")} gets no entry of claudikins\n`,
  );
  expect(JSON.parse(read(".claude.json"))).toEqual({ mcpServers: {} });
  expect(config()).toEqual({ mcpServers: { memory: { command: "memory-mcp" } } });
  expect([readFileSync(plugin, "utf8"), JSON.parse(read(".claude/settings.json"))]).toEqual([
    before,
    { enabledPlugins: { "claudikins@claudikins": true } },
  ]);

  const again = await init();
  expect([again.exitCode, again.stderr]).toEqual([0, expect.stringContaining("No agent's settings need to change.\n")]);
  expect((await run("restore")).exitCode).toBe(0);
  expect(JSON.parse(read(".claude.json"))).toEqual(others);
});

test("an entry with another config is added beside the plugin, and the note says how to turn the plugin off", async () => {
  installClaudePlugin();
  folder.write(".claude.json", others);
  const { stderr } = await init("--config", at("mine.json"));
  expect(JSON.parse(read(".claude.json")).mcpServers.claudikins.args).toContain("--config");
  expect(stderr).toContain("To turn that off: claude plugin disable claudikins@claudikins\n");
});

test("a plugin that is turned off takes the place of nothing", async () => {
  installClaudePlugin();
  folder.write(".claude/settings.json", { enabledPlugins: { "claudikins@claudikins": false } });
  folder.write(".claude.json", others);
  await init();
  expect(Object.keys(JSON.parse(read(".claude.json")).mcpServers)).toEqual(["claudikins"]);
});

test("Codex and Gemini CLI get an entry with the name claudikins, which takes the place of the plugin's server", async () => {
  const plugin = '[plugins."claudikins@claudikins"]\nenabled = true\n';
  folder.write(".codex/config.toml", `${plugin}\n[mcp_servers.memory]\ncommand = "memory-mcp"\n`);
  folder.write(".gemini/extensions/claudikins/gemini-extension.json", {
    name: "claudikins",
    mcpServers: { claudikins: { command: "${extensionPath}/bin/claudikins", args: ["serve"] } },
  });
  folder.write(".gemini/settings.json", others);
  expect((await init()).exitCode).toBe(0);
  expect(read(".codex/config.toml")).toStartWith(plugin);
  expect(read(".codex/config.toml")).toContain("[mcp_servers.claudikins]\n");
  expect(Object.keys(JSON.parse(read(".gemini/settings.json")).mcpServers)).toEqual(["claudikins"]);
  expect(config()).toEqual({ mcpServers: { memory: { command: "memory-mcp" } } });
});

test("with a plugin alone, init says how to add a server", async () => {
  installClaudePlugin();
  folder.write(".claude.json", {});
  const { exitCode, stderr } = await init();
  expect(exitCode).not.toBe(0);
  expect(stderr).toContain("claudikins add context7");
  const { stdout } = await run("init", "--dry-run", "--no-start");
  expect(stdout).toContain(`Claude Code (${at(".claude.json")}): claudikins, and no other servers\n`);
});
