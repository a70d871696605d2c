/** Edits of tools: what a config says about the names, descriptions and arguments of tools, and what is wrong with it. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Config, loadConfig } from "../../src/config/load.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { calledTool, type ServerEdits, sentArguments } from "../../src/config/tool-edits.ts";
import { marksOf } from "../../src/config/trust/marks.ts";
import { entryMark } from "../../src/daemon/protocol.ts";
import { fingerprintOf } from "../../src/tools/catalog/config-entry.ts";
import { ownFolder } from "../support/own-folder.ts";
import { failureOf, failureText } from "../support/pool.ts";

const folder = ownFolder();
const mcpServers = {
  jira: { command: "jira" },
  "my.mail": { command: "mail" },
  old: { command: "old", disabled: true },
};
const home = () => join(folder.path, "home");

function load(config: object, { door, env }: { door?: string; env?: object } = {}): Promise<Config> {
  folder.write("claudikins.json", { mcpServers, ...config });
  return loadConfig({ cwd: folder.path, env: { HOME: home(), CI: "true", ...env }, door });
}

const editsOf = ({ servers }: Config, server = "jira") => servers.get(server)?.edits;

describe("entries of tools", () => {
  test("belong to the server with the longest name that fits, with their variables filled in", async () => {
    const tools = {
      "my.mail.send": { name: "mail", arguments: { from: { value: ["${FROM}", { at: "${HOST:-here}" }] } } },
      "jira.create_issue": {
        description: "Files a bug.",
        arguments: {
          priority: { default: "low" },
          project: { hide: true, default: "${FROM}" },
          labels: { value: null },
          reporter: { hide: true },
          title: { hide: false },
        },
      },
      "old.x": { name: "y" },
    };
    const config = await load({ tools }, { env: { FROM: "ada" } });
    expect(editsOf(config, "my.mail")?.tools).toMatchObject([
      { tool: "send", name: "mail", fixed: { from: ["ada", { at: "here" }] }, defaults: {}, hidden: [] },
    ]);
    expect(editsOf(config)).toMatchObject({
      tools: [
        {
          tool: "create_issue",
          name: undefined,
          description: "Files a bug.",
          fixed: { project: "ada", labels: null },
          defaults: { priority: "low" },
          hidden: ["reporter"],
          place: 'tools["jira.create_issue"]',
        },
      ],
      variables: { FROM: "ada" },
    });
    expect(config.disabled.get("old")?.edits?.tools).toMatchObject([{ tool: "x", name: "y" }]);
  });

  test("are missing for servers without any", async () => {
    const config = await load({ tools: { "jira.create_issue": { name: "file_bug" } } });
    expect(config.servers.get("my.mail")).not.toHaveProperty("edits");
  });

  test("make a server need the variables that are not set", async () => {
    const tools = { "jira.create_issue": { arguments: { project: { value: "${PROJECT}" } } } };
    const config = await load({ tools });
    expect([...config.servers.values()].map(({ name, needs }) => [name, needs])).toEqual([
      ["jira", ["PROJECT"]],
      ["my.mail", []],
    ]);
    const own = { "jira.create_issue": { arguments: { project: { value: "QA" } } } };
    const needs = async (door: object) =>
      (await load({ tools, doors: { qa: { tools: door } } }, { door: "qa" })).servers.get("jira")?.needs;
    expect([await needs({}), await needs(own)]).toEqual([["PROJECT"], []]);
  });

  test("in a project are for its own servers, and the user's servers keep those of the user's file", async () => {
    folder.write("home/.config/claudikins/claudikins.json", {
      mcpServers: { own: { command: "own" }, jira: { command: "other" } },
      tools: { "own.get": { name: "fetch" }, "jira.create_issue": { name: "mine" } },
    });
    const config = await load({ tools: { "jira.create_issue": { name: "file_bug" } } });
    expect(editsOf(config, "own")?.tools).toMatchObject([{ tool: "get", name: "fetch" }]);
    expect(editsOf(config)?.tools).toMatchObject([{ tool: "create_issue", name: "file_bug" }]);
    expect(failureText(await failureOf(load({ tools: { "own.get": { name: "take" } } })), folder.path)).toContain(
      'tools["own.get"]: no server of this file is called "own"',
    );
    const door = { doors: { qa: { tools: { "own.get": { description: "Gets." } } } } };
    expect(editsOf(await load(door, { door: "qa" }), "own")?.tools).toMatchObject([
      { tool: "get", name: "fetch", description: "Gets." },
    ]);
  });
});

describe("entries of a door", () => {
  const tools = {
    "jira.create_issue": {
      name: "file_bug",
      description: "Files a bug.",
      arguments: { project: { value: "${SHOP}" }, priority: { default: "low" } },
    },
    "jira.get": { name: "read" },
  };
  const doors = {
    qa: {
      tools: {
        allow: ["jira.*"],
        "jira.create_issue": { name: "report", arguments: { project: { default: "QA" }, reporter: { hide: true } } },
        "jira.find": { name: "look" },
      },
    },
    other: {},
  };

  test("take the place of those of the config by key and by argument, behind this door only", async () => {
    const env = { SHOP: "the shop's secret" };
    const edits = async (door?: string) => editsOf(await load({ tools, doors }, { env, ...(door ? { door } : {}) }));
    const whole = await edits();
    const qa = await edits("qa");
    expect(qa?.tools).toMatchObject([
      {
        tool: "create_issue",
        name: "report",
        description: "Files a bug.",
        fixed: {},
        defaults: { project: "QA", priority: "low" },
        hidden: ["reporter"],
        place: 'doors.qa.tools["jira.create_issue"]',
      },
      { tool: "get", name: "read", place: 'tools["jira.get"]' },
      { tool: "find", name: "look" },
    ]);
    expect(qa?.variables).toEqual({});
    expect(await edits("other")).toEqual(whole);
    expect(whole?.tools).toMatchObject([
      { name: "file_bug", fixed: { project: "the shop's secret" } },
      { name: "read" },
    ]);
  });

  test("leave the rules of the door as they are", async () => {
    expect((await load({ tools, doors }, { door: "qa", env: { SHOP: "s" } })).servers.get("jira")?.view).toEqual({
      allow: ["*"],
      deny: [],
    });
  });

  test("may not give two tools the same name, also together with those of the config", async () => {
    const same = { doors: { qa: { tools: { "jira.find": { name: "read" } } } }, tools };
    expect(failureText(await failureOf(load(same, { door: "qa" })), folder.path)).toContain(
      'doors.qa.tools["jira.find"].name: tools["jira.get"] has the same name, "read"',
    );
    const unknown = { doors: { qa: { tools: { "jra.find": { name: "read" } } } } };
    expect(failureText(await failureOf(load(unknown, { door: "qa" })), folder.path)).toContain(
      'doors.qa.tools["jra.find"]: no server is called "jra". Did you mean jira?',
    );
  });
});

test("all problems are reported at once, without values", () => {
  const tools = {
    "jira.create_issue": {
      name: "file bug",
      description: "In ${PLACE}",
      arguments: { a: { value: "top-secret", default: 1 }, b: { default: ["${TOKEN}"] }, c: { hide: "yes", vaule: 1 } },
      argument: {},
    },
    "jira.get": { name: "read" },
    "jira.find": { name: "read" },
    "jira.list_*": {},
    "jra.get": {},
    create_issue: {},
  };
  const doors = {
    qa: { tools: { "jira.get": { title: "x", arguments: { a: { default: "${TOKEN}" } } }, denied: [] } },
  };
  const problems = (config: object) => {
    try {
      parseConfig(JSON.stringify({ mcpServers, ...config }), "c.json");
    } catch (error) {
      return (error as Error).message.replace(/c\.json:\S+ +/g, "");
    }
    return undefined;
  };
  expect(problems({ tools, doors })).toMatchInlineSnapshot(`
    "The config has 13 problems:
      tools["jira.create_issue"].name: use at most 128 letters, digits, underscores, dashes and dots, found "file bug"
      tools["jira.create_issue"].description: agents see this text: variables can only be used in "value", found "In \${PLACE}"
      tools["jira.create_issue"].arguments.a.default: "value" is always sent, so a default has no effect: remove one of them
      tools["jira.create_issue"].arguments.b.default: agents see this text: variables can only be used in "value"
      tools["jira.create_issue"].arguments.c.hide: expected true or false
      tools["jira.create_issue"].arguments.c.vaule: unknown key, did you mean "value"?
      tools["jira.create_issue"].argument: unknown key, did you mean "arguments"?
      tools["jira.list_*"]: expected server.tool, with the own name of one tool
      tools["jra.get"]: no server of this file is called "jra". Did you mean jira?
      tools.create_issue: expected server.tool, with the own name of one tool
      doors.qa.tools["jira.get"].title: unknown key: expected one of name, description, arguments
      doors.qa.tools["jira.get"].arguments.a.default: agents see this text: variables can only be used in "value"
      doors.qa.tools.denied: unknown key: expected one of allow, deny, confirm, labels, jira.get"
  `);
  expect(problems({ tools: { "jira.get": { name: "read" }, "jira.find": { name: "read" } } })).toMatchInlineSnapshot(`
    "The config has a problem:
      tools["jira.find"].name: tools["jira.get"] has the same name, found "read""
  `);
  expect(problems({ tools: { "jira.get": { name: "get" }, "my.mail.get": { name: "get" } } })).toBeUndefined();
});

test("entries need trust, and change the fingerprint of the registry but not the process that the daemon shares", async () => {
  const parsed = (config: object) => parseConfig(JSON.stringify({ mcpServers, ...config }), "c.json");
  const edited = { tools: { "jira.get": { arguments: { id: { value: "${ID}" } } } } };
  const other = { tools: { "jira.get": { arguments: { id: { value: "8" } } } } };
  const rules = [{}, edited, other, { doors: { qa: edited } }].map((config) => marksOf(parsed(config)).rules);
  expect(new Set(rules).size).toBe(4);
  const servers = await Promise.all(
    [load({}), load(edited, { env: { ID: "7" } }), load(edited, { env: { ID: "9" } }), load(other)].map(
      async (config) => (await config).servers.get("jira")!,
    ),
  );
  expect(new Set(servers.map((server) => fingerprintOf(server, "jira", undefined))).size).toBe(3);
  expect(new Set(servers.map(entryMark)).size).toBe(1);
});

describe("calledTool", () => {
  const edits: ServerEdits = {
    tools: [
      { tool: "create", name: "file", mark: "m1" },
      { tool: "get", name: undefined, mark: "m2" },
    ].map((each) => ({ description: undefined, fixed: {}, defaults: {}, hidden: [], place: "", ...each })),
    written: [],
    variables: {},
    missing: [],
  };
  const called = (name: string, stored?: { name: string; edit?: string }[]) => calledTool(edits, name, stored)?.tool;

  test.each([
    ["by its new name", "file", [{ name: "file", edit: "m1" }], "create"],
    ["not by its own name", "create", [{ name: "file", edit: "m1" }], undefined],
    [
      "by its own name if another tool has the new one",
      "create",
      [{ name: "create", edit: "m1" }, { name: "file" }],
      "create",
    ],
    ["and the other tool by this name", "file", [{ name: "create", edit: "m1" }, { name: "file" }], "file"],
    ["also if the other tool is denied, so that it is not stored", "file", [{ name: "create", edit: "m1" }], "file"],
    ["not if it was stored before the edit", "create", [{ name: "create" }], undefined],
    ["not if it was stored with an earlier edit", "file", [{ name: "file", edit: "m0" }], undefined],
    ["without a new name by its own", "get", [{ name: "get", edit: "m2" }], "get"],
    ["without an edit by its own", "find", [{ name: "find" }], "find"],
  ] as const)("a tool is found %s", (_, name, stored, tool) => {
    expect(called(name, [...stored])).toBe(tool!);
  });

  test("a tool that is not stored is found by what the config says", () => {
    expect(["file", "create", "get", "find"].map((name) => called(name))).toEqual(["create", undefined, "get", "find"]);
  });
});

describe("sentArguments", () => {
  const edit = { tool: "t", name: undefined, description: undefined, place: "", mark: "" };
  const sent = (args: object) =>
    sentArguments({ ...edit, fixed: { project: 1 }, defaults: { size: "s", note: null }, hidden: ["x"] }, args, "a.t");

  test("adds what the config says, and keeps what the caller says", () => {
    expect(sent({})).toEqual({ project: 1, size: "s", note: null });
    expect(sent({ size: null, more: 2 })).toEqual({ size: null, more: 2, note: null, project: 1 });
    expect(sent({ size: undefined, project: undefined })).toEqual({ size: "s", note: null, project: 1 });
  });

  test.each([{ project: 2 }, { x: null }])("refuses %j", (args) => {
    expect(() => sent(args)).toThrow(`a.t: there is no argument "${Object.keys(args)[0]}"`);
  });
});
