/** The servers in all agents' settings files, in all their formats, as entries of claudikins.json. */
import { beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { isObject } from "../../../src/base/json-object.ts";
import { type FoundFiles, findServers } from "../../../src/setup/agents/find-servers.ts";
import { isSameServer, merge } from "../../../src/setup/agents/merge.ts";
import { agents, chosenAgents } from "../../../src/setup/agents/supported/agents.ts";
import { isClaudikinsCommand } from "../../../src/setup/agents/supported/claudikins-entry.ts";
import { suppliedText } from "../../../src/setup/agents/supported/model.ts";
import { ownFolder } from "../../support/own-folder.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { type Home, homeWithHosts, secrets } from "./home.ts";

const folder = ownFolder({ isShared: true });
let home: Home;
beforeAll(() => {
  home = homeWithHosts(folder);
});

const find = (
  project: boolean,
  more: Partial<{ cwd: string; env: Record<string, string>; platform: NodeJS.Platform }> = {},
) => findServers(agents, { platform: "linux", cwd: home.project, env: home.env, project, ...more });

/** The value with short paths and without secrets. */
function shown(value: unknown): unknown {
  if (typeof value === "string") return value.replaceAll(home.path, "HOME");
  if (Array.isArray(value)) return value.map(shown);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([key, each]) => [shown(key), shown(each)]))
    : value;
}

function entriesOf({ files }: FoundFiles): object {
  const byHost = Map.groupBy(
    files.flatMap(({ servers }) => servers),
    ({ host }) => host,
  );
  return Object.fromEntries(
    [...byHost].map(([host, servers]) => [
      host,
      Object.fromEntries(
        servers.map(({ name, entry, notes, supplied }) => {
          const texts = [...notes, ...supplied.map((one) => suppliedText(one))];
          return [name, { ...entry, ...(texts.length > 0 ? { notes: texts } : {}) }];
        }),
      ),
    ]),
  );
}

test("the import finds every server of every agent, with everything it needs", async () => {
  const found = await find(true);
  expect(found.problems).toEqual([]);
  expect(shown(entriesOf(found))).toMatchSnapshot();
  // Nothing is lost: what is not imported is named.
  expect(shown(found.files.flatMap(({ skipped }) => skipped))).toEqual([
    { name: "ide", host: "claude-code", file: "HOME/.claude.json", why: 'its type "sse-ide" is not supported' },
    {
      name: "team-off",
      host: "claude-code",
      file: "HOME/code/shop/.mcp.json",
      why: "you disabled it in Claude Code",
    },
    {
      name: "socket",
      host: "vscode",
      file: "HOME/.config/Code/User/mcp.json",
      why: "its URL is a local socket",
    },
    {
      name: "postgres-context-server",
      host: "zed",
      file: "HOME/.config/zed/settings.json",
      why: "it comes with a Zed extension",
    },
    {
      name: "signed-in",
      host: "antigravity",
      file: "HOME/.gemini/config/mcp_config.json",
      why: "it signs in with google_credentials",
    },
    {
      name: "crush-shell",
      host: "crush",
      file: "HOME/.config/crush/crush.json",
      why: "it contains a shell command that Crush runs for a value",
    },
  ]);
});

test("secrets are imported unchanged", async () => {
  const text = JSON.stringify(entriesOf(await find(true)));
  // The entry with this one is not imported.
  const { helper: _, ...all } = secrets;
  for (const secret of Object.values(all)) expect(text).toContain(secret);
});

test("files of a project are named, and read only if requested", async () => {
  const { files, shared } = await find(false);
  expect(files.filter(({ file }) => file.folder !== undefined)).toEqual([]);
  expect(shown(shared)).toEqual([
    { host: "claude-code", file: "HOME/code/shop/.mcp.json", servers: 2 },
    { host: "cursor", file: "HOME/code/shop/.cursor/mcp.json", servers: 1 },
    { host: "codex", file: "HOME/code/shop/.codex/config.toml", servers: 2 },
    { host: "opencode", file: "HOME/code/shop/opencode.json", servers: 1 },
    { host: "copilot", file: "HOME/code/shop/.github/mcp.json", servers: 1 },
    { host: "kiro", file: "HOME/code/shop/.kiro/settings/mcp.json", servers: 1 },
    { host: "roo", file: "HOME/code/shop/.roo/mcp.json", servers: 1 },
  ]);
  // The same from a subfolder; files above the project do not count.
  expect((await find(true, { cwd: join(home.project, "deep", "er") })).files.length).toBe(
    (await find(true)).files.length,
  );
  expect(
    (await find(true, { cwd: join(home.path, "code") })).files.every(({ file }) => file.folder === undefined),
  ).toBe(true);
  // The user's own files do not belong to the project.
  expect((await find(true, { cwd: home.path })).files.every(({ file }) => file.folder === undefined)).toBe(true);
});

