/** doctor: agents, what they start, and the journal of init. */
import { describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { version } from "../../../src/base/version.ts";
import { markedSkill, section } from "../../../src/tools/registry/installed-texts.ts";
import { root } from "../../support/claudikins.ts";
import { patient } from "./patient.ts";

const home = patient();
const { at, run, doctor, program } = home;

describe("an agent", () => {
  const own = (command: string, ...args: string[]) => ({ mcpServers: { claudikins: { command, args } } });

  test("is Codex with an entry whose tools it may not call on its own", async () => {
    const command = `command = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(join(root, "src/main.ts"))}, "serve"]\n`;
    const entry = `[mcp_servers.claudikins]\n${command}`;
    home.folder.write(".codex/config.toml", entry);
    expect((await doctor()).of("host.codex")).toEqual({
      state: "warning",
      message: "Codex (FOLDER/.codex/config.toml) asks before each execute_code, and codex exec cancels it",
      repair:
        'To leave the decision to the policy of your config, add default_tools_approval_mode = "approve" to the entry of claudikins in FOLDER/.codex/config.toml.',
    });
    // The person's own choice stays.
    for (const line of ['default_tools_approval_mode = "prompt"', 'tools.execute_code.approval_mode = "approve"']) {
      home.folder.write(".codex/config.toml", `${entry}${line}\n`);
      expect((await doctor()).of("host.codex")?.state).toBe("ok");
    }
  });

  test("is reported if none exists, with its own servers, with both, and without any", async () => {
    const none = (await doctor()).of("hosts.none");
    expect(none).toEqual({
      state: "ok",
      message: "No agent was found on this machine. Any program that speaks MCP can start: claudikins serve",
    });
    // An agent that has no settings yet can be connected.
    mkdirSync(at(".codex"));
    expect((await doctor()).of("hosts.none")).toEqual({
      state: "warning",
      message: "No agent on this machine uses claudikins",
      repair: "claudikins init --host codex --apply",
    });
    expect((await run(["init", "--host", "codex", "--apply"])).exitCode).toBe(0);
    expect((await doctor()).of("host.codex")?.state).toBe("ok");
    expect((await run(["restore"])).exitCode).toBe(0);
    home.folder.write(".gemini/settings.json", {});
    expect((await doctor()).of("hosts.none")).toEqual({
      state: "warning",
      message: "No agent on this machine uses claudikins",
      repair: "claudikins init --host gemini --apply",
    });
    home.folder.write(".claude.json", {
      mcpServers: { github: { command: "npx" }, off: { command: "x", disabled: true } },
    });
    home.folder.write(".cursor/mcp.json", {
      mcpServers: { ...own(process.execPath, join(root, "src/main.ts"), "serve").mcpServers, left: { command: "x" } },
    });
    const { of, exitCode } = await doctor();
    expect([exitCode, of("hosts.none")]).toEqual([0, undefined]);
    expect(of("host.claude-code")).toEqual({
      state: "warning",
      message: "Claude Code does not use claudikins, but has 1 server of its own: github",
      repair: "claudikins init --host claude-code --apply",
    });
    expect([of("host.cursor"), of("host.cursor.servers")]).toEqual([
      { state: "ok", message: "Cursor (FOLDER/.cursor/mcp.json) starts this claudikins" },
      {
        state: "warning",
        message: "Cursor loads 1 server in addition to claudikins: left",
        repair: "claudikins init --host cursor --apply",
      },
    ]);
    expect(of("host.gemini")?.state).toBe("ok");
  });

  test("is reported with the program that it starts", async () => {
    const first = async (entry: object) => {
      home.folder.write(".cursor/mcp.json", entry);
      const found = (await doctor()).of("host.cursor");
      return [found?.state, found?.message?.replace("Cursor (FOLDER/.cursor/mcp.json) ", "")];
    };
    expect(await first(own(at("no/claudikins"), "serve"))).toEqual([
      "problem",
      "starts a file that does not exist: FOLDER/no/claudikins",
    ]);
    expect((await doctor()).exitCode).toBe(2);
    expect(await first(own("claudikins", "serve"))).toEqual(["problem", "starts claudikins, which is not on the PATH"]);
    const old = program("old/claudikins", "0.0.9");
    expect(await first(own(old, "serve"))).toEqual([
      "warning",
      "starts another claudikins (0.0.9): FOLDER/old/claudikins",
    ]);
    program("old/claudikins", version);
    expect(await first(own(old, "serve"))).toEqual(["ok", `starts claudikins ${version}: FOLDER/old/claudikins`]);
    expect(await first(own(old, "serve", "--config", at("gone.json")))).toEqual([
      "problem",
      "names a config file that does not exist: FOLDER/gone.json",
    ]);
    program("bin/npx", "10.8.2");
    expect(await first(own(at("bin/npx"), "-y", "claudikins", "serve"))).toEqual([
      "ok",
      "starts claudikins through FOLDER/bin/npx",
    ]);
    const source = home.folder.write("claudikins/src/main.ts", "");
    expect(await first(own(process.execPath, source, "serve"))).toEqual([
      "warning",
      "starts claudikins from another source: FOLDER/claudikins/src/main.ts",
    ]);
    expect(await first({ mcpServers: { claudikins: { command: old, disabled: true } } })).toEqual([
      "warning",
      "has claudikins, but it is disabled",
    ]);
  });

  test("is reported in any format: a list, TOML, and an unreadable file", async () => {
    const old = program("old/claudikins", "0.0.9");
    home.folder.write(".config/opencode/opencode.json", {
      mcp: { claudikins: { type: "local", command: [old, "serve"] } },
    });
    home.folder.write(
      ".codex/config.toml",
      `[mcp_servers.claudikins]\ncommand = "${at("no/claudikins")}"\nargs = ["serve"]\n`,
    );
    home.folder.write(".codeium/windsurf/mcp_config.json", "{ nonsense");
    const { of } = await doctor();
    expect(of("host.opencode")?.message).toContain("starts another claudikins (0.0.9)");
    expect(of("host.codex")?.message).toContain("starts a file that does not exist");
    expect(of("host.windsurf.file")).toMatchObject({
      state: "problem",
      repair: "Fix FOLDER/.codeium/windsurf/mcp_config.json by hand.",
    });
  });

  test("is reported with what init has noted", async () => {
    home.folder.write(".cursor/mcp.json", { mcpServers: { a: { command: "x" } } });
    const before = await Bun.file(at(".cursor/mcp.json")).bytes();
    expect((await run(["init", "--apply", "--no-start"])).exitCode).toBe(0);
    expect((await doctor()).of("hosts.journal")).toEqual({
      state: "ok",
      message: "The originals of 1 file that init changed are kept: claudikins restore brings them back",
    });
    await Bun.write(at(".cursor/mcp.json"), before);
    expect((await doctor()).of("hosts.journal")).toEqual({
      state: "ok",
      message: "A change of init was interrupted, or undone by hand: FOLDER/.cursor/mcp.json",
    });
    home.folder.write(".local/share/claudikins/hosts/changes.json", "{");
    expect((await doctor()).of("hosts.journal")).toMatchObject({ state: "problem", code: "CONFIG_INVALID" });
  });
});

test("skills and sections are reported if they are of another version or lack a mark", async () => {
  expect((await doctor()).of("skills.none")).toMatchObject({ state: "ok" });
  await run(["skill", "install", "--host", "codex", "--claude-md"]);
  const current = await doctor();
  const skill = "FOLDER/.agents/skills/claudikins/SKILL.md";
  expect(current.of("skill.user.cursor")).toEqual({ state: "ok", message: `The skill is up to date: ${skill}` });
  home.folder.write(".agents/skills/claudikins/SKILL.md", markedSkill("---\nname: claudikins\n---\n"));
  home.folder.write(".codex/AGENTS.md", section("## Old"));
  home.folder.write("CLAUDE.md", "<!-- claudikins begin 0 -->");
  const { of } = await doctor();
  expect(of("skill.user.cursor")).toEqual({
    state: "warning",
    message: `The skill is from another version: ${skill}`,
    repair: "claudikins skill install --host cursor",
  });
  expect(of("section.user.codex")).toMatchObject({
    state: "warning",
    repair: "claudikins skill install --host codex --claude-md",
  });
  expect(of("section.project.claude-code")).toMatchObject({ state: "warning" });
  home.folder.write(".agents/skills/claudikins/SKILL.md", `${markedSkill("---\nname: claudikins\n---\n")}mine`);
  expect((await doctor()).of("skill.user.cursor")?.state).toBe("ok");
});

test("an agent that loads the skill from its plugin and from a file is reported", async () => {
  home.folder.write(".claude/settings.json", { enabledPlugins: { "claudikins@claudikins": true } });
  home.folder.write(".codex/config.toml", '[plugins."claudikins@claudikins"]\nenabled = true\n');
  const twice = async () => (await doctor()).findings.filter(({ id }) => /^skill\..*\.twice$/.test(id));
  // The skill is written for such an agent only if it is named.
  expect((await run(["setup", "--yes", "--no-servers"])).exitCode).toBe(0);
  expect(await run(["skill", "install"])).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: "Your agents have the skill from their plugins.\n",
  });
  expect(await twice()).toEqual([]);
  await run(["skill", "install", "--host", "claude", "--host", "codex"]);
  expect(await twice()).toMatchObject([
    {
      id: "skill.claude-code.twice",
      state: "warning",
      message: "Claude Code loads the skill twice: from its plugin, and from FOLDER/.claude/skills/claudikins/SKILL.md",
      repair: "claudikins skill remove --host claude-code",
    },
    { id: "skill.codex.twice", repair: "claudikins skill remove --host codex" },
  ]);
  // Another agent that is here reads the same file.
  mkdirSync(at(".cursor"));
  expect((await twice())[1]).toEqual({
    id: "skill.codex.twice",
    area: "skills",
    state: "ok",
    message:
      "Codex loads the skill twice: from its plugin, and from FOLDER/.agents/skills/claudikins/SKILL.md, which Cursor can read",
  });
  await run(["skill", "remove", "--host", "claude"]);
  expect((await twice()).map(({ id }) => id)).toEqual(["skill.codex.twice"]);
  // The skill of a project is there for others, too.
  await run(["skill", "remove"]);
  mkdirSync(at("project", ".git"), { recursive: true });
  const cwd = at("project");
  const env = { HOME: home.folder.path };
  await run(["skill", "install", "--project", "--host", "claude"], { cwd, env });
  const { findings } = await doctor(undefined, { cwd, env });
  const ids = findings.map(({ id }) => id);
  expect([ids.includes("skill.project.claude-code"), ids.filter((id) => id.endsWith(".twice"))]).toEqual([true, []]);
});

