/** Which servers agents share, and which keep a state for each agent. */
import { describe, expect, test } from "bun:test";
import { servers } from "../../../registry/index.ts";
import type { ServerConfig } from "../../../src/config/load.ts";
import { type SessionChoice, sessionOf } from "../../../src/tools/catalog/session-of.ts";

const entry = (command: string, args: string[] = [], more: object = {}) =>
  ({ name: "s", command, args, env: {}, ...more }) as unknown as ServerConfig;
const by = (by: SessionChoice["by"], session: SessionChoice["session"]): SessionChoice => ({ session, by });

describe("a server of the catalog", () => {
  test("is private if its calls depend on earlier ones", () => {
    const names = servers.filter(({ session }) => session === "private").map(({ name }) => name);
    expect(names.sort()).toEqual([
      "apify",
      "bright-data",
      "chrome-devtools",
      "desktop-commander",
      "godot",
      "kubernetes",
      "mongodb",
      "nano-banana",
      "notebooklm",
      "playwright",
      "puppeteer",
      "sequential-thinking",
      "serena",
      "sqlite",
    ]);
  });

  test.each([
    ["npx", ["-y", "@playwright/mcp@latest", "--headless"]],
    ["npx", ["@playwright/mcp"]],
    ["/opt/node_modules/@playwright/mcp/cli.js", []],
    ["uvx", ["--from", "git+https://github.com/oraios/serena", "serena", "start-mcp-server"]],
  ])("is recognised however it is started: %s %p", async (command, args) => {
    expect(await sessionOf(entry(command, args))).toEqual(by("catalog", "private"));
  });

  test("is shared if its calls name all that they are about, whatever its tools are called", async () => {
    const memory = entry("npx", ["-y", "@modelcontextprotocol/server-memory"]);
    expect(await sessionOf(memory, ["browser_navigate"])).toEqual(by("catalog", "shared"));
  });
});

test("the entry decides before the catalog", async () => {
  const shared = entry("npx", ["-y", "@playwright/mcp"], { session: "shared" });
  expect(await sessionOf(shared)).toEqual(by("config", "shared"));
  expect(await sessionOf(entry("own", [], { session: "private" }))).toEqual(by("config", "private"));
});

describe("an unknown server", () => {
  test.each([
    ["my-browser-mcp", []],
    ["npx", ["-y", "@acme/mcp-ssh"]],
    ["node", ["/srv/shell/server.js"]],
    ["uvx", ["jupyter-mcp-server"]],
  ])("is private if its program is a browser, a shell or an interpreter: %s %p", async (command, args) => {
    expect(await sessionOf(entry(command, args))).toEqual(by("program", "private"));
  });

  test.each([
    ["shellfish-prices", []],
    ["npx", ["-y", "@acme/weather", "--browser", "ssh"]],
    ["node", ["/home/me/bashful/index.js"]],
  ])("is shared if a word only looks like it: %s %p", async (command, args) => {
    expect(await sessionOf(entry(command, args))).toEqual(by("default", "shared"));
  });

  test.each([
    "browser_click",
    "navigate",
    "page-navigate",
    "set_working_directory",
    "setWorkingDir",
    "git_set_working_dir",
    "switch-context",
    "use_database",
    "select_project",
    "begin_transaction",
    "start_process",
    "sequentialthinking",
    "run_cell",
  ])("is private once it has a tool such as %s", async (tool) => {
    expect(await sessionOf(entry("own"), ["search", tool])).toEqual(by("tools", "private"));
  });

  test.each(["search", "get_page", "list_sessions", "set_status", "create_context", "transaction_list", "select"])(
    "is shared if its tools are like %s",
    async (tool) => {
      expect(await sessionOf(entry("own"), [tool])).toEqual(by("default", "shared"));
    },
  );
});

test("a server on the network is judged by the catalog and its tools", async () => {
  const remote = {
    name: "s",
    url: "https://example.com/ssh",
    transport: "auto",
    headers: {},
  } as unknown as ServerConfig;
  expect(await sessionOf(remote)).toEqual(by("default", "shared"));
  expect(await sessionOf({ ...remote }, ["browser_navigate"])).toEqual(by("tools", "private"));
});