test("a file that cannot be read is a problem with its line, and the others are read", async () => {
  using other = temporaryFolder();
  const broken = homeWithHosts(other);
  other.write("home/.gemini/settings.json", '{\n  "mcpServers": {\n    "a": {} "b": {}\n  }\n}\n');
  other.write("home/.codex/config.toml", 'model = "x"\n[mcp_servers.a\ncommand = "a"\n');
  const { problems, files } = await findServers(agents, {
    platform: "linux",
    cwd: "/",
    env: broken.env,
    project: false,
  });
  expect(problems.map(({ host, error }) => [host, error.code, error.message.replaceAll(broken.path, "HOME")])).toEqual([
    ["codex", "CONFIG_INVALID", expect.stringMatching(/^HOME\/\.codex\/config\.toml:2: not valid TOML: /)],
    ["gemini", "CONFIG_INVALID", "HOME/.gemini/settings.json:3: not valid JSON: comma expected"],
  ]);
  expect(new Set(files.map(({ agent }) => agent.name)).size).toBe(15);
});

test.each([
  ["an invalid entry", "text", "it is not a server entry"],
  ["an entry without command and address", { env: {} }, "it has neither a command nor a URL"],
  ["an entry with an invalid address", { url: "nonsense" }, /^mcpServers\.x\.url: expected an address/],
  ["an empty command", { command: "" }, /^mcpServers\.x\.command: must not be empty/],
  [
    "a header of two lines",
    { url: "https://x", headers: { A: "b\nc" } },
    /^mcpServers\.x\.headers\.A: must be one line$/,
  ],
  ["an entry with an unknown type", { type: "sdk", url: "https://x" }, 'its type "sdk" is not supported'],
])("%s is not imported", async (_, entry, why) => {
  using other = temporaryFolder();
  other.write(".cursor/mcp.json", { mcpServers: { x: entry } });
  const { files } = await findServers(agents, {
    platform: "linux",
    cwd: "/",
    env: { HOME: other.path },
    project: false,
  });
  expect(files.flatMap(({ skipped }) => skipped)).toEqual([
    {
      name: "x",
      host: "cursor",
      file: join(other.path, ".cursor", "mcp.json"),
      why: typeof why === "string" ? why : expect.stringMatching(why),
    },
  ]);
});

test("on Windows, %VAR% becomes a variable if it is set, and stays as it is otherwise", async () => {
  using other = temporaryFolder();
  const entry = { command: "git-server", args: ["%appdata%\\repos", "--format=%H%n", "${HOME}"] };
  other.write(".cursor/mcp.json", { mcpServers: { x: entry } });
  const env = { HOME: other.path, APPDATA: join(other.path, "AppData") };
  const argsOn = async (platform: NodeJS.Platform) => {
    const { files } = await findServers(agents, { platform, cwd: "/", env, project: false });
    const [server] = files.find(({ agent }) => agent.name === "cursor")?.servers ?? [];
    return server?.entry.args;
  };
  expect(await argsOn("win32")).toEqual(["${APPDATA}\\repos", "--format=%H%n", "${HOME}"]);
  expect(await argsOn("linux")).toEqual(entry.args);
});

test.each<[string, object, unknown]>([
  ["for all tools", { default_tools_approval_mode: "prompt" }, "always"],
  ["for one tool", { tools: { drop: { approval_mode: "prompt" } } }, { drop: "always" }],
  [
    "for all tools but one",
    { default_tools_approval_mode: "writes", tools: { read: { approval_mode: "approve" } } },
    { "*": "destructive", read: "never" },
  ],
  ["for no tool", { default_tools_approval_mode: "approve", tools: { read: { approval_mode: "approve" } } }, undefined],
  [
    "by its own default",
    { default_tools_approval_mode: "auto", tools: { read: { approval_mode: "auto" } } },
    undefined,
  ],
])("questions of Codex before calls, asked %s, are asked by claudikins after the import", (_, modes, expected) => {
  const raw = { command: "db-mcp", ...modes };
  const scene = { platform: "linux", cwd: "/", env: {}, server: "db", document: {} } as const;
  const { entry } = chosenAgents(["codex"])[0]!.read(raw, scene);
  expect(entry?.["confirm"]).toEqual(expected);
});

