/**
 * Agents and people see an edited tool as if its server had it so. Each probe is made in a config that edits tools, behind a door that edits
 * them, and in a config whose server has such tools: all must answer the same.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cli } from "../cli/in-memory.ts";
import { eventually } from "../support/eventually.ts";
import { openModernHost } from "../support/modern-host.ts";
import { fixture } from "../support/servers.ts";
import { inSession } from "../support/session.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

const text = { type: "string" };
const annotations = { readOnlyHint: false, destructiveHint: false };
const object = (properties: object, required: string[]) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});
const shared = [{ name: "get_task", description: "Reads a task.", inputSchema: object({ id: text }, ["id"]) }];
/** A word that only what is hidden contains. */
const sesame = "sesame-4f9a8b7c";
const listed = [
  ...shared,
  {
    name: "create_sesame",
    title: "Create",
    description: "Creates a sesame in a project.",
    annotations: { title: "Create", ...annotations },
    inputSchema: object(
      {
        sesame_project: { type: "string", description: "A project key." },
        title: text,
        priority: { enum: ["low", "high"] },
        sesame_by: text,
      },
      ["sesame_project", "title", "priority"],
    ),
  },
];
const shown = [
  ...shared,
  {
    name: "add_entry",
    description: "Adds an entry for the shop.",
    annotations,
    inputSchema: object({ title: text, priority: { enum: ["low", "high"], default: "low" } }, ["title"]),
  },
];
const edits = {
  "jira.create_sesame": {
    name: "add_entry",
    description: "Adds an entry for the shop.",
    arguments: { sesame_project: { value: sesame }, priority: { default: "low" }, sesame_by: { hide: true } },
  },
};

/** Each with `--door qa`. */
const scenes = {
  edited: { tools: listed, config: { tools: edits, doors: { qa: {}, direct: { mode: "direct" } } } },
  door: { tools: listed, config: { doors: { qa: { tools: edits }, direct: { mode: "direct", tools: edits } } } },
  plain: { tools: shown, config: { doors: { qa: {}, direct: { mode: "direct" } } } },
};
type Scene = keyof typeof scenes;
const names = Object.keys(scenes) as Scene[];
const folders = {} as Record<Scene, TemporaryFolder>;

beforeAll(() => {
  for (const name of names) {
    const folder = temporaryFolder();
    const { tools, config } = scenes[name];
    const jira = fixture("from-file", folder.write("jira.json", tools));
    folder.write("claudikins.json", { mcpServers: { jira }, ...config });
    folders[name] = folder;
  }
});
afterAll(() => {
  for (const folder of Object.values(folders)) folder[Symbol.dispose]();
});

/** The answer, without what differs between two runs. */
function plain(answer: unknown, { path }: TemporaryFolder): string {
  return JSON.stringify(answer)
    .replaceAll(path, "FOLDER")
    .replace(/\d+(?:\.\d+)? m?s\b/g, "N ms")
    .replace(/"(?:durationMs|charsOut)": ?[\d.]+/g, '"N":N')
    .replace(/\\?"(?:fingerprint|edit|askedAt)\\?": ?(?:\\?"[\da-f]+\\?"|\d+),?(?:\\n *)?/g, "")
    .replace(/\d+ +\d+ MB/g, "PID N MB")
    .replace(/\b[\da-hjkmnp-tv-z]{28}\b/g, "ID")
    .replace(/ {2,}/g, " ");
}

async function expectSame(probe: (folder: string) => Promise<unknown>): Promise<void> {
  const answers: Record<string, string> = {};
  for (const name of names) answers[name] = plain(await probe(folders[name].path), folders[name]);
  expect(answers["edited"]).toBe(answers["plain"]!);
  expect(answers["door"]).toBe(answers["plain"]!);
  expect(answers["plain"]!.length).toBeGreaterThan(20);
}

const answered = (of: Promise<unknown>) => of.catch((error: Error) => ({ error: error.message }));
const code = (source: string) => ({ name: "execute_code", arguments: { code: source } });
const search = (args: object) => ({ name: "search_tools", arguments: { query: "", ...args } });