describe("an agent that starts claudikins twice is reported", () => {
  const entry = { command: "npx", args: ["-y", "claudikins", "serve"] };
  const withEntry = { mcpServers: { claudikins: entry } };
  const enabled = { enabledPlugins: { "claudikins@anybodys": true, "other@anybodys": true } };

  test("by a plugin of Claude Code and an entry", async () => {
    home.folder.write(".claude.json", {});
    home.folder.write(".claude/settings.json", enabled);
    const alone = await doctor();
    expect(alone.of("host.claude-code.plugin")).toEqual({
      state: "ok",
      message: "Claude Code starts claudikins by its plugin",
    });
    expect([alone.of("host.claude-code"), alone.of("hosts.none")]).toEqual([undefined, undefined]);
    home.folder.write(".claude.json", withEntry);
    expect((await doctor()).of("host.claude-code.twice")).toEqual({
      state: "warning",
      message: "Claude Code starts claudikins twice: by its plugin, and by the entry claudikins in FOLDER/.claude.json",
      repair: "Remove that entry, or turn the plugin off: claude plugin disable claudikins@anybodys",
    });
    home.folder.write(".claude/settings.json", { enabledPlugins: { "claudikins@anybodys": false } });
    expect((await doctor()).of("host.claude-code.twice")).toBeUndefined();
  });

  test("by an extension of Claude Desktop and an entry", async () => {
    home.folder.write(".config/Claude/claude_desktop_config.json", withEntry);
    home.folder.write(".config/Claude/Claude Extensions/local.mcpb.x/manifest.json", { name: "claudikins" });
    const env = { HOME: home.folder.path, XDG_CONFIG_HOME: at(".config") };
    const twice = async () => (await doctor(undefined, { env })).of("host.claude-desktop.twice");
    if (process.platform !== "linux") return;
    expect((await twice())?.repair).toBe(
      "Remove that entry, or turn the extension off: Settings > Extensions in Claude Desktop",
    );
    home.folder.write(".config/Claude/Claude Extensions Settings/local.mcpb.x.json", { isEnabled: false });
    expect(await twice()).toBeUndefined();
  });

  test("but not by Codex and Gemini CLI, where the entry takes the place of the plugin's server", async () => {
    const toml = (entries: string) => `[plugins."claudikins@claudikins"]\nenabled = true\n\n${entries}`;
    const start = 'command = "npx"\nargs = ["-y", "claudikins", "serve"]\n';
    const findings = async () => (await doctor()).findings.filter(({ id }) => /\.(twice|plugin)$/.test(id));
    home.folder.write(".codex/config.toml", toml(`[mcp_servers.claudikins]\n${start}`));
    home.folder.write(".gemini/settings.json", withEntry);
    home.folder.write(".gemini/extensions/claudikins/gemini-extension.json", {});
    expect(await findings()).toEqual([]);
    home.folder.write(".codex/config.toml", toml(`[mcp_servers.tools]\n${start}`));
    home.folder.write(".gemini/settings.json", {});
    expect(await findings()).toMatchObject([
      {
        id: "host.codex.twice",
        repair: "Remove that entry, or turn the plugin off: codex plugin remove claudikins@claudikins",
      },
      { id: "host.gemini.plugin", message: "Gemini CLI starts claudikins by its extension" },
    ]);
    home.folder.write(".gemini/extensions/extension-enablement.json", {
      claudikins: { overrides: [`!${home.folder.path}/*`] },
    });
    expect((await doctor()).of("host.gemini.plugin")).toBeUndefined();
  });

  test("by two entries in one file, but not by those of the user and the project with the same name", async () => {
    home.folder.write(".cursor/mcp.json", withEntry);
    home.folder.write("project/.cursor/mcp.json", withEntry);
    const twice = async () =>
      (await doctor(undefined, { cwd: at("project"), env: { HOME: home.folder.path } })).of("host.cursor.twice");
    expect(await twice()).toBeUndefined();
    home.folder.write(".cursor/mcp.json", { mcpServers: { claudikins: entry, tools: entry } });
    expect(await twice()).toEqual({
      state: "warning",
      message: "Cursor starts claudikins twice: by the entries claudikins and tools in FOLDER/.cursor/mcp.json",
      repair: "Remove the entry tools from FOLDER/.cursor/mcp.json.",
    });
    home.folder.write(".cursor/mcp.json", { mcpServers: { claudikins: entry, tools: { ...entry, disabled: true } } });
    expect(await twice()).toBeUndefined();
  });
});