describe("the settings files", () => {
  const paths = (platform: NodeJS.Platform, env: Record<string, string>) =>
    agents.map((agent) => [agent.name, agent.files({ platform, cwd: "/nowhere", env })[0]?.path]);

  test("have the expected places on Linux, macOS and Windows", () => {
    const env = { HOME: "/home/me" };
    const rooFile = "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json";
    expect(paths("linux", env)).toEqual([
      ["claude-code", "/home/me/.claude.json"],
      ["claude-desktop", "/home/me/.config/Claude/claude_desktop_config.json"],
      ["cursor", "/home/me/.cursor/mcp.json"],
      ["vscode", "/home/me/.config/Code/User/mcp.json"],
      ["windsurf", "/home/me/.codeium/windsurf/mcp_config.json"],
      ["codex", "/home/me/.codex/config.toml"],
      ["gemini", "/home/me/.gemini/settings.json"],
      ["opencode", "/home/me/.config/opencode/opencode.json"],
      ["zed", "/home/me/.config/zed/settings.json"],
      ["copilot", "/home/me/.copilot/mcp-config.json"],
      ["antigravity", "/home/me/.gemini/config/mcp_config.json"],
      ["kiro", "/home/me/.kiro/settings/mcp.json"],
      ["crush", "/home/me/.config/crush/crush.json"],
      ["amp", "/home/me/.config/amp/settings.json"],
      ["qwen", "/home/me/.qwen/settings.json"],
      ["roo", `/home/me/.config/${rooFile}`],
      ["cline", "/home/me/.cline/data/settings/cline_mcp_settings.json"],
    ]);
    const mac = Object.fromEntries(paths("darwin", env));
    expect(mac["claude-desktop"]).toBe("/home/me/Library/Application Support/Claude/claude_desktop_config.json");
    expect(mac["vscode"]).toBe("/home/me/Library/Application Support/Code/User/mcp.json");
    expect(mac["zed"]).toBe("/home/me/.config/zed/settings.json");
    const windows = Object.fromEntries(paths("win32", { USERPROFILE: "/C/me", APPDATA: "/C/me/AppData/Roaming" }));
    expect(windows["claude-desktop"]).toBe("/C/me/AppData/Roaming/Claude/claude_desktop_config.json");
    expect(windows["zed"]).toBe("/C/me/AppData/Roaming/Zed/settings.json");
    expect(windows["crush"]).toBe("/C/me/AppData/Local/crush/crush.json");
    expect(windows["roo"]).toBe(`/C/me/AppData/Roaming/${rooFile}`);
    expect(windows["cursor"]).toBe("/C/me/.cursor/mcp.json");
  });

  test("follow the variables of each agent", () => {
    const env = {
      HOME: "/home/me",
      XDG_CONFIG_HOME: "/xdg",
      CLAUDE_CONFIG_DIR: "/claude",
      CODEX_HOME: "/codex",
      OPENCODE_CONFIG: "/oc.json",
      COPILOT_HOME: "/copilot",
      CRUSH_GLOBAL_CONFIG: "/crush",
    };
    const found = Object.fromEntries(paths("linux", env));
    expect(found["claude-code"]).toBe("/claude/.claude.json");
    expect(found["codex"]).toBe("/codex/config.toml");
    expect(found["zed"]).toBe("/xdg/zed/settings.json");
    expect([found["copilot"], found["crush"]]).toEqual(["/copilot/mcp-config.json", "/crush/crush.json"]);
    expect(
      chosenAgents(["opencode"])[0]
        ?.files({ platform: "linux", cwd: "/", env })
        .map(({ path }) => path),
    ).toContain("/oc.json");
  });

  test("include those of each VS Code profile", () => {
    using other = temporaryFolder();
    other.write(".config/Code/User/profiles/-1a2b/mcp.json", { servers: { a: { command: "a" } } });
    other.write(".config/Code - Insiders/User/mcp.json", { servers: { b: { command: "b" } } });
    const [vscode] = chosenAgents(["vscode"]);
    const files = vscode?.files({ platform: "linux", cwd: "/", env: { HOME: other.path } }) ?? [];
    const names = files.map(({ path }) => path.slice(other.path.length));
    expect(names).toContain("/.config/Code/User/profiles/-1a2b/mcp.json");
    expect(names).toContain("/.config/Code - Insiders/User/mcp.json");
    expect(new Set(files.map(({ group }) => group)).size).toBe(3);
  });

  test("for an unknown agent are an error", () => {
    expect(() => chosenAgents(["curser"])).toThrow('Unknown agent "curser"');
  });
});

