/** Published servers that claudikins does not know from its catalog: each starts, has types that compile, and answers. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { servers as known } from "../../registry/index.ts";
import { execute } from "../../src/programs/execute.ts";
import { generate } from "../../src/tools/generate.ts";
import { type PublishedName, published } from "../support/published.ts";
import type { Entry } from "../support/servers.ts";
import { errorsInFiles } from "../support/typescript.ts";
import { type Project, project } from "../tools/generation/project.ts";

// The first run installs the packages.
setDefaultTimeout(120_000);

interface Case {
  name: PublishedName;
  args?: string[];
  env?: Record<string, string>;
  /** A call that needs no key and no network, as an expression of the server `s`, and a part of its JSON. */
  call?: [string, string];
}

const folder: Project = project();
const at = (path: string) => JSON.stringify(join(folder.path, path));
mkdirSync(join(folder.path, "vault/shop"), { recursive: true });
folder.write("vault/notes.md", "# Notes\nalpha\n");
folder.write("plan.drawio", '<mxfile><diagram id="a" name="Ground floor"><mxGraphModel/></diagram></mxfile>');
folder.write("schema.graphqls", "type Query { order(id: ID!): String }\n");
Bun.spawnSync(["git", "init", "-q", join(folder.path, "repo")]);

const stdio = ["--stdio"];
const thought = `{ available_mcp_tools: ["x"], thought: "t", thought_number: 1, total_thoughts: 1, next_thought_needed: false }`;

const cases: Case[] = [
  { name: "@agent-infra/mcp-server-commands", call: [`run_command({ command: "echo hello" })`, "hello"] },
  {
    name: "@agent-infra/mcp-server-filesystem",
    args: ["--allowed-directories", join(folder.path, "vault")],
    call: [`read_file({ path: ${at("vault/notes.md")} })`, "alpha"],
  },
  {
    name: "@allpepper/memory-bank-mcp",
    env: { MEMORY_BANK_ROOT: join(folder.path, "vault") },
    call: ["list_projects({})", "shop"],
  },
  { name: "@drawio/mcp", call: [`list_pages({ path: ${at("plan.drawio")} })`, "Ground floor"] },
  { name: "@hyperdrive-eng/mcp-nodejs-debugger", call: ["list_breakpoints({})", ""] },
  {
    name: "@itseasy21/mcp-knowledge-graph",
    args: ["--memory-path", join(folder.path, "memory.json")],
    call: [`create_entities({ entities: [{ name: "Ada", entityType: "person", observations: ["x"] }] })`, "Ada"],
  },
  {
    name: "@kazuph/mcp-taskmanager",
    env: { TASK_MANAGER_FILE_PATH: join(folder.path, "tasks.json") },
    call: [`request_planning({ originalRequest: "r", tasks: [{ title: "first", description: "d" }] })`, "planned"],
  },
  { name: "@liuyoshio/mcp-compass" },
  { name: "@mantine/mcp-server" },
  { name: "@mcp-get-community/server-curl" },
  { name: "@modelcontextprotocol/server-basic-vanillajs", args: stdio, call: ["get_time({})", "20"] },
  { name: "@modelcontextprotocol/server-budget-allocator", args: stdio, call: ["get_budget_data({})", "categories"] },
  { name: "@modelcontextprotocol/server-cohort-heatmap", args: stdio, call: ["get_cohort_data({})", "cohorts"] },
  { name: "@modelcontextprotocol/server-scenario-modeler", args: stdio, call: ["get_scenario_data({})", "templates"] },
  { name: "@modelcontextprotocol/server-sheet-music", args: stdio, call: ["play_sheet_music({})", ""] },
  { name: "@modelcontextprotocol/server-system-monitor", args: stdio, call: ["get_system_info({})", "platform"] },
  { name: "fast-filesystem-mcp", call: ["fast_list_allowed_directories({})", "/"] },
  { name: "mcp-git", call: [`git_status({ repo_path: ${at("repo")} })`, "branch"] },
  {
    name: "mcp-graphql-schema",
    args: [join(folder.path, "schema.graphqls")],
    call: ["list_query_fields({})", "order"],
  },
  { name: "mcp-hello-world", call: ["add({ a: 2, b: 3 })", "5"] },
  { name: "mcp-obsidian", args: [join(folder.path, "vault")] },
  { name: "mcp-sequentialthinking-tools", call: [`sequentialthinking_tools(${thought})`, "thought"] },
  { name: "mcp-server-commands", call: [`run_command({ command: "echo hello" })`, "hello"] },
  { name: "time-mcp", call: [`days_in_month({ date: "2024-02-01" })`, "29"] },
  { name: "wikipedia-mcp" },
];

const inGroups = Array.from({ length: Math.ceil(cases.length / 3) }, (_, group) =>
  cases.slice(group * 3, group * 3 + 3),
);

beforeAll(() => {
  const entries = cases.map(({ name, args, env }): [string, Entry & object] => [
    name,
    { ...published(name, args, { HOME: folder.path, ...env }), definitions: "trust", labels: [] } as Entry,
  ]);
  folder.configure(Object.fromEntries(entries));
});
afterAll(() => folder[Symbol.dispose]());

test("there are at least twenty, and the catalog has none of them", () => {
  expect(cases.length).toBeGreaterThanOrEqual(20);
  const json = JSON.stringify(known);
  expect(cases.map(({ name }) => name).filter((name) => json.includes(`"${name}`))).toEqual([]);
});

// Three run at a time, for small machines.
test.each(inGroups.map((group) => [group.map(({ name }) => name).join(", "), group] as const))(
  "they list their tools and answer: %s",
  async (_, group) => {
    await using app = await folder.open();
    const { servers } = await generate(app, { only: group.map(({ name }) => name) });
    expect(servers.filter(({ problem, tools }) => problem || tools === 0)).toEqual([]);
    for (const { name, call } of group) {
      if (!call) continue;
      const outcome = await execute({ source: `return await servers[${JSON.stringify(name)}].${call[0]}` }, app);
      expect({ name, outcome: outcome.ok ? JSON.stringify(outcome.value) : outcome.error }).toEqual({
        name,
        outcome: expect.stringContaining(call[1]),
      });
    }
  },
);

test("the generated types of all of them compile in strict mode", () => {
  const files = (readdirSync(folder.registry, { recursive: true }) as string[])
    .filter((name) => name.endsWith(".ts"))
    .map((name) => join(folder.registry, name));
  const folders = new Set(files.map((file) => dirname(file)));
  expect(folders.size).toBeGreaterThanOrEqual(cases.length);
  expect(errorsInFiles(files, folder.path)).toEqual([]);
});
