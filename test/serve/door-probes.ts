/**
 * Probes of a door for what belongs to another one. Each is made behind a door that hides servers and tools, and in a config without them:
 * both must answer the same.
 */
import { expect } from "bun:test";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { cli } from "../cli/in-memory.ts";
import { fixture } from "../support/servers.ts";
import { inSession } from "../support/session.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

const inputSchema = { type: "object", properties: { id: { type: "string" } } };
export const tool = (name: string, description: string) => ({ name, description, inputSchema });
export const shown = [tool("get_issue", "Reads an issue."), tool("list_issues", "Lists the issues of a project.")];
export const hidden = [
  tool("purge_everything", "Sesame removes all issues."),
  tool("get_secret", "Reads a secret issue."),
];

export interface ProbedFolders extends Disposable {
  /** The door `qa` hides servers and tools of its config. */
  hiding: TemporaryFolder;
  /** The config has no more than what is behind that door. */
  open: TemporaryFolder;
  /** An execution behind another door. */
  other: string;
}

/** Both folders. Each is a home too. In the hiding one, others have left what must not be seen. */
export async function probedFolders(): Promise<ProbedFolders> {
  const [hiding, open] = [temporaryFolder(), temporaryFolder()];
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
  const other = await inSession(
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
  return {
    hiding,
    open,
    other,
    [Symbol.dispose]() {
      for (const folder of [hiding, open]) folder[Symbol.dispose]();
    },
  };
}

/** The text, without what differs between two runs. */
export function plain(text: string, folder: string): string {
  return (
    text
      .replaceAll(folder, "FOLDER")
      .replace(/\d+(?:\.\d+)? m?s\b/g, "N ms")
      .replace(/"durationMs": ?[\d.]+/g, '"durationMs":N')
      .replace(/\b[\da-hjkmnp-tv-z]{28}\b/g, "ID")
      // Lists shorten ids, which all begin with the same letters for a year.
      .replace(/(?<=\\n)0t[\da-hjkmnp-tv-z]{6,}(?= )/g, "ID")
      .replace(/\b\d{13}\b/g, "TIME")
      .replace(/\d+ +\d+ MB/g, "PID N MB")
      .replace(/ready in [\d.]+ m?s|ready in N ms/g, "ready")
      // The widths of columns depend on their contents.
      .replace(/ {2,}/g, " ")
  );
}

/** Errors of the protocol are answers too. */
const answered = (of: Promise<unknown>) => of.catch((error: Error) => ({ error: error.message }));

const code = (text: string) => ({ name: "execute_code", arguments: { code: text } });
const search = (args: object) => ({ name: "search_tools", arguments: { query: "", ...args } });

interface Call {
  name: string;
  arguments: Record<string, unknown>;
}

/** By what each of them asks for. `other` is an execution behind another door. */
export const probes: Record<string, Call | ((other: string) => Call)> = {
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
  "an execution of another door": (other) => ({ name: "execute_code", arguments: { resume: other } }),
  "a saved program": code("return globalThis.programs?.sesame_report()"),
  "a saved program that code names": code("return programs.sesame_report()"),
  "the runs of a saved program": code("return programs.runs({ name: 'sesame-report' })"),
  "the names of saved programs": code("return Object.keys(programs)"),
  "a search for a saved program": search({ query: "sesame report program" }),
  "a skill": code("return import('./skills/sesame')"),
};

/** The answers of an agent's session by the names of the probes, and what it has loaded. They are texts without what differs between two runs. */
export async function answersTo(
  client: Client,
  { path }: TemporaryFolder,
  other: string,
): Promise<Map<string, string>> {
  const loaded = { tools: await client.listTools(), instructions: client.getInstructions() };
  const found = new Map([["the instructions and the definitions of the tools", plain(JSON.stringify(loaded), path)]]);
  for (const [name, call] of Object.entries(probes)) {
    const answer = await answered(client.callTool(typeof call === "function" ? call(other) : call));
    found.set(name, plain(JSON.stringify(answer), path));
  }
  return found;
}
