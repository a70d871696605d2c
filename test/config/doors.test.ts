/** Doors: what a config has behind one, and what is wrong with a door. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type Config, loadConfig } from "../../src/config/load.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { marksOf } from "../../src/config/trust/marks.ts";
import { confirmationOf } from "../../src/policy/decision.ts";
import { ownFolder } from "../support/own-folder.ts";
import { failureOf, failureText } from "../support/pool.ts";

const folder = ownFolder();
const mcpServers = {
  jira: { command: "jira" },
  "my.mail": { command: "mail" },
  old: { command: "old", disabled: true },
};

function load(door: string | undefined, config: object): Promise<Config> {
  folder.write("claudikins.json", { mcpServers, ...config });
  return loadConfig({ cwd: folder.path, env: { HOME: join(folder.path, "home"), CI: "true" }, door });
}

const problem = async (door: string, doors: object) => failureText(await failureOf(load(door, { doors })), folder.path);

test("a door has its servers, its tools, its settings and its folders", async () => {
  const config = await load("qa", {
    limits: { calls: 50 },
    doors: {
      qa: {
        servers: ["my.mail", "old"],
        tools: { allow: ["my.mail.get_*", "*.send"], deny: ["my.mail.get_secret"] },
        mode: "direct",
        instructions: "You test.",
        limits: { timeoutMs: 1_000 },
      },
    },
  });
  expect([...config.servers.keys()]).toEqual(["my.mail"]);
  expect([...config.disabled.keys()]).toEqual(["old"]);
  expect(config.servers.get("my.mail")?.view).toEqual({ allow: ["get_*", "send"], deny: ["get_secret"] });
  expect(config).toMatchObject({ door: "qa", mode: "direct", instructions: "You test." });
  expect(config.limits).toMatchObject({ calls: 50, timeoutMs: 1_000 });
  expect(config.folders).toMatchObject({
    registry: join(folder.path, ".claudikins", "doors", "qa", "registry"),
    workspace: join(folder.path, ".claudikins", "doors", "qa", "workspace"),
  });
});

test("a door without keys has everything of the config except its folders", async () => {
  const whole = await load(undefined, { doors: { all: {} } });
  const { door, doors, instructions, folders, savedPrograms, servers, ...rest } = await load("all", {
    doors: { all: {} },
  });
  expect([door, doors, whole.doors]).toEqual(["all", [], ["all"]]);
  expect(instructions).toBeUndefined();
  expect([...servers.values()].map(({ view, ...server }) => server)).toEqual(
    [...whole.servers.values()].map(({ own, ...server }) => server),
  );
  const { doors: _, folders: __, servers: ___, extended: ____, savedPrograms: _____, ...others } = whole;
  expect(rest).toEqual(others);
  expect(folders).not.toEqual(whole.folders);
  expect(savedPrograms).not.toEqual(whole.savedPrograms);
});

test("without names of servers, the allowed tools choose the servers", async () => {
  const names = async (qa: object) => [...(await load("qa", { doors: { qa } })).servers.keys()];
  expect(await names({ tools: { allow: ["jira.get_*"] } })).toEqual(["jira"]);
  expect(await names({ tools: { allow: ["*.get_*"] } })).toEqual(["jira", "my.mail"]);
  expect(await names({ tools: { deny: ["jira.*"] } })).toEqual(["jira", "my.mail"]);
  expect(await names({ servers: ["my.mail"], tools: { allow: ["jira.get_*"] } })).toEqual(["my.mail"]);
});

test("doors may share a workspace", async () => {
  const doors = { one: { workspace: "./shared" }, two: { workspace: "./shared" } };
  const found = await Promise.all(["one", "two"].map(async (door) => (await load(door, { doors })).folders.workspace));
  expect(found).toEqual([join(folder.path, "shared"), join(folder.path, "shared")]);
});

test("a door can ask for more confirmations, and cannot take any away", async () => {
  const { servers } = await load("qa", {
    policy: { confirm: { "jira.delete": "always" } },
    doors: { qa: { tools: { confirm: { "jira.delete": "never", "jira.create": "always" } } } },
  });
  const policy = servers.get("jira")!.policy!;
  expect(["delete", "create", "get"].map((tool) => confirmationOf(policy, tool))).toEqual([
    { mode: "always", line: "policy.confirm" },
    { mode: "always", line: "doors.qa.tools.confirm" },
    undefined,
  ]);
});

test("the servers of the user's own config can be behind a project's door", async () => {
  folder.write("home/.config/claudikins/claudikins.json", { mcpServers: { notes: { command: "notes" } } });
  const { servers, extended } = await load("qa", { doors: { qa: { servers: ["notes", "jira"] } } });
  expect([...servers.keys()]).toEqual(["jira", "notes"]);
  expect(servers.get("notes")?.own).toBeUndefined();
  expect(extended).toBeUndefined();
});

test("a changed door needs trust", () => {
  const marks = (doors: object) => marksOf(parseConfig(JSON.stringify({ mcpServers, doors }), "claudikins.json"));
  expect(marks({ qa: { workspace: "a" } })).not.toEqual(marks({ qa: { workspace: "b" } }));
});

describe("it is an error", () => {
  test("if there is no such door", async () => {
    expect(await problem("qaa", { qa: {} })).toBe(
      'DOOR_NOT_FOUND: MARK/claudikins.json has no door "qaa"\nhint: Did you mean qa?',
    );
    expect(await problem("toString", { qa: {} })).toBe(
      'DOOR_NOT_FOUND: MARK/claudikins.json has no door "toString"\nhint: Its doors: qa',
    );
    expect(await problem("qa", {})).toBe(
      'DOOR_NOT_FOUND: MARK/claudikins.json has no door "qa"\nhint: To make one: claudikins doors add',
    );
  });

  test("if there is no config", async () => {
    const env = { HOME: join(folder.path, "home"), CI: "true" };
    const failed = await failureOf(loadConfig({ cwd: folder.path, env, door: "qa" }));
    expect(failed.message).toBe('The demo has no door "qa"');
  });

  test("if the door has a server that the config does not have", async () => {
    expect(await problem("qa", { qa: { servers: ["jira", "jirra"] } })).toBe(
      'CONFIG_INVALID: MARK/claudikins.json: doors.qa.servers[1]: no server is called "jirra". Did you mean jira?',
    );
  });

  test.each([
    [{ QA: {} }, "use at most 32 lower-case letters, digits and dashes as the name of a door"],
    [{ mcp: {} }, "this name is reserved"],
    [{ health: {} }, "this name is reserved"],
    [{ qa: { servers: "jira" } }, "doors.qa.servers"],
    [{ qa: { tools: { allow: ["get_*"] } } }, 'needs a server name first: "*.get_*" for all servers'],
    [{ qa: { limits: { calls: 0 } } }, "doors.qa.limits.calls"],
    [{ qa: { server: ["jira"] } }, 'doors.qa.server: unknown key, did you mean "servers"?'],
    [{ qa: { instructions: "x".repeat(1_001) } }, "doors.qa.instructions"],
  ])("if a door is %j", async (doors, text) => {
    expect(await problem("qa", doors)).toContain(text);
  });
});
