/**
 * Nothing shows an agent that its door hides something. Each probe is made behind a door that hides servers and tools, and in a config
 * without them: both must answer the same.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { cli } from "../cli/in-memory.ts";
import { fixture } from "../support/servers.ts";
import { inSession } from "../support/session.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const inputSchema = { type: "object", properties: { id: { type: "string" } } };
const tool = (name: string, description: string) => ({ name, description, inputSchema });
const shown = [tool("get_issue", "Reads an issue."), tool("list_issues", "Lists the issues of a project.")];
const hidden = [tool("purge_everything", "Sesame removes all issues."), tool("get_secret", "Reads a secret issue.")];

let folders: { hiding: TemporaryFolder; open: TemporaryFolder };
/** An execution behind another door. */
let other: string;

beforeAll(async () => {
  folders = { hiding: temporaryFolder(), open: temporaryFolder() };
  const { hiding, open } = folders;
  const jira = (folder: TemporaryFolder, tools: object[]) => fixture("from-file", folder.write("jira.json", tools));
  const vault = fixture("from-file", hiding.write("vault.json", [tool("open_safe", "Opens the safe with Sesame.")]));
  hiding.write("claudikins.json", {
    mcpServers: { vault, jira: jira(hiding, [...hidden, ...shown]) },
    doors: {
      qa: { servers: ["jira"], tools: { allow: ["jira.get_*", "jira.list_*"], deny: ["jira.get_secret"] } },
      vaults: { servers: ["vault"] },
      direct: { tools: { allow: ["jira.*_issue*"] }, mode: "direct", instructions: "You test." },
    },
  });
  open.write("claudikins.json", { mcpServers: { jira: jira(open, shown) }, doors: { qa: {} } });
  // What others have done must not be seen either.
  const others = { cwd: hiding.path, env: { HOME: hiding.path } };
  for (const door of [[], ["--door", "vaults"]]) {
    const code = "await fs.writeFile('./workspace/sesame.txt', 'x'); return vault.open_safe({})";
    const { exitCode, stderr } = await cli(["exec", ...door, "-e", code], others);
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  }
  const { exitCode } = await cli(
    ["exec", "-e", "return [await jira.get_secret({}), await jira.get_issue({})]"],
    others,
  );
  expect(exitCode).toBe(0);
  hiding.write("report.ts", "return 'sesame';");
  for (const door of [[], ["--door", "vaults"]]) {
    const argv = ["programs", "save", "report.ts", "--name", "sesame-report", ...door];
    expect((await cli(argv, others)).exitCode).toBe(0);
  }
  other = await inSession(
    hiding.path,
    async (client) => {
      const call = { name: "execute_code", arguments: { code: "return 'sesame'", background: true } };
      const { content } = (await client.callTool(call)) as { content: { text: string }[] };
      const [id] = /[\da-z]{28}/.exec(content[0]?.text ?? "") ?? [];
      await client.callTool({ name: "execute_code", arguments: { resume: id } });
      return id!;
    },
    { door: "vaults" },
  );
});
afterAll(() => {
  for (const folder of Object.values(folders)) folder[Symbol.dispose]();
});

/** The text, without what differs between two runs. */
function plain(text: string, folder: string): string {
  return (
    text
      .replaceAll(folder, "FOLDER")
      .replace(/\d+(?:\.\d+)? ms/g, "N ms")
      .replace(/"durationMs": ?[\d.]+/g, '"durationMs":N')
      .replace(/\b[\da-hjkmnp-tv-z]{28}\b/g, "ID")
      .replace(/\b\d{13}\b/g, "TIME")
      .replace(/\d+ +\d+ MB/g, "PID N MB")
      .replace(/ready in [\d.]+ m?s|ready in N ms/g, "ready")
      // The widths of columns depend on their contents.
      .replace(/ {2,}/g, " ")
  );
}

async function both(probe: (folder: string) => Promise<unknown>): Promise<[string, string]> {
  const [hiding, open] = [folders.hiding.path, folders.open.path];
  return [plain(JSON.stringify(await probe(hiding)), hiding), plain(JSON.stringify(await probe(open)), open)];
}

/** Errors of the protocol are answers too. */
const answered = (of: Promise<unknown>) => of.catch((error: Error) => ({ error: error.message }));

const code = (text: string) => ({ name: "execute_code", arguments: { code: text } });
const search = (args: object) => ({ name: "search_tools", arguments: { query: "", ...args } });

interface Call {
  name: string;
  arguments: Record<string, unknown>;
}

