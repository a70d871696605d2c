/** Edited tools on every way to a call: agents use the new names, and the server, the rules and the audit log the own ones. */
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are what is tested
import { afterAll, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { ToolViews } from "../../src/page/servers.ts";
import { cli } from "../cli/in-memory.ts";
import { auditLines } from "../support/audit.ts";
import { inSession } from "../support/session.ts";
import { Person, Recorded } from "./recorded.ts";
import { type Called, ways } from "./ways.ts";

setDefaultTimeout(60_000);

const secret = "k9-4f9a8b7c6d5e";
const text = { type: "string" };
const tools = [
  {
    name: "create-issue",
    annotations: { destructiveHint: true },
    inputSchema: {
      type: "object",
      properties: { project: text, title: text, priority: { enum: ["low", "high"] }, reporter: text, labels: {} },
      required: ["project", "title", "priority"],
    },
  },
  { name: "read-it", annotations: { readOnlyHint: true } },
  { name: "get-it", annotations: { readOnlyHint: true } },
];
const edits = {
  "rec.create-issue": {
    name: "file_bug",
    arguments: {
      project: { value: "${PROJECT_KEY}" },
      priority: { default: "low" },
      reporter: { hide: true },
      labels: { hide: true, default: ["bug"] },
    },
  },
  // This name is taken.
  "rec.read-it": { name: "get-it", description: "Reads." },
};
const sent = { title: "t", priority: "low", project: secret, labels: ["bug"] };

const recorded = new Recorded();
recorded.variables = { PROJECT_KEY: secret };
recorded.edits = edits;
afterAll(() => recorded[Symbol.asyncDispose]());

const open = (keys: object, policy?: object) => recorded.open(keys, policy, tools);

/** What agents must not learn from an error about an edited tool. */
const unseen = /create.issue|project|reporter|labels|k9-4f9a/i;

describe.each(Object.entries(ways))("%s:", (title, way) => {
  /** The pool itself checks the name of a tool, and no arguments that agents see. */
  const sendsAll = ["direct mode", "any request"].includes(title);
  beforeAll(async () => {
    await open({});
  });
  beforeEach(() => void recorded.got());
  const call = (tool: string, args?: object) => way(recorded, tool, args);
  const got = () => recorded.got().map(({ name, args }) => [name, args]);

  test("a renamed tool is called with what the config fixes and what callers leave out", async () => {
    expect(await call("file_bug", { title: "t" })).toEqual({ ok: true });
    expect(await call("file_bug", { title: "t", priority: "high" })).toEqual({ ok: true });
    expect(got()).toEqual([
      ["create-issue", sent],
      ["create-issue", { ...sent, priority: "high" }],
    ]);
  });

  test("its own name does not exist", async () => {
    // The hint may name tools with similar words.
    const plain = ({ ok, code, message }: Called, name: string) =>
      JSON.stringify([ok, code, message]).replaceAll(name, "NAME").replaceAll(name.replace("-", "_"), "NAME");
    // The pool itself sends the call of an unknown tool to the server.
    const unknown = sendsAll
      ? JSON.stringify([false, "TOOL_NOT_FOUND", 'rec has no tool "NAME"'])
      : plain(await call("wipe-nobodys", sent), "wipe-nobodys");
    expect(plain(await call("create-issue", sent), "create-issue")).toBe(unknown);
    expect(got()).toEqual([]);
  });

  test.each([["project"], ["reporter"], ["labels"]])(
    "the argument %s is refused, and named only because it was passed",
    async (name) => {
      const { ok, message = "", hint = "" } = await call("file_bug", { title: "t", [name]: "x" });
      expect(ok).toBe(false);
      expect(message).toContain(`there is no argument "${name}"`);
      expect((message + hint).replaceAll(name, "")).not.toMatch(unseen);
      expect(got()).toEqual([]);
    },
  );

  test("an error about another argument names none that agents do not see", async () => {
    const { ok, message, hint } = await call("file_bug", { title: "t", priority: "odd", project: undefined });
    expect([ok, got().length]).toEqual([sendsAll, sendsAll ? 1 : 0]);
    expect(`${message} ${hint}`).not.toMatch(unseen);
  });

  test("a tool whose new name is taken keeps its own, and so does the other", async () => {
    expect(await call("read-it")).toEqual({ ok: true });
    expect(await call("get-it")).toEqual({ ok: true });
    expect(got()).toEqual([
      ["read-it", {}],
      ["get-it", {}],
    ]);
  });
});

describe("rules are about the own name:", () => {
  const calls = async () => {
    const called: Record<string, Called> = {};
    for (const [name, way] of Object.entries(ways)) called[name] = await way(recorded, "file_bug", { title: "t" });
    return called;
  };
  const count = Object.keys(ways).length;

  test.each([
    [{ deny: ["create-issue"] }, undefined],
    [{}, { deny: ["rec.create*"] }],
    [{ allow: ["file_bug", "read-it"] }, undefined],
  ])("with %j and %j, the renamed tool is denied everywhere, and no error has its own name", async (keys, policy) => {
    await open(keys, policy);
    for (const [name, { ok, message, hint }] of Object.entries(await calls())) {
      expect([name, ok]).toEqual([name, false]);
      expect(`${message} ${hint}`).not.toMatch(unseen);
    }
    expect(recorded.got()).toEqual([]);
  });

  test.each([
    [{ deny: ["file_bug"] }, undefined],
    [{}, { deny: ["rec.file*"] }],
    [{ allow: ["create-issue"] }, undefined],
    [{ confirm: { file_bug: "always" } }, undefined],
  ])("with %j and %j, it is called everywhere", async (keys, policy) => {
    await open(keys, policy);
    expect(Object.values(await calls()).filter(({ ok }) => !ok)).toEqual([]);
    expect(recorded.got()).toHaveLength(count);
  });

  test("a tool whose name another one wanted is denied as itself", async () => {
    await open({ deny: ["get-it"] });
    for (const way of Object.values(ways)) {
      expect((await way(recorded, "get-it")).ok).toBe(false);
      expect((await way(recorded, "read-it")).ok).toBe(true);
    }
    expect(new Set(recorded.got().map(({ name }) => name))).toEqual(new Set(["read-it"]));
  });
});

describe("a call that needs approval", () => {
  test("is asked about with both names and all arguments, without secrets, and is sent with them", async () => {
    const person = new Person("once");
    (await open({ confirm: { "create-issue": "always" } })).pool.setHost({ responder: person.host });
    expect(await recorded.run('return rec.file_bug({ title: "t" })')).toMatchObject({ ok: true });
    expect(person.asked).toMatchInlineSnapshot(`
      [
        
      "Allow the call to rec.create-issue?
      You are asked because mcpServers.rec.confirm says "always"; agents know the tool as file_bug.
      Its arguments:

          {
            "title": "t",
            "priority": "low",
            "project": "\${PROJECT_KEY}",
            "labels": [
              "bug"
            ]
          }
      "
      ,
      ]
    `);
    expect(recorded.got()).toEqual([{ name: "create-issue", args: sent }]);
    const [line] = auditLines({ HOME: recorded.project.path }).slice(-1);
    expect(line).toMatchObject({ decision: "approved", server: "rec", tool: "create-issue" });
    expect(JSON.stringify(line)).not.toMatch(/k9-4f9a|file_bug/);
  });

  test("fails without its own name if it is refused, and if nobody can be asked", async () => {
    const errors: unknown[] = [];
    for (const responder of [new Person("no").host, undefined]) {
      (await open({ confirm: "destructive" })).pool.setHost({ responder });
      const outcome = await recorded.run('return rec.file_bug({ title: "t" })');
      errors.push(outcome.ok ? "called" : [outcome.error.message, outcome.error.hint]);
    }
    expect(errors).toMatchInlineSnapshot(`
      [
        [
          "rec.file_bug was not called: the person said no",
          "Go on without it, or ask the person what to do instead.",
        ],
        [
          "rec.file_bug needs a person's confirmation, and nobody can be asked here",
          "To call it without confirmation, change "confirm" for it in mcpServers.rec of the config",
        ],
      ]
    `);
    expect(JSON.stringify(errors)).not.toMatch(unseen);
    expect(recorded.got()).toEqual([]);
  });

  test("is asked about again in the session if the tool has changed under its own name", async () => {
    const person = new Person("session");
    (await open({ confirm: "destructive" })).pool.setHost({ responder: person.host });
    const twice = 'await rec.file_bug({ title: "a" }); return rec.file_bug({ title: "b" })';
    expect(await recorded.run(twice)).toMatchObject({ ok: true });
    expect(person.asked).toHaveLength(1);
    const [first, ...others] = tools;
    recorded.project.write("tools.json", [{ ...first, description: "It wipes." }, ...others]);
    expect(await recorded.run(twice)).toMatchObject({ ok: true });
    expect(person.asked).toHaveLength(2);
    expect(person.asked[1]).toContain("The tool has changed since you allowed it: its description.");
  });
});

test("the page shows own names, which rules are about, and the names for agents", async () => {
  const app = await open({ deny: ["get-it"], confirm: { "create-issue": "always" } });
  const views = new ToolViews();
  expect((await views.of("rec", app)).tools).toMatchObject([
    { name: "create-issue", shownAs: "file_bug", state: "ask", line: "mcpServers.rec.confirm" },
    { name: "get-it", shownAs: undefined, state: "deny" },
    { name: "read-it", shownAs: undefined, description: "Reads.", state: "allow" },
  ]);
  views.touch("rec", "create-issue", app);
  expect((await views.of("rec", app)).tools.map(({ name }) => name)).toEqual(["create-issue", "get-it", "read-it"]);
});

test("an agent and a shell are told the new name of a tool that waits for approval", async () => {
  const { arguments: args, ...entry } = edits["rec.create-issue"];
  recorded.edits = { "rec.create-issue": { ...entry, arguments: { ...args, project: { value: secret } } } };
  await open({ confirm: { "create-issue": "always" } });
  await recorded.close();
  const { path } = recorded.project;
  const code = 'return rec.file_bug({ title: "t" })';
  const call = { name: "execute_code", arguments: { code } };
  const waits = await cli(["exec", "-e", code], { cwd: path });
  expect(waits.exitCode).toBe(7);
  expect(waits.stderr).toContain("waits until you approve or deny rec.file_bug (approval ");
  expect(waits.stderr).not.toMatch(unseen);
  const told = await inSession(path, async (client) => JSON.stringify(await client.callTool(call)), {
    waitsForApprovals: true,
  });
  expect(told).toContain("- rec.file_bug (line 1), since ");
  expect(told).not.toMatch(unseen);
  const { stdout } = await cli(["approvals", "--json"], { cwd: path });
  const { approvals } = JSON.parse(stdout) as { approvals: object[] };
  const own = {
    server: "rec",
    tool: "create-issue",
    why: 'mcpServers.rec.confirm says "always"; agents know the tool as file_bug',
  };
  expect(approvals).toMatchObject([own, own]);
  expect(stdout).not.toContain(secret);
});