test.each<[string, string[], boolean]>([
  ["claudikins", ["serve"], true],
  ["/home/me/.local/bin/claudikins", ["serve", "--config", "x"], true],
  ["C:\\bin\\claudikins.exe", ["serve"], true],
  ["npx", ["-y", "claudikins", "serve"], true],
  ["npx", ["-y", "claudikins@latest", "serve"], true],
  ["cmd", ["/c", "npx", "claudikins"], true],
  ["cmd", ["/c", "claudikins", "serve"], true],
  ["env", ["A=b", "claudikins", "serve"], true],
  ["bun", ["/src/claudikins/src/main.ts", "serve"], true],
  ["claudikins", [], true],
  ["claudikins", ["demo"], false],
  ["/home/me/.local/bin/claudikins", ["demo"], false],
  ["npx", ["-y", "claudikins@latest", "demo"], false],
  ["npm", ["exec", "claudikins", "--", "demo"], false],
  ["bun", ["/src/claudikins/src/main.ts", "demo"], false],
  ["npx", ["-y", "@modelcontextprotocol/server-filesystem", "/home/me/claudikins"], false],
  ["claudikins-helper", [], false],
  ["node", ["claudikins.js"], false],
  ["docker", ["run", "claudikins"], false],
])("isClaudikinsCommand recognises our own entry: %s %j", (command, args, isOwn) => {
  expect(isClaudikinsCommand([command, ...args])).toBe(isOwn);
});

describe("merge", () => {
  const found = (host: string, name: string, entry: object, folder?: string) =>
    ({ name, host, file: `/${host}`, section: ["mcpServers"], folder, entry, notes: [], supplied: [] }) as never;
  const npx = { command: "npx", args: ["-y", "x"] };

  test("lists a server of several agents once, and disables it only if all do", () => {
    const off = { ...npx, disabled: true };
    const { servers, conflicts } = merge(
      [
        found("a", "x", off),
        found("b", "x", { type: "stdio", env: {}, ...npx }),
        found("c", "y", off),
        found("d", "y", off),
      ],
      new Map([["x2", npx]]),
      "/config",
    );
    expect(conflicts).toEqual([]);
    expect(servers.map(({ name, entry, from }) => [name, entry, from.map(({ host }) => host)])).toEqual([
      ["x", npx, ["a", "b"]],
      ["y", off, ["c", "d"]],
    ]);
  });

  test("keeps the questions that one agent asked, and the choice of the config", () => {
    const asked = { ...npx, confirm: "always" };
    const all = [found("a", "x", npx), found("codex", "x", asked)];
    expect(merge(all, new Map(), "/config").servers.map(({ entry }) => entry)).toEqual([asked]);
    const own = { ...npx, confirm: "never" };
    expect(merge(all, new Map([["x", own]]), "/config").servers.map(({ entry }) => entry)).toEqual([own]);
  });

  test.each([
    [npx, { ...npx, args: ["x", "-y"] }, false],
    [npx, { ...npx, env: { A: "1" } }, false],
    [npx, { ...npx, callTimeoutMs: 5, description: "x", type: "stdio" }, true],
    [{ url: "https://x" }, { type: "http", url: "https://x", headers: {} }, true],
    [{ url: "https://x" }, { type: "streamable-http", serverUrl: "https://x" }, true],
    [{ url: "https://x" }, { type: "sse", url: "https://x" }, false],
    [{ url: "https://x" }, { url: "https://x", oauth: false }, false],
  ])("compares the entries %j and %j", (one, other, same) => {
    expect([isSameServer(one, other), isSameServer(other, one)]).toEqual([same, same]);
  });
});