const calls: Record<string, { name: string; arguments: Record<string, unknown> }> = {
  "a search for the new name": search({ query: "add entry" }),
  "a search with everything": search({ query: "entry", detail: "full" }),
  "a search for the own name": search({ query: "create sesame" }),
  "a search for a hidden argument": search({ query: "sesame_project" }),
  "the list of tools": code("return tools.list('jira')"),
  "a search from code": code("return tools.search('entry')"),
  "a description": code("return tools.describe('jira.add_entry')"),
  "a description of the own name": code("return tools.describe('jira.create_sesame')"),
  "the names of functions": code("return [Object.keys(jira), typeof jira.create_sesame]"),
  "a call of the own name": code("return jira.create_sesame({ title: 'x' })"),
  "a call of the own name by a computed name": code("const name = 'create_' + 'sesame'; return jira[name]({})"),
  "callTool with the own name": code("const name = 'create_sesame'; return callTool('jira', name, {})"),
  "a call with a fixed argument": code("return jira.add_entry({ title: 'x', sesame_project: 'y' })"),
  "a call with a hidden argument": code(
    "const args: any = { title: 'x', sesame_by: 'y' }; return jira.add_entry(args)",
  ),
  "a call without a required argument": code("return jira.add_entry({})"),
  "a call with a wrong argument": code(
    "const args: any = { title: 'x', priority: 'odd' }; return jira.add_entry(args)",
  ),
  "a misspelt argument": code("return jira.add_entry({ titel: 'x' })"),
  "an import of the generated file": code("return Object.keys(await import('./registry/other/jira/add_entry.ts'))"),
  "an import of the own name": code("return import('./registry/other/jira/create_sesame.ts')"),
  "the registry": code("return (await fs.readdir('./registry', { recursive: true })).sort()"),
  "the registry's index": code("return JSON.parse(await fs.readFile('./registry/index.json', 'utf8')).servers"),
};

describe("an agent learns the same about an edited tool as about one that its server has so, from", () => {
  const found = {} as Record<Scene, Record<string, unknown>>;
  let loaded: Record<Scene, string>;
  beforeAll(async () => {
    const surfaces: [Scene, string][] = [];
    for (const name of names) {
      found[name] = await inSession(
        folders[name].path,
        async (client) => {
          const answers: Record<string, unknown> = {};
          for (const [title, call] of Object.entries(calls)) answers[title] = await answered(client.callTool(call));
          const surface = { tools: await client.listTools(), instructions: client.getInstructions() };
          surfaces.push([name, plain(surface, folders[name])]);
          return answers;
        },
        { door: "qa" },
      );
    }
    loaded = Object.fromEntries(surfaces) as Record<Scene, string>;
  });

  test.each(Object.keys(calls))("%s", (title) => {
    const [edited, door, open] = names.map((name) => plain(found[name][title], folders[name]));
    expect(edited).toBe(open!);
    expect(door).toBe(open!);
    const asked = JSON.stringify(calls[title]);
    // An answer may repeat what was asked.
    if (!asked.includes("sesame")) expect(edited).not.toContain("sesame");
    expect(edited).not.toContain(sesame);
  });

  test("the surface that it loads", () => {
    expect(loaded.edited).toBe(loaded.plain);
    expect(loaded.door).toBe(loaded.plain);
  });
});

