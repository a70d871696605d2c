/** Edits of the config that do not fit the tools of a server: each is applied as far as it is safe, and reported. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/base/json-object.ts";
import type { ServerConfig } from "../../../src/config/load.ts";
import { type ToolEntry, withEdits } from "../../../src/config/tool-edits.ts";
import type { ListedTool } from "../../../src/servers/result.ts";
import { editedTools } from "../../../src/tools/catalog/edited-tools.ts";
import { serverConfig } from "../../support/pool.ts";

const inputSchema: JsonObject = {
  type: "object",
  properties: { project: { type: "string" }, size: { enum: ["s", "l"] }, ref: { $ref: "#/$defs/number" }, more: true },
  required: ["project"],
  $defs: { number: { type: "integer" } },
};
const listed: ListedTool[] = [
  {
    name: "create",
    title: "Create",
    description: "Creates.",
    inputSchema,
    annotations: { title: "C", readOnlyHint: false },
  },
  { name: "get", description: "Gets.", inputSchema: { type: "object" } },
];

async function edited(entries: Record<string, ToolEntry>, env: Record<string, string> = {}, tools = listed) {
  const written = Object.entries(entries).map(([tool, entry]) => ({ tool, entry, place: `tools["jira.${tool}"]` }));
  const config = withEdits(serverConfig("jira", { command: "x" } as never), written, env) as ServerConfig;
  const { tools: found, problems } = await editedTools(config, tools);
  return { names: found.map(({ name }) => name), tools: found, problems };
}

test("a renamed tool has no title, and keeps what its server says about its effect", async () => {
  const { tools, problems } = await edited({ create: { name: "file", description: "Files." } });
  expect(problems).toEqual([]);
  expect(tools[0]).toEqual({
    name: "file",
    description: "Files.",
    inputSchema,
    annotations: { readOnlyHint: false },
    edit: expect.stringMatching(/^[\da-f]{12}$/),
  });
  expect(tools[1]).toBe(listed[1]!);
});

test("a tool without a new name keeps its title", async () => {
  const { tools } = await edited({ create: { name: "create", description: "Files." } });
  expect(tools[0]).toMatchObject({ name: "create", title: "Create", annotations: { title: "C" } });
});

describe("an entry that does not fit", () => {
  const left = ". The tool is left out until this is corrected";
  const at = 'tools["jira.create"].arguments';
  const cases: [string, Record<string, ToolEntry>, string[], string[]][] = [
    [
      "has no effect if the server does not have the tool",
      { creat: { name: "file" } },
      ["create", "get"],
      ['tools["jira.creat"]: jira has no tool "creat". Did you mean create?'],
    ],
    [
      "keeps the name if another tool has the new one",
      { create: { name: "get", arguments: { size: { hide: true } } } },
      ["create", "get"],
      ['tools["jira.create"].name: jira has another tool called "get", so this one keeps its name'],
    ],
    [
      "keeps both names if it swaps two",
      { create: { name: "get" }, get: { name: "create" } },
      ["create", "get"],
      [
        'tools["jira.create"].name: jira has another tool called "get", so this one keeps its name',
        'tools["jira.get"].name: jira has another tool called "create", so this one keeps its name',
      ],
    ],
    [
      "leaves the tool out if there is no argument to fix",
      { create: { arguments: { projct: { value: 1 } } } },
      ["get"],
      [`${at}.projct: "create" has no argument "projct". Did you mean project?${left}`],
    ],
    [
      "leaves the tool out if there is no argument for a default",
      { get: { arguments: { id: { default: 1 } } } },
      ["create"],
      [`tools["jira.get"].arguments.id: "get" has no argument "id"${left}`],
    ],
    [
      "leaves the tool out if a value does not fit",
      { create: { arguments: { project: { value: 7 } } } },
      ["get"],
      [`${at}.project: "project" must be string, got 7${left}`],
    ],
    [
      "leaves the tool out if a default does not fit",
      { create: { name: "file", arguments: { size: { default: "m" }, ref: { default: "x" } } } },
      ["get"],
      [
        `${at}.size: "size" must be one of "s", "l", got "m".${left}`,
        `${at}.ref: "ref" must be integer, got "x"${left}`,
      ],
    ],
    [
      "leaves the tool out if a required argument is hidden",
      { create: { arguments: { project: { hide: true } } } },
      ["get"],
      [`${at}.project: the tool requires this argument, so it needs a "value"${left}`],
    ],
    [
      "counts otherwise if there is no argument to hide",
      { create: { name: "file", arguments: { nothing: { hide: true } } } },
      ["file", "get"],
      [`${at}.nothing: the tool has no argument "nothing"`],
    ],
    [
      "fits if it fixes any value of an argument without a schema",
      { create: { arguments: { more: { value: [null] } } } },
      ["create", "get"],
      [],
    ],
  ];
  test.each(cases)("%s", async (_, entries, names, problems) => {
    expect(await edited(entries)).toMatchObject({ names, problems });
  });
});

test("a problem does not contain a secret value", async () => {
  const entries = { create: { arguments: { ref: { value: "${JIRA}" }, size: { value: "tok-8fa7e2c9b1d4" } } } };
  const { problems } = await edited(entries, { JIRA: "s3cr3t-4f9a8b7c" });
  expect(problems).toHaveLength(2);
  expect(problems.join("\n")).toContain("${JIRA}");
  expect(problems.join("\n")).not.toMatch(/s3cr3t|8fa7e2/);
});