const calls: Record<string, Call | (() => Call)> = {
  "a search for a hidden tool": search({ query: "purge everything" }),
  "a search for a hidden server": search({ query: "vault safe" }),
  "a search for a word of a description": search({ query: "sesame" }),
  "a search in a hidden server": search({ query: "open", server: "vault" }),
  "a search for everything": search({ query: "issue", detail: "full", limit: 50 }),
  "a search by category": search({ query: "open", category: "other" }),
  "a call of a hidden tool": code("return jira.purge_everything({})"),
  "a call of a denied tool": code("return jira.get_secret({})"),
  "a call of a tool whose name is computed": code("const name = 'purge_' + 'everything'; return jira[name]({})"),
  "a raw call of a computed name": code("const name = 'get_' + 'secret'; return jira[name].raw?.({})"),
  "a call of a hidden server": code("return vault.open_safe({})"),
  "a hidden server by its computed name": code("return globalThis['va' + 'ult']?.open_safe({})"),
  "a misspelt hidden tool": code("return jira.purge_everythin({})"),
  "a misspelt hidden server": code("return vaul.open_safe({})"),
  "the list of servers": code("return tools.list()"),
  "the list of tools": code("return tools.list('jira')"),
  "the list of a hidden server": code("return tools.list('vault')"),
  "a search from code": code("return tools.search('purge sesame vault')"),
  "a description of a hidden tool": code("return tools.describe('jira.purge_everything')"),
  "a description of a tool of a hidden server": code("return tools.describe('vault.open_safe')"),
  "the names of a server's functions": code("return Object.keys(jira).sort()"),
  "the names of all globals": code("return Object.keys(globalThis).sort()"),
  "the type of a hidden server": code("return [typeof vault, typeof jira.purge_everything]"),
  "an import of a hidden server": code("return import('servers/vault')"),
  "an import of a generated file": code("return import('./registry/other/vault/open_safe')"),
  "the registry": code("return (await fs.readdir('./registry', { recursive: true })).sort()"),
  "the registry's index": code(
    "const text = await fs.readFile('./registry/index.json', 'utf8'); return text.match(/vault|purge|secret|sesame/gi)",
  ),
  "the workspace": code("return fs.readdir('./workspace', { recursive: true })"),
  "a file beside the workspace": code("return fs.readFile('./workspace/../../../workspace/sesame.txt', 'utf8')"),
  "resources of a hidden server": code("return vault.resources.list()"),
  "a group of a hidden server": code("return globalThis.vault?.prompts"),
  "an execution of another door": () => ({ name: "execute_code", arguments: { resume: other } }),
  "a saved program": code("return globalThis.programs?.sesame_report()"),
  "a saved program that code names": code("return programs.sesame_report()"),
  "the runs of a saved program": code("return programs.runs({ name: 'sesame-report' })"),
  "the names of saved programs": code("return Object.keys(programs)"),
  "a search for a saved program": search({ query: "sesame report program" }),
  "a skill": code("return import('./skills/sesame')"),
};

describe("an agent behind a door learns the same as one from whom nothing is hidden, from", () => {
  const results = new Map<string, [string, string]>();
  let instructions: [string, string];
  beforeAll(async () => {
    const ask = (folder: string) =>
      inSession(
        folder,
        async (client: Client) => {
          const found: Record<string, unknown> = {};
          for (const [name, call] of Object.entries(calls)) {
            found[name] = await answered(client.callTool(typeof call === "function" ? call() : call));
          }
          return { found, tools: await client.listTools(), instructions: client.getInstructions() };
        },
        { door: "qa" },
      );
    const hiding = await ask(folders.hiding.path);
    const open = await ask(folders.open.path);
    const textOf = (answer: unknown, folder: TemporaryFolder) => plain(JSON.stringify(answer), folder.path);
    for (const name of Object.keys(calls)) {
      results.set(name, [textOf(hiding.found[name], folders.hiding), textOf(open.found[name], folders.open)]);
    }
    const loaded = ({ tools, instructions }: typeof hiding) => ({ tools, instructions });
    instructions = [textOf(loaded(hiding), folders.hiding), textOf(loaded(open), folders.open)];
  });

  test.each(Object.keys(calls))("%s", (name) => {
    const [hiding, open] = results.get(name)!;
    expect(hiding).toBe(open);
  });

  test("the instructions and the definitions of the tools", () => {
    const [hiding, open] = instructions;
    expect(hiding).toBe(open);
  });
});

describe("the command line shows the same behind a door and in a config that hides nothing:", () => {
  const commands: string[][] = [
    ["list", "--json"],
    ["list", "--check"],
    ["list", "tools", "--json"],
    ["list", "tools", "vault"],
    ["list", "tools", "vaul"],
    ["search", "purge", "sesame"],
    ["search", "issue", "--json"],
    ["call", "jira.purge_everything"],
    ["call", "jira.get_secret"],
    ["call", "vault.open_safe"],
    ["call", "vault"],
    ["call", "jira.get_issue", "id=7"],
    ["call", "jira.purge_everythin"],
    ["exec", "-e", "return vault.open_safe({})"],
    ["programs", "list", "--json"],
    ["programs", "show", "sesame-report"],
    ["programs", "run", "sesame-report"],
    ["programs", "remove", "sesame-report"],
    ["programs", "unschedule", "sesame-report"],
    ["executions", "list"],
    ["executions", "show", "OTHER"],
    ["executions", "wait", "OTHER"],
    ["executions", "cancel", "OTHER"],
  ];
  test.each(commands.map((words) => [words.join(" "), words] as const))("%s", async (_, words) => {
    const argv = words.map((word) => (word === "OTHER" ? other : word));
    const [hiding, open] = await both((folder) => cli([...argv, "--door", "qa"], { cwd: folder }));
    expect(hiding).toBe(open);
  });
});

