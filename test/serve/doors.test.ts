/**
 * Nothing shows an agent that its door hides something. Each probe is made behind a door that hides servers and tools, and in a config
 * without them: both must answer the same.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { cli } from "../cli/in-memory.ts";
import { fixture } from "../support/servers.ts";
import { inSession } from "../support/session.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";
import { answersTo, hidden, type ProbedFolders, plain, probedFolders, probes, shown, tool } from "./door-probes.ts";

setDefaultTimeout(60_000);

let folders: ProbedFolders;
beforeAll(async () => {
  folders = await probedFolders();
});
afterAll(() => folders[Symbol.dispose]());

async function both(probe: (folder: string) => Promise<unknown>): Promise<[string, string]> {
  const [hiding, open] = [folders.hiding.path, folders.open.path];
  return [plain(JSON.stringify(await probe(hiding)), hiding), plain(JSON.stringify(await probe(open)), open)];
}

describe("an agent behind a door learns the same as one from whom nothing is hidden, from", () => {
  let answers: { hiding: Map<string, string>; open: Map<string, string> };
  beforeAll(async () => {
    const { hiding, open, other } = folders;
    const ask = (folder: TemporaryFolder) =>
      inSession(folder.path, (client) => answersTo(client, folder, other), { door: "qa" });
    answers = { hiding: await ask(hiding), open: await ask(open) };
  });

  test.each([...Object.keys(probes), "the instructions and the definitions of the tools"])("%s", (name) => {
    expect(answers.hiding.get(name)).toBe(answers.open.get(name));
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
    const argv = words.map((word) => (word === "OTHER" ? folders.other : word));
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

test("a door with ten of fifty servers loads at most 650 tokens, and names only its own", async () => {
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
      expect(countTokens(text)).toBeLessThanOrEqual(650);
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