test("ids are unique, even if an entry exists twice", async () => {
  const entry = { command: at("no/claudikins"), args: ["serve"] };
  home.folder.write(".cursor/mcp.json", { mcpServers: { claudikins: entry, "claudikins-2": entry } });
  home.folder.write("project/.cursor/mcp.json", { mcpServers: { claudikins: entry } });
  const { findings } = await doctor(undefined, { cwd: at("project"), env: { HOME: home.folder.path } });
  const ids = findings.map(({ id }) => id);
  expect(ids.filter((id) => id.startsWith("host."))).toEqual([
    "host.cursor",
    "host.cursor.2",
    "host.cursor.project",
    "host.cursor.twice",
  ]);
  expect(new Set(ids).size).toBe(ids.length);
});

test("a program named in a cloned project's file is not started", async () => {
  const started = home.at("started");
  const program = home.folder.write("claudikins", `#!/bin/sh\ntouch '${started}'\necho 0.0.1\n`);
  chmodSync(program, 0o755);
  home.folder.write("project/.mcp.json", { mcpServers: { claudikins: { command: program, args: ["serve"] } } });
  mkdirSync(home.at("user"));
  const { of } = await doctor(undefined, { cwd: home.at("project"), env: { HOME: home.at("user") } });
  expect(of("host.claude-code.project")).toMatchObject({ state: "warning" });
  expect(existsSync(started)).toBe(false);
});