describe("completions behind a door", () => {
  const offered = async (folder: string, ...words: string[]) =>
    (await cli(["complete", "fish", "--", ...words], { cwd: folder })).stdout;

  test.each([
    [["call", "--door", "qa", ""]],
    [["call", "--door", "qa", "jira."]],
    [["call", "--door=qa", "va"]],
    [["list", "--door", "qa", "tools", ""]],
    [["programs", "show", "--door", "qa", ""]],
  ])("%j are the same", async (words) => {
    const [hiding, open] = await both((folder) => offered(folder, ...words));
    expect(hiding).toBe(open);
  });

  test("the names of doors are offered", async () => {
    expect(await offered(folders.hiding.path, "exec", "--door", "")).toBe("qa\nvaults\ndirect\n");
  });
});

test("a hidden tool is refused even if its call gets past the catalog, and a shown tool is called", async () => {
  await inSession(
    folders.hiding.path,
    async (_, { pool }) => {
      const signal = AbortSignal.timeout(30_000);
      const failure = await pool.callTool("jira", "purge_everything", {}, { signal }).catch(String);
      expect(failure).toContain('jira has no tool "purge_everything"');
      const raw = { method: "tools/call", params: { name: "get_secret" } };
      expect(await pool.request("jira", raw, { signal }).catch(String)).toContain('jira has no tool "get_secret"');
      const { structuredContent } = await pool.callTool("jira", "get_issue", { id: "1" }, { signal });
      expect(structuredContent).toEqual({ name: "get_issue", arguments: { id: "1" } });
    },
    { door: "qa" },
  );
});

test("in direct mode, only the tools behind the door are listed and called", async () => {
  await inSession(
    folders.hiding.path,
    async (client) => {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).sort()).toEqual(["get_issue", "list_issues"]);
      const call = (name: string) => client.callTool({ name, arguments: {} }).catch(({ message }) => ({ message }));
      const unknown = JSON.stringify(await call("no_such_tool"));
      for (const name of ["purge_everything", "get_secret", "open_safe"]) {
        expect(JSON.stringify(await call(name))).toBe(unknown.replaceAll("no_such_tool", name));
      }
      expect(client.getInstructions()).toStartWith("You test.\n");
      expect(client.getInstructions()).not.toContain("vault");
    },
    { door: "direct" },
  );
});

test("a tool that a door hides later is not found in what was stored before", async () => {
  using folder = temporaryFolder();
  const jira = fixture("from-file", folder.write("jira.json", [...hidden, ...shown]));
  const configure = (tools: object) =>
    folder.write("claudikins.json", { mcpServers: { jira }, doors: { qa: { tools } } });
  const search = async () => (await cli(["search", "purge everything", "--door", "qa"], { cwd: folder.path })).stdout;
  configure({});
  await cli(["list", "tools", "--door", "qa"], { cwd: folder.path });
  expect(await search()).toContain("purge_everything");
  configure({ deny: ["jira.purge_*"] });
  expect(await search()).not.toContain("purge_everything");
});

test("a door with ten of fifty servers loads at most 600 tokens, and names only its own", async () => {
  using folder = temporaryFolder();
  const names = Array.from({ length: 50 }, (_, index) => `service${index}`);
  const tools = Array.from({ length: 20 }, (_, index) =>
    tool(`manage_things_${index}`, "Manages things of a service."),
  );
  const file = folder.write("tools.json", tools);
  const server = (name: string) => ({
    ...fixture("from-file", file),
    description: `the records of department ${name}`,
  });
  const mcpServers = Object.fromEntries(names.map((name) => [name, server(name)]));
  const behind = names.filter((_, index) => index % 5 === 0);
  folder.write("claudikins.json", { mcpServers, doors: { ten: { servers: behind } } });
  await inSession(
    folder.path,
    async (client) => {
      const { tools: listed } = await client.listTools();
      const text = `${JSON.stringify({ tools: listed })}\n${client.getInstructions()}`;
      const named = [...new Set(text.match(/service\d+/g))];
      expect(named.length).toBeGreaterThan(0);
      expect(named.filter((name) => !behind.includes(name))).toEqual([]);
      expect(countTokens(text)).toBeLessThanOrEqual(600);
    },
    { door: "ten" },
  );
});

test("without a door, everything is there", async () => {
  const { stdout } = await cli(["list", "tools", "--json"], { cwd: folders.hiding.path });
  const { tools } = JSON.parse(stdout) as { tools: { id: string }[] };
  expect(tools.map(({ id }) => id).sort()).toEqual([
    "jira.get_issue",
    "jira.get_secret",
    "jira.list_issues",
    "jira.purge_everything",
    "programs.sesame-report",
    "vault.open_safe",
  ]);
});