describe("the command line shows the same:", () => {
  const commands = [
    ["list", "--json"],
    ["list", "--check"],
    ["list", "tools", "--detailed"],
    ["list", "tools", "jira", "--json"],
    ["search", "entry", "--json"],
    ["search", "create sesame"],
    ["call", "jira.create_sesame", "title=x"],
    ["call", "jira.create_sesam"],
    ["call", "jira.add_entry", "title=x", "sesame_project=y"],
    ["call", "jira.add_entry", "priority=odd"],
    ["call", "jira"],
    ["exec", "-e", "return jira.create_sesame({})"],
    ["exec", "-e", "return jira.add_entry({ title: 1, sesame_by: 2 })"],
    ["complete", "fish", "--", "call", "--door", "qa", "jira."],
    ["complete", "fish", "--", "call", "--door", "qa", "jira.add_entry", ""],
    ["complete", "fish", "--", "disable", "jira."],
  ];
  test.each(commands.map((words) => [words.join(" "), words] as const))("%s", async (_, words) => {
    const door = words[0] === "complete" ? [] : ["--door", "qa"];
    await expectSame((cwd) => cli([...words, ...door], { cwd }));
  });

  test("the generated files, and nothing hidden is in them", async () => {
    const files = (folder: string) => {
      const registry = join(folder, ".claudikins/doors/qa/registry");
      const paths = readdirSync(registry, { recursive: true, encoding: "utf8" }).sort();
      return paths
        .filter((path) => /\.(?:ts|json|js|md)$/.test(path))
        .map((path) => [path, readFileSync(join(registry, path), "utf8")] as const);
    };
    await expectSame(async (cwd) => {
      await cli(["list", "--check", "--door", "qa"], { cwd });
      return files(cwd);
    });
    for (const name of names) expect(JSON.stringify(files(folders[name].path))).not.toContain("sesame");
  });
});

describe.each(["2025", "2026"] as const)("in direct mode, for agents of %s,", (era) => {
  test("the tool is listed and refused as if its server had it so, and called under its own name", async () => {
    const results: Record<string, unknown> = {};
    await expectSame(async (path) => {
      await using host = await openModernHost({ path }, { flags: ["--door", "direct"], isOlder: era === "2025" });
      const call = (name: string, args: Record<string, unknown>) =>
        answered(host.callTool({ name, arguments: args })) as Promise<Record<string, unknown>>;
      results[path] = (await call("add_entry", { title: "x" }))["structuredContent"];
      return [await host.listTools(), await call("create_sesame", { title: "x" }), await call("get_task", { id: "1" })];
    });
    const sent = { name: "create_sesame", arguments: { title: "x", priority: "low", sesame_project: sesame } };
    expect(results[folders.edited.path]).toEqual(sent);
    expect(results[folders.door.path]).toEqual(sent);
  });
});

test("in direct mode, an argument that agents do not see is refused", async () => {
  await inSession(
    folders.edited.path,
    async (client) => {
      for (const name of ["sesame_project", "sesame_by"]) {
        const failure = JSON.stringify(
          await answered(client.callTool({ name: "add_entry", arguments: { title: "x", [name]: "y" } })),
        );
        expect(failure).toContain(`there is no argument \\"${name}\\"`);
        expect(failure.replaceAll(name, "")).not.toContain("sesame");
      }
    },
    { door: "direct" },
  );
});

describe("a change of the config", () => {
  const configure = (folder: TemporaryFolder, tools: object) => {
    const jira = fixture("from-file", folder.write("jira.json", listed));
    folder.write("claudikins.json", { mcpServers: { jira }, tools });
  };

  test("applies to what was stored before", async () => {
    using folder = temporaryFolder();
    const found = async () => (await cli(["search", "sesame bug"], { cwd: folder.path })).stdout;
    configure(folder, {});
    expect(await found()).toContain("create_sesame");
    configure(folder, edits);
    expect(await found()).not.toContain("sesame_project");
    configure(folder, { "jira.create_sesame": { name: "report_bug" } });
    expect(await found()).toContain("report_bug");
    expect(await found()).not.toContain("add_entry");
  });

  test("applies to the next call of a running agent", async () => {
    using folder = temporaryFolder();
    configure(folder, {});
    await using host = await openModernHost(folder, { isOlder: true });
    const run = async (source: string) => JSON.stringify(await host.callTool(code(source)));
    expect(await run("return Object.keys(jira)")).toContain("create_sesame");
    configure(folder, edits);
    await eventually(async () => !(await run("return Object.keys(jira)")).includes("create_sesame"));
    expect(await run("return jira.add_entry({ title: 'x' })")).toContain(sesame);
    expect(await run("return callTool('jira', 'create_' + 'sesame', {})")).toContain("has no tool");
  });
});
