/** From the agents' own servers to claudikins alone, and back to the same bytes, whatever happens in between. */
import { beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { apply } from "../../../src/setup/agents/apply.ts";
import { wishesOf } from "../../../src/setup/agents/choices.ts";
import { findServers } from "../../../src/setup/agents/find-servers.ts";
import { agents, chosenAgents } from "../../../src/setup/agents/supported/agents.ts";
import type { AgentName } from "../../../src/setup/agents/supported/model.ts";
import { commandFor, planSwitch, takeSurvey } from "../../../src/setup/agents/switch-over.ts";
import { type CliResult, cli } from "../../cli/in-memory.ts";
import { root } from "../../support/claudikins.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { type Home, homeWithHosts, secrets } from "./home.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();
let home: Home;
beforeEach(() => {
  home = homeWithHosts(folder);
});

const run = (...argv: string[]): Promise<CliResult> => cli(argv, { cwd: home.project, env: home.env });
const init = (...argv: string[]) => run("init", "--no-start", "--apply", "--keep-both", ...argv);
const withProject = ["--project", "--config", "claudikins.json"];

/** The note of restore after it has changed a file. */
const restart = "Restart your agents to use their own servers again.\n";

const at = (...names: string[]) => join(home.path, ...names);
const read = (...names: string[]) => readFileSync(at(...names), "utf8");
const configPath = () => at(".config", "claudikins", "claudikins.json");

/** Everything below the home except claudikins' own files: kind, bytes and mode. */
function everything(path = home.path): Record<string, string> {
  // Bun keeps compiled code there.
  const own = [at(".config", "claudikins"), at(".local"), at(".bun"), at("code", "shop", "claudikins.json")];
  const names = readdirSync(path).map((name) => join(path, name));
  return Object.assign(
    {},
    ...names
      .filter((name) => !own.includes(name))
      .map((name) => {
        const stat = lstatSync(name);
        if (stat.isSymbolicLink()) return { [name]: `→ ${readlinkSync(name)}` };
        if (stat.isDirectory()) return everything(name);
        return { [name]: `${(stat.mode & 0o777).toString(8)} ${readFileSync(name, "latin1")}` };
      }),
  );
}

const left = async () => {
  const { files } = await findServers(agents, {
    platform: process.platform,
    cwd: home.project,
    env: home.env,
    project: true,
  });
  return {
    servers: files.flatMap(({ servers }) => servers.map(({ name }) => name)),
    own: files.flatMap(({ agent, own }) => (own.length > 0 ? [agent.name] : [])),
  };
};

test("init leaves only claudikins in every agent's file, and restore brings back every byte", async () => {
  chmodSync(at(".claude.json"), 0o600);
  chmodSync(at(".codex", "config.toml"), 0o755);
  const before = everything();
  const applied = await init(...withProject);
  expect([applied.exitCode, applied.stderr]).toEqual([0, expect.stringContaining("Changed zed:")]);
  expect(await left()).toEqual({
    servers: [],
    own: [
      "claude-code",
      "claude-code",
      "claude-desktop",
      "cursor",
      "cursor",
      "vscode",
      "windsurf",
      "codex",
      "codex",
      "gemini",
      "opencode",
      "opencode",
      "zed",
      "copilot",
      "copilot",
      "antigravity",
      "kiro",
      "kiro",
      "crush",
      "amp",
      "qwen",
      "roo",
      "roo",
      "cline",
      "cline",
    ],
  });
  const config = JSON.parse(readFileSync(configPath(), "utf8"));
  expect(Object.keys(config.mcpServers)).toHaveLength(47);
  // The project's servers stay in its own config, without the user's data.
  expect(JSON.parse(read("code", "shop", "claudikins.json"))).toEqual({
    mcpServers: {
      team: { command: "${TEAM_BIN:-team-mcp}", args: ["--root", "."] },
      local: { command: "node", args: ["./server.js", "shop"] },
      inline: { command: "inline-mcp", args: ["--x"], cwd: "tools" },
      dotted: { command: "dotted-mcp", env: { A: "b" } },
      nested: { command: "nested-mcp", disabled: true, startTimeoutMs: 30_000, callTimeoutMs: 40_000 },
      shared: { command: "shared-mcp" },
      "kiro-local": { command: "node", args: ["kiro.js"] },
      "roo-project": { command: "node", args: ["roo.js"] },
    },
  });
  expect(JSON.stringify(config)).toContain(secrets.password);
  expect(statSync(configPath()).mode & 0o777).toBe(0o600);
  // Modes and links are unchanged.
  expect(statSync(at(".claude.json")).mode & 0o777).toBe(0o600);
  expect(statSync(at(".codex", "config.toml")).mode & 0o777).toBe(0o755);
  expect(readlinkSync(at(".cursor", "mcp.json"))).toBe("../dotfiles/cursor.json");
  expect(readFileSync(at(".codeium", "windsurf", "mcp_config.json")).subarray(0, 3)).toEqual(
    Buffer.from([0xef, 0xbb, 0xbf]),
  );

  // A second init has nothing to do.
  const wired = everything();
  expect(await init(...withProject)).toMatchObject({
    exitCode: 0,
    stdout: "",
    stderr: expect.stringMatching(
      /stays in [^\n]*: it contains a shell command that Crush runs for a value\nNo agent's settings need to change\.\n$/,
    ),
  });
  expect(everything()).toEqual(wired);

  const restored = await run("restore");
  expect([restored.exitCode, restored.stderr, restored.stdout.match(/^Restored /gm)?.length]).toEqual([0, restart, 26]);
  expect(everything()).toEqual(before);
  expect(await run("restore")).toEqual({
    exitCode: 0,
    stdout: "",
    stderr: "Nothing to undo: init has no changes on record.\n",
  });
  // Copies with secrets are deleted once they are not needed.
  expect(readdirSync(at(".local", "share", "claudikins", "hosts", "before"))).toEqual([]);
});

test("copies of files can be read only by their owner", async () => {
  await init();
  const folderOfCopies = at(".local", "share", "claudikins", "hosts", "before");
  expect(statSync(folderOfCopies).mode & 0o777).toBe(0o700);
  const copies = readdirSync(folderOfCopies);
  expect(copies).toHaveLength(19);
  for (const copy of copies) expect(statSync(join(folderOfCopies, copy)).mode & 0o777).toBe(0o600);
});

test("init and restore of one agent change only its file", async () => {
  const before = everything();
  await init("--host", "codex", "--host", "zed");
  const changed = Object.keys(before).filter((path) => before[path] !== everything()[path]);
  expect(changed.sort()).toEqual([at(".codex", "config.toml"), at(".config", "zed", "settings.json")]);
  expect(await run("restore", "--host", "cursor")).toMatchObject({ exitCode: 0, stdout: "" });
  expect((await run("restore", "--host", "zed")).stdout).toBe(
    `Restored zed: ${at(".config", "zed", "settings.json")}\n`,
  );
  expect(read(".codex", "config.toml")).toContain("[mcp_servers.claudikins]");
  await run("restore");
  expect(everything()).toEqual(before);
});

test("a named agent without a file gets one, which restore removes; an agent that is not installed gets none", async () => {
  using other = temporaryFolder();
  home = { ...home, path: other.path, project: other.path, env: { HOME: other.path } };
  other.write(".claude.json", { mcpServers: { a: { command: "a" } } });
  other.write(".cursor/extensions/x", "");
  other.write(".codex/auth.json", "{}");
  const before = everything();
  const { exitCode, stderr } = await init(
    "--host",
    "cursor",
    "--host",
    "codex",
    "--host",
    "zed",
    "--host",
    "claude-code",
  );
  expect([exitCode, stderr]).toEqual([0, expect.stringContaining("note: Zed is not on this machine")]);
  expect(Object.keys(JSON.parse(read(".cursor", "mcp.json")).mcpServers)).toEqual(["claudikins"]);
  expect(read(".codex", "config.toml")).toStartWith("[mcp_servers.claudikins]\n");
  expect(statSync(at(".cursor", "mcp.json")).mode & 0o777).toBe(0o600);
  expect(existsSync(at(".config", "zed"))).toBe(false);
  expect(await run("restore")).toMatchObject({ exitCode: 0, stderr: restart });
  expect(everything()).toEqual(before);
  // An agent without servers is left alone unless it is named.
  await init();
  expect(existsSync(at(".cursor", "mcp.json"))).toBe(false);
});

test("a dry run writes nothing, and shows each changed line without secrets", async () => {
  const before = everything();
  const { exitCode, stdout, stderr } = await run("init", "--dry-run", "--no-start", ...withProject, "--keep-both");
  expect(exitCode).toBe(0);
  expect(everything()).toEqual(before);
  expect([existsSync(at(".config", "claudikins")), existsSync(at(".local"))]).toEqual([false, false]);
  expect(stdout).toContain('+      "args": ["');
  expect(stdout).toContain("-[mcp_servers.stripe]\n");
  for (const secret of Object.values(secrets)) expect(stdout + stderr).not.toContain(secret);
});

describe("a file in any formatting", () => {
  const entries = {
    one: { command: "npx", args: ["-y", "one"], env: { KEY: "value" } },
    two: { command: "two", args: [] },
  };
  const places: Record<string, { path: string[]; key: string[]; entries?: object }> = {
    "claude-code": { path: [".claude.json"], key: ["mcpServers"] },
    "claude-desktop": { path: [".config", "Claude", "claude_desktop_config.json"], key: ["mcpServers"] },
    cursor: { path: [".cursor", "mcp.json"], key: ["mcpServers"] },
    vscode: { path: [".config", "Code", "User", "mcp.json"], key: ["servers"] },
    windsurf: { path: [".codeium", "windsurf", "mcp_config.json"], key: ["mcpServers"] },
    gemini: { path: [".gemini", "settings.json"], key: ["mcpServers"] },
    opencode: {
      path: [".config", "opencode", "opencode.json"],
      key: ["mcp"],
      entries: {
        one: { type: "local", command: ["npx", "-y", "one"], environment: { KEY: "value" } },
        two: { type: "local", command: ["two"] },
      },
    },
    zed: { path: [".config", "zed", "settings.json"], key: ["context_servers"] },
    copilot: { path: [".copilot", "mcp-config.json"], key: ["mcpServers"] },
    antigravity: { path: [".gemini", "config", "mcp_config.json"], key: ["mcpServers"] },
    kiro: { path: [".kiro", "settings", "mcp.json"], key: ["mcpServers"] },
    crush: { path: [".config", "crush", "crush.json"], key: ["mcp"] },
    amp: { path: [".config", "amp", "settings.json"], key: ["amp.mcpServers"] },
    qwen: { path: [".qwen", "settings.json"], key: ["mcpServers"] },
    roo: {
      path: [".config", "Code", "User", "globalStorage", "rooveterinaryinc.roo-cline", "settings", "mcp_settings.json"],
      key: ["mcpServers"],
    },
    cline: { path: [".cline", "data", "settings", "cline_mcp_settings.json"], key: ["mcpServers"] },
  };

  function jsonIn(way: number, { key, entries: own = entries }: { key: string[]; entries?: object }): string {
    const is = (bit: number) => (way & (1 << bit)) !== 0;
    const section = key.reduceRight<unknown>((inner, name) => ({ [name]: inner }), own) as object;
    const document = is(0) ? { other: [1, { a: "b" }], ...section } : { ...section, other: [1, { a: "b" }] };
    const indent = [undefined, "\t", "  ", 4][(way >> 1) & 3];
    let text = JSON.stringify(document, null, indent);
    if (is(3) && indent !== undefined) text = text.replace(/,\n/g, ', // { "not": ]\n');
    if (is(3) && indent !== undefined) text = text.replace(/([^,{[\s])(?=\n\s*[}\]])/g, "$1,");
    if (is(4)) text = `${text}\n\n`;
    if (is(5)) text = text.replaceAll("\n", "\r\n");
    return is(6) ? `\uFEFF${text}` : text;
  }

  function tomlIn(way: number): string {
    const is = (bit: number) => (way & (1 << bit)) !== 0;
    const forms = [
      '[mcp_servers.one]\ncommand = "npx"\nargs = ["-y", "one"]\n[mcp_servers.one.env]\nKEY = "value"\n\n[mcp_servers.two]\ncommand = "two"',
      'mcp_servers = { one = { command = "npx", args = ["-y", "one"], env = { KEY = "value" } }, two = { command = "two" } }',
      '[mcp_servers]\none = { command = "npx", args = ["-y", "one"], env.KEY = "value" } # 1\ntwo.command = "two"',
      'mcp_servers.one.command = "npx"\nmcp_servers."one".args = [ "-y", # yes\n  "one" ]\nmcp_servers.one.env.KEY = \'value\'\nmcp_servers.two.command = """two"""',
    ];
    const form = forms[(way >> 1) & 3] ?? "";
    let text = is(0) ? `# first\nmodel = "x" # y\n\n${form}\n` : `${form}\n`;
    text += is(3) ? '\n# next\n[tui]\na = [1, 2,\n 3]\n\n[[z]]\nb = "[mcp_servers.no]"' : "";
    if (is(4)) text = `${text}\n\n`;
    if (is(5)) text = text.replaceAll("\n", "\r\n");
    return is(6) ? `\uFEFF${text}` : text;
  }

  // A quarter of all combinations, with every pair of choices.
  test.each(Array.from({ length: 32 }, (_, place) => [(place * 37) % 128]))(
    "is rewired and restored to the same bytes (%i)",
    async (way) => {
      using other = temporaryFolder();
      home = { ...home, path: other.path, project: other.path, env: { HOME: other.path } };
      for (const place of Object.values(places)) other.write(join(...place.path), jsonIn(way, place));
      other.write(".codex/config.toml", tomlIn(way));
      const before = everything();
      expect(await init()).toMatchObject({ exitCode: 0 });
      expect((await left()).servers).toEqual([]);
      const own: string[] = (await left()).own;
      expect(own.sort()).toEqual([...Object.keys(places), "codex"].sort());
      expect(JSON.parse(readFileSync(configPath(), "utf8"))).toEqual({
        mcpServers: { one: entries.one, two: { command: "two" } },
      });
      expect((await run("restore")).exitCode).toBe(0);
      expect(everything()).toEqual(before);
    },
  );
});

describe("a file whose servers have changed since init", () => {
  const claude = () => JSON.parse(read(".claude.json"));
  const change = () => {
    const text = read(".claude.json").replace('"numStartups": 42', '"numStartups": 43');
    writeFileSync(at(".claude.json"), text);
  };
  const addServers = () => {
    change();
    const added = read(".claude.json").replace(
      '"claudikins": {',
      '"newer": { "command": "newer" },\n    "claudikins": {',
    );
    writeFileSync(at(".claude.json"), added);
  };

  test("is not restored, and its difference is shown; the others are restored", async () => {
    const before = everything();
    await init();
    addServers();
    const changed = read(".claude.json");
    const { exitCode, stdout, stderr } = await run("restore");
    expect(exitCode).toBe(2);
    expect(read(".claude.json")).toBe(changed);
    expect(stderr).toContain(`The servers of claude-code have changed since init: ${at(".claude.json")}\n`);
    expect(stderr).toContain(
      "hint: To add the original servers to the current ones: claudikins restore --servers-only.",
    );
    expect(stdout).toContain('-  "numStartups": 43,\n+  "numStartups": 42,\n');
    expect(stdout).toContain("GITHUB_PERSONAL_ACCESS_TOKEN");
    expect(stdout + stderr).not.toContain(secrets.github);
    expect({ ...everything(), [at(".claude.json")]: "" }).toEqual({ ...before, [at(".claude.json")]: "" });
    await run("restore", "--force");
    await init();
    const zedFile = at(".config", "zed", "settings.json");
    writeFileSync(
      zedFile,
      readFileSync(zedFile, "utf8").replace('"claudikins": {', '"newer": { "command": "x" },\n"claudikins": {'),
    );
    const zed = await run("restore", "--host", "zed");
    expect(zed.stdout).toContain('"Authorization": "Bearer ***"');
    expect(zed.stdout).not.toContain("t0ken-of-zed-1234");
    // It can still be restored.
    expect((await run("restore", "--force")).exitCode).toBe(0);
    expect(everything()).toEqual(before);
  });

  test("gets its servers back beside new ones with --servers-only", async () => {
    const was = claude();
    await init();
    addServers();
    const { exitCode, stdout } = await run("restore", "--servers-only", "--host", "claude-code");
    expect([exitCode, stdout]).toEqual([0, expect.stringContaining("Restored the servers of claude-code: ")]);
    expect(claude()).toEqual({
      ...was,
      numStartups: 43,
      mcpServers: { ...was.mcpServers, newer: { command: "newer" } },
    });
  });

  test("is written again after it was removed, but only with --force", async () => {
    const before = everything();
    await init("--host", "gemini");
    await Bun.file(at(".gemini", "settings.json")).delete();
    expect((await run("restore")).exitCode).toBe(2);
    expect(existsSync(at(".gemini", "settings.json"))).toBe(false);
    expect((await run("restore", "--force")).exitCode).toBe(0);
    expect(everything()).toEqual(before);
  });

  test("--force and --servers-only exclude each other", async () => {
    expect(await run("restore", "--force", "--servers-only")).toMatchObject({ exitCode: 2, stdout: "" });
  });
});

describe("a file in which the agent has changed other settings since init", () => {
  /** Like Claude Code in each session: rewrites the file in its own formatting, with its own projects. */
  function session(): void {
    const document = JSON.parse(read(".claude.json"));
    document.numStartups += 1;
    document.projects[`${home.path}/code/other`] = { allowedTools: [], mcpServers: {}, hasTrustDialogAccepted: true };
    writeFileSync(at(".claude.json"), JSON.stringify(document, null, 4));
  }

  test("gets its servers back without a flag, and keeps the other settings", async () => {
    const was = JSON.parse(read(".claude.json"));
    const wasCodex = Bun.TOML.parse(read(".codex", "config.toml"));
    const wasGemini = Bun.JSONC.parse(read(".gemini", "settings.json")) as { mcp: { allowed: string[] } };
    await init();
    session();
    writeFileSync(at(".codex", "config.toml"), `${read(".codex", "config.toml")}\n[new]\nx = 1\n`);
    expect(read(".gemini", "settings.json")).toMatch(/"events", "claudikins"/);
    writeFileSync(at(".gemini", "settings.json"), read(".gemini", "settings.json").replace("Dracula", "Light"));
    // An old file of VS Code, which has no entry of claudikins.
    writeFileSync(
      at(".config/Code/User/settings.json"),
      read(".config/Code/User/settings.json").replace(": 13", ": 14"),
    );
    const { exitCode, stdout, stderr } = await run("restore");
    expect([exitCode, stderr]).toEqual([0, restart]);
    expect(stdout).toContain(
      `Restored the servers of claude-code: ${at(".claude.json")} (other changes in the file were kept`,
    );
    const other = { allowedTools: [], mcpServers: {}, hasTrustDialogAccepted: true };
    expect(JSON.parse(read(".claude.json"))).toEqual({
      ...was,
      numStartups: 43,
      projects: { ...was.projects, [`${home.path}/code/other`]: other },
    });
    expect(Bun.TOML.parse(read(".codex", "config.toml"))).toEqual({ ...wasCodex, new: { x: 1 } });
    expect(Bun.JSONC.parse(read(".gemini", "settings.json"))).toEqual({ ...wasGemini, theme: "Light" });
    expect(read(".config/Code/User/settings.json")).toMatch(
      /"editor.fontSize": 14,\n {2}"mcp": \{ "servers": \{\s+"legacy"/,
    );
    expect(await run("restore")).toMatchObject({ exitCode: 0, stderr: expect.stringContaining("Nothing to undo") });
  });

  test("is restored after a second init too, and a project's file from any folder", async () => {
    const was = JSON.parse(read(".claude.json")).mcpServers;
    await init(...withProject);
    session();
    writeFileSync(at("code", "shop", ".mcp.json"), read("code", "shop", ".mcp.json").replace("{", '{ "other": 1,'));
    folder.write("home/.claude.json", {
      ...JSON.parse(read(".claude.json")),
      mcpServers: { ...JSON.parse(read(".claude.json")).mcpServers, later: { command: "later" } },
    });
    await init("--host", "claude-code");
    session();
    const restored = await cli(["restore"], { cwd: home.path, env: home.env });
    expect([restored.exitCode, restored.stderr]).toEqual([0, restart]);
    expect(JSON.parse(read(".claude.json")).mcpServers).toEqual({ ...was, later: { command: "later" } });
    expect(JSON.parse(read("code", "shop", ".mcp.json"))).toMatchObject({
      other: 1,
      mcpServers: { team: {}, "team-off": {} },
    });
  });
});

test("a file that cannot be parsed is reported with its line and not changed; the others are rewired", async () => {
  const broken = '{ "mcpServers": {\n  "a": { "command": "a" }\n  "b": {}\n} }\n';
  folder.write("home/.gemini/settings.json", broken);
  const { exitCode, stderr } = await init();
  expect(exitCode).toBe(2);
  expect(stderr).toContain(
    `error: Some agents' settings were not changed: ${at(".gemini", "settings.json")}:3: not valid JSON: comma expected\n`,
  );
  expect(read(".gemini", "settings.json")).toBe(broken);
  expect((await left()).own).toContain("cursor");
  await run("restore");
  expect(read(".gemini", "settings.json")).toBe(broken);
});

test("a file that cannot be edited safely is not changed", async () => {
  const odd = 'mcp_servers = "none"\n';
  folder.write("home/.codex/config.toml", odd);
  const { exitCode, stderr } = await init("--host", "codex", "--host", "zed");
  expect([exitCode, stderr]).toEqual([
    2,
    expect.stringContaining(`claudikins cannot edit ${at(".codex", "config.toml")} safely`),
  ]);
  expect(read(".codex", "config.toml")).toBe(odd);
  expect((await left()).own).toEqual(["zed"]);
});

test("an existing config keeps its comments and other servers, and is not written twice", async () => {
  const text =
    '{\n  // mine\n  "mcpServers": {\n    "own": { "command": "own" }, // stays\n  },\n  "check": "warn",\n}\n';
  folder.write("home/.config/claudikins/claudikins.json", text);
  chmodSync(configPath(), 0o640);
  await init("--host", "zed");
  const written = readFileSync(configPath(), "utf8");
  expect(written).toStartWith(
    '{\n  // mine\n  "mcpServers": {\n    "own": { "command": "own" }, // stays\n    "custom": {\n',
  );
  expect(written).toEndWith('    },\n  },\n  "check": "warn",\n}\n');
  // The file now contains secrets.
  expect(statSync(configPath()).mode & 0o777).toBe(0o600);
});

test("an invalid config is reported, and no agent's file is changed", async () => {
  folder.write("home/.config/claudikins/claudikins.json", '{ "mcpServer": {} }');
  const before = everything();
  expect(await init()).toMatchObject({
    exitCode: 2,
    stdout: "",
    stderr: expect.stringContaining('did you mean "mcpServers"?'),
  });
  expect(everything()).toEqual(before);
});

describe("init that is killed while it writes", () => {
  test.each(["between two files", "before a file is written", "after a file is written"])(
    "%s: restore restores everything",
    async (moment) => {
      const before = everything();
      const child = Bun.spawn(
        [process.execPath, join(root, "test", "setup", "agents", "killed.ts"), home.project, moment],
        {
          env: { ...home.env, PATH: process.env["PATH"] ?? "", HOME: home.path },
          stdout: "pipe",
          stderr: "inherit",
        },
      );
      await child.exited;
      expect([child.signalCode, await child.stdout.text()]).toEqual(["SIGKILL", "planned 19\n"]);
      const during = everything();
      const changed = Object.keys(before).filter((path) => during[path] !== before[path]);
      expect(changed.length).toBe(
        { "between two files": 3, "before a file is written": 3, "after a file is written": 4 }[moment] ?? 0,
      );
      expect(changed.map((path) => path.slice(home.path.length))).toContain("/.claude.json");
      const { exitCode, stderr } = await run("restore");
      expect([exitCode, stderr]).toEqual([0, restart]);
      expect(everything()).toEqual(before);
    },
  );

  test("leaves a temporary file that the next init removes", async () => {
    const gone = Bun.spawn(["true"]);
    await gone.exited;
    const rest = at(`.claude.json.${gone.pid}.1.tmp`);
    writeFileSync(rest, "half");
    writeFileSync(at(".claude.json.backup"), "somebody's");
    await init();
    expect([existsSync(rest), existsSync(at(".claude.json.backup"))]).toEqual([false, true]);
  });
});

test("the real home directory is never changed", async () => {
  const real = userInfo().homedir;
  const surroundings = { platform: process.platform, cwd: "/", env: { HOME: real } };
  const paths = [
    ...agents.flatMap((agent) => agent.files(surroundings).map(({ path }) => path)),
    join(real, ".config", "claudikins", "claudikins.json"),
    join(real, ".local", "share", "claudikins", "hosts"),
  ];
  const stamps = () => paths.map((path) => [path, statSync(path, { throwIfNoEntry: false })?.mtimeMs]);
  const before = stamps();
  expect(paths.length).toBeGreaterThan(15);
  expect(home.path.startsWith(real) && real !== "/").toBe(false);
  await init(...withProject);
  await run("restore", "--force");
  expect(stamps()).toEqual(before);
  // Nothing asks the system for the home: only the environment counts. A sandbox opens neither of the two.
  const source = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && !name.startsWith(join("sandbox", "guest")),
  );
  const naming = (word: RegExp) => source.filter((name) => word.test(readFileSync(join(root, "src", name), "utf8")));
  expect(naming(/\bhomedir\b/)).toEqual([join("config", "box-places.ts")]);
  // The audit log has the name of the user.
  expect(naming(/\buserInfo\b/).sort()).toEqual([
    join("config", "box-places.ts"),
    join("store", "audit", "decider.ts"),
  ]);
});

describe("an agent that writes its file during init", () => {
  async function planned() {
    const surroundings = { env: home.env, cwd: home.project, platform: process.platform };
    const some = chosenAgents(["claude-code", "gemini"]);
    const { inventories } = await takeSurvey(some, { ...surroundings, project: false, wishes: wishesOf([], true) });
    const [inventory] = inventories;
    const { plans } = await planSwitch(inventory!, { ...surroundings, named: new Set() });
    const { signal } = new AbortController();
    return () => apply(plans, { command: commandFor(inventory!.configFile, home.env), surroundings, signal });
  }

  test("keeps its changes", async () => {
    const go = await planned();
    writeFileSync(at(".claude.json"), read(".claude.json").replace("42", "43"));
    expect(await go()).toEqual([
      { host: "claude-code", file: at(".claude.json") },
      { host: "gemini", file: at(".gemini", "settings.json") },
    ]);
    const { numStartups, mcpServers } = JSON.parse(read(".claude.json"));
    expect([numStartups, Object.keys(mcpServers)]).toEqual([43, ["ide", "claudikins"]]);
    await run("restore");
    expect(JSON.parse(read(".claude.json")).numStartups).toBe(43);
  });

  test("is not changed if its servers have changed; the other agents are rewired", async () => {
    const go = await planned();
    const other = read(".claude.json").replace("@modelcontextprotocol/server-github", "@modelcontextprotocol/another");
    writeFileSync(at(".claude.json"), other);
    const [first, second] = await go();
    expect(first?.error).toMatchObject({
      code: "CONFIG_INVALID",
      message: `The servers in ${at(".claude.json")} changed while the command ran`,
    });
    expect(second?.error).toBeUndefined();
    expect(read(".claude.json")).toBe(other);
  });
});

test("every AgentName names an agent", () => {
  const names: AgentName[] = ["zed"];
  expect(chosenAgents(names).map(({ title }) => title)).toEqual(["Zed"]);
});
