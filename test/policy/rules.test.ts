/** Rules with conditions decide about calls on every road, by arguments, labels and agent. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync } from "node:fs";
import { conditionOf, conditionProblem } from "../../src/config/condition.ts";
import { parsedConfig } from "../../src/config/plain-config.ts";
import { cli } from "../cli/in-memory.ts";
import { Person, Recorded } from "./recorded.ts";

setDefaultTimeout(60_000);

const recorded = new Recorded();
afterAll(() => recorded[Symbol.asyncDispose]());

const push = {
  name: "push_files",
  inputSchema: { type: "object", properties: { branch: { type: "string" }, count: { type: "number" }, files: {} } },
};
const tools = [push, { name: "get_issue" }, { name: "plain" }];

async function opened(rules: string[], ...answers: string[]): Promise<Person> {
  const person = new Person(...answers);
  const labels = { get_issue: ["untrusted"], push_files: ["public"] };
  (await recorded.open({ labels }, { rules }, tools)).pool.setHost({ responder: person.host });
  return person;
}

const argsOf = () => recorded.got().flatMap(({ name, args }) => (name === "push_files" ? [args] : []));
const message = async (source: string) => {
  const outcome = await recorded.run(source);
  return outcome.ok ? "ok" : outcome.error.message;
};

describe("a rule", () => {
  test("denies a call by its arguments, and says which rule it was", async () => {
    await opened(['deny when tool == "rec.push_files" && args.branch == "main"']);
    expect(await message('await rec.push_files({ branch: "main" })')).toBe(
      'rec.push_files is denied in the config: the rule policy.rules[0] applies: tool == "rec.push_files" && args.branch == "main"',
    );
    expect(await message('await rec.push_files({ branch: "next" }); await rec.push_files({})')).toBe("ok");
    expect(argsOf()).toEqual([{ branch: "next" }, {}]);
  });

  test("asks a person, whose answer counts", async () => {
    const person = await opened(["confirm when has(args.count) && args.count > 10"], "once", "no");
    expect(await message("await rec.push_files({ count: 10 }); await rec.push_files({ count: 11 })")).toBe("ok");
    expect(person.asked).toHaveLength(1);
    expect(person.asked[0]).toContain("the rule policy.rules[0] applies: has(args.count) && args.count > 10");
    expect(await message("await rec.push_files({ count: 12.5 })")).toContain("the person said no");
  });

  test("has precedence over one that asks if it denies", async () => {
    const person = await opened(["confirm when true", 'deny when args.branch == "main"'], "once");
    expect(await message('await rec.push_files({ branch: "main" })')).toContain("policy.rules[1]");
    expect(person.asked).toEqual([]);
  });

  test("sees the labels of the tool and of what was read", async () => {
    await opened(['deny when "public" in labels && "untrusted" in reads']);
    expect(await message("await rec.push_files({}); await rec.plain({})")).toBe("ok");
    expect(await message("await rec.get_issue({}); await rec.plain({}); await rec.push_files({})")).toContain("denied");
  });

  test("applies if its condition cannot be decided", async () => {
    await opened(['deny when args.files.startsWith("release")']);
    expect(await message("await rec.push_files({ files: 7 })")).toContain("because its condition cannot be decided");
    expect(await message("await rec.push_files({ files: 'x' })")).toBe("ok");
  });

  test("applies if it names an argument that its tool does not have, and says so", async () => {
    await opened(['deny when tool == "rec.push_files" && args.brnch == "main"']);
    expect(await message('await rec.push_files({ branch: "next" })')).toContain(
      'rec.push_files has no argument "brnch". Did you mean branch?',
    );
    expect(argsOf()).toEqual([]);
  });

  test("holds for calls outside programs, and for every name of a tool in a program", async () => {
    await opened(['deny when args.branch == "main"']);
    const direct = recorded.app.pool.callTool("rec", "push_files", { branch: "main" });
    await expect(direct).rejects.toMatchObject({ code: "POLICY_DENIED" });
    const raw = recorded.app.pool.request("rec", {
      method: "tools/call",
      params: { name: "push_files", arguments: { branch: "main" } },
    });
    await expect(raw).rejects.toMatchObject({ code: "POLICY_DENIED" });
    expect(await message('await rec["push_files"].raw({ branch: "main" })')).toContain("denied");
    expect(argsOf()).toEqual([]);
  });
});

test.each(["deny when tol == 'a'", 'deny when args.branch.matches("(?=a)")', 'deny when args.branch == "x'])(
  "a config that was not checked denies what the rule %j may be about",
  async (rule) => {
    recorded.skipsConditions = true;
    try {
      await opened([rule]);
      expect(await message('await rec.push_files({ branch: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab" })')).toMatch(
        /policy\.rules\[0\] applies, because its condition cannot be decided \(/,
      );
      expect(argsOf()).toEqual([]);
    } finally {
      recorded.skipsConditions = false;
    }
  },
);

describe("a config is refused", () => {
  test.each([
    ["never when true", 'policy.rules[1]: expected "deny when CONDITION" or "confirm when CONDITION"'],
    ["deny when", 'policy.rules[1]: expected "deny when CONDITION" or "confirm when CONDITION"'],
    ["deny when tol == 'a'", "policy.rules[1]: Unknown variable: tol"],
    ["deny when server + 1", "policy.rules[1]: no such overload: string + int"],
    ["deny when args.size() + 1", "policy.rules[1]: it is a int, and must be true or false"],
    ["deny when agent.nme == 'a'", "policy.rules[1]: No such key: nme"],
    ["deny when ((", "policy.rules[1]: Unexpected token: EOF"],
    ['deny when args.path.matches("(?=a)b")', "policy.rules[1]: its pattern is not one of RE2"],
    [String.raw`deny when args.path.matches("(a)\\1")`, "policy.rules[1]: its pattern is not one of RE2"],
    ['deny when args.path.matches("((a{1000}){1000})")', "policy.rules[1]: its pattern is not one of RE2"],
    ['deny when args.path.matches("(?:a?){400}a{400}")', "policy.rules[1]: its pattern is too large"],
    [
      `deny when args.path.matches("${"a".repeat(1_001)}")`,
      "policy.rules[1]: its pattern has more than 1000 characters",
    ],
    ["deny when args.path.matches(args.other)", "policy.rules[1]: matches() takes a pattern in quotes"],
    ['deny when args.path.matches("a" + args.other)', "policy.rules[1]: matches() takes a pattern in quotes"],
    ['deny when args.path.matches("(a" + "+)+$")', "policy.rules[1]: matches() takes a pattern in quotes"],
    [
      "deny when args.a == args.b < args.c",
      "policy.rules[1]: use parentheses around one of the comparisons with == and <",
    ],
    ["deny when args.data == b'a'", "policy.rules[1]: conditions do not support bytes"],
    ["deny when args.n == 1u", "policy.rules[1]: conditions do not support an unsigned integer"],
    ["deny when args.n == 9223372036854775808", "policy.rules[1]: an integer is too large"],
    ["deny when cel.bind(x, 1, x == args.n)", "policy.rules[1]: conditions do not support"],
  ])("with the rule %j", async (rule, text) => {
    const config = { mcpServers: { rec: { command: "a" } }, policy: { rules: ["deny when false", rule] } };
    await expect(parsedConfig(`// Rules\n${JSON.stringify(config)}`, "c.json")).rejects.toThrow(`c.json:2:76  ${text}`);
  });

  test.each([
    [{ labels: ["secret"] }, '"secret" is not a label: expected "untrusted", "private", "public"'],
    [{ labels: { "rec.a": "private" } }, 'expected an array of "untrusted", "private", "public"'],
    [{ labels: { a: ["private"] } }, "needs a server name first"],
    [{ flow: "of" }, 'expected "off" or "ask" or "strict", did you mean "off"?'],
    [{ rules: "deny when true" }, "expected an array of rules"],
  ])("with %j", async (policy, text) => {
    const config = { mcpServers: { rec: { command: "a" } }, policy };
    await expect(parsedConfig(JSON.stringify(config), "c.json")).rejects.toThrow(text);
  });
});

/** What the project relies on, in the words of the public conformance data of CEL: https://github.com/google/cel-spec. */
describe("the language", () => {
  const facts = {
    server: "github",
    tool: "github.push_files",
    args: {
      branch: "main",
      n: 3,
      ratio: 0.5,
      list: ["a", "b"],
      map: { k: { deep: true } },
      none: null,
      on: true,
      text: "äbc",
    },
    labels: new Set(["public"]),
    reads: new Set(["untrusted", "private"]),
    agent: { name: "claude-code", version: "2.1", door: "", person: "" },
  };

  test.each<[string, boolean]>([
    ["true || args.missing.deep", true],
    ["false && args.missing.deep", false],
    ["args.missing.deep || true", true],
    ["!(args.n == 3)", false],
    ["args.n == 3.0", true],
    ["args.n >= 3 && args.n < 4", true],
    ["args.ratio > 0.25", true],
    ["args.n + 1 == 4", true],
    ["args.n % 2 == 1", true],
    ["args.none == null", true],
    ["args.absent == null", true],
    ["has(args.absent)", false],
    ["has(args.branch)", true],
    ["has(args.map.k)", true],
    ['args.map["k"].deep', true],
    ['"a" in args.list', true],
    ['"k" in args.map', true],
    ["args.list[1] == 'b'", true],
    ["size(args.list) == 2", true],
    ["size(args.text) == 3", true],
    ["args.list.all(each, each.size() == 1)", true],
    ["args.list.exists(each, each == 'b')", true],
    ["args.list.exists_one(each, each == 'b')", true],
    ["args.list.filter(each, each > 'a') == ['b']", true],
    ["args.list.map(each, each + '!') == ['a!', 'b!']", true],
    ["args.branch.startsWith('ma') && args.branch.endsWith('in') && args.branch.contains('ai')", true],
    ["args.branch.matches('^m[a-z]+$')", true],
    ["(args.on ? 'x' : 'y') == 'x'", true],
    ["string(args.n) == '3'", true],
    ["int('7') == 7", true],
    ["type(args.branch) == string", true],
    ['tool in ["github.push_files", "github.create_branch"]', true],
    ['"private" in reads && agent.name == "claude-code"', true],
    ['tool == "github.push_files" && args.n == 3', true],
    ['"github.push_files" == tool && args.n == 3', true],
    ['args.missing.deep && tool == "other.tool"', false],
    ['tool == "other.tool" && tool == "github.push_files"', false],
    ['tool == "other.tool" || tool == "github.push_files"', true],
    ['!(tool == "other.tool" && args.n == 3)', true],
    ['"public" in labels && args.n == 3', true],
    ['args.n == 3 && "private" in labels', false],
    ['("private" in labels) == false', true],
    ["tool == args.branch", false],
    ["timestamp('2026-01-01T00:00:00Z') < timestamp('2026-06-01T00:00:00Z')", true],
    ["'\\u00e4bc' == args.text", true],
  ])("%s is %p", (text, value) => {
    expect(conditionProblem(text)).toBeUndefined();
    const isMet = (condition: string) => {
      const { mayBeMet, isMet } = conditionOf(condition);
      return mayBeMet(facts.tool, facts.labels) && isMet(facts);
    };
    expect(isMet(text)).toBe(value);
    expect(isMet(`"public" in labels && (${text}) && tool == "github.push_files"`)).toBe(value);
  });
});

test.each<[string, boolean]>([
  ['tool == "a.b" && args.x == 1', true],
  ['tool == "a.c" && args.x == 1', false],
  ['args.x == 1 && (args.y == 2 && "a.c" == tool)', false],
  ['tool == "a.c" || args.x == 1', true],
  ['!(tool == "a.c")', true],
  ['"untrusted" in labels && args.x == 1', true],
  ['"public" in labels && args.x == 1', false],
  ['"public" in reads && args.x == 1', true],
])("a call of a.b, which has the label untrusted, can meet %s: %p", (text, expected) => {
  expect(conditionOf(text).mayBeMet("a.b", new Set(["untrusted"]))).toBe(expected);
});

test("doctor and config edit refuse a rule with an argument that its tool does not have", async () => {
  await opened(['deny when tool == "rec.push_files" && args.brnch == "main"']);
  await recorded.close();
  const { path } = recorded.project;
  const at = { cwd: path, env: { HOME: path, CI: "true" } };
  const checked = await cli(["doctor", "--json", "--no-servers", "--trust"], at);
  expect(checked.stdout).toContain("policy.rules[0]: rec.push_files has no argument");
  const editor = recorded.project.write("edit.sh", '#!/bin/sh\necho >> "$1"\n');
  chmodSync(editor, 0o755);
  const edited = await cli(["config", "edit"], { ...at, env: { ...at.env, EDITOR: editor } });
  expect(edited.stderr).toContain('policy.rules[0]: rec.push_files has no argument "brnch". Did you mean branch?');
});

test("doctor names each rule that cannot be right, and no other", async () => {
  await opened([
    'deny when tool == "rec.push_file" && args.branch == "main"',
    'deny when tool == "rce.push_files" && args.branch == "main"',
    'deny when server == "rek"',
    'deny when tool in ["rec.get_issu"]',
    'deny when tool == "rec.push_files" && args.count == "3"',
    'deny when tool == "rec.push_files" && args.branch > 3',
    'deny when tool == "rec.push_files" && args.count.startsWith("3")',
    'deny when tool == "rec.push_files" && args.branch in [1, 2]',
    'deny when tool == "rec.push_files" && 100 - (args.count + args.count) < 0',
    'deny when tool == "rec.push_files" && (args.branch == "main" || args.count > 3 || args.files == 1)',
    'deny when tool == "elsewhere.tool" && args.any == 1',
    'deny when server == "rec" && args.count == "3"',
  ]);
  await recorded.close();
  const { path } = recorded.project;
  const at = { cwd: path, env: { HOME: path, CI: "true" } };
  const { stdout } = await cli(["doctor", "--json", "--no-servers", "--trust"], at);
  const { findings } = JSON.parse(stdout) as { findings: { id: string; message: string }[] };
  expect(findings.filter(({ id }) => id.startsWith("config.rules")).map(({ message: each }) => each)).toEqual([
    'policy.rules[0]: there is no tool "rec.push_file". Did you mean rec.push_files?',
    'policy.rules[1]: there is no server "rce". Did you mean rec?',
    'policy.rules[2]: there is no server "rek". Did you mean rec?',
    'policy.rules[3]: there is no tool "rec.get_issu". Did you mean rec.get_issue?',
    "policy.rules[4]: args.count of rec.push_files is number, and is compared with a string",
    "policy.rules[5]: args.branch of rec.push_files is string, and is compared with a number",
    "policy.rules[6]: args.count of rec.push_files is number, and is used with startsWith",
    "policy.rules[7]: args.branch of rec.push_files is string, and is compared with a number",
  ]);
});

/** The library writes these conditions without their parentheses, or not at all. */
describe("the tree that was parsed decides", () => {
  const spend = 'deny when tool == "rec.push_files" && 100 - (args.count + args.count) < 0';

  test("about a call that a rule with parentheses denies", async () => {
    await opened([spend]);
    expect(await message("await rec.push_files({ count: 90 })")).toContain("policy.rules[0] applies: ");
    expect(await message("await rec.push_files({ count: 50 })")).toBe("ok");
    expect(argsOf()).toEqual([{ count: 50 }]);
  });

  test.each<[string, object, boolean]>([
    ["100 - (args.a - args.b) == 100", { a: 1, b: 1 }, true],
    ["100 - (args.a - args.b) == 98", { a: 1, b: 1 }, false],
    ["10 % (args.a * 3) == 1", { a: 1 }, true],
    ["100 / (args.a / args.b) == 50", { a: 4, b: 2 }, true],
    ["-(args.a - args.b) == 1", { a: 1, b: 2 }, true],
    ["(args.a == args.b) != (args.c == args.d)", { a: 1, b: 1, c: 2, d: 2 }, false],
    ["(args.a == args.b) != (args.c == args.d)", { a: 1, b: 1, c: 2, d: 3 }, true],
    ["args.a == (args.b == args.c)", { a: false, b: 1, c: 2 }, true],
    ["args.a == (args.b < args.c)", { a: true, b: 1, c: 2 }, true],
    ["!(args.a && args.b)", { a: true, b: false }, true],
    ["(args.a || args.b) && args.c", { a: true, b: false, c: false }, false],
    ["(args.a ? args.b : args.c) == 2", { a: false, b: 1, c: 2 }, true],
    ["(args.a ? true : false) ? args.b : args.c", { a: true, b: false, c: true }, false],
    ["(args.a + args.b).startsWith('xy')", { a: "x", b: "y" }, true],
    ["args.a == 1e300 * 10.0", { a: 1e301 }, true],
    ["args.a == 0.1234567890123", { a: 0.1234567890123 }, true],
    ["args.a == '\u{1f600}'", { a: "\u{1f600}" }, true],
    ["args.a == '\u{1f600}'", { a: "other" }, false],
    ["args.a.contains('\u{1f600}\u{e000}') || args.b == 'ä\\n\\u00e4'", { a: "", b: "ä\nä" }, true],
    ["args.a == '\\x7f\\u0001\\r'", { a: "\x7f\x01\r" }, true],
    ["[args.a, [1, 2]][1] == [1, 2]", { a: 0 }, true],
    ["{'a': args.a}['a'] - (1 - 2) == 2", { a: 1 }, true],
  ])("%s with %j: %p", (text, args, expected) => {
    expect(conditionOf(text).isMet({ ...noFacts, args })).toBe(expected);
    expect(conditionOf(`tool == "rec.a" && (${text})`).isMet({ ...noFacts, args })).toBe(expected);
    expect(conditionOf(`!(!(${text}))`).isMet({ ...noFacts, args })).toBe(expected);
  });
});

const noFacts = {
  server: "rec",
  tool: "rec.a",
  args: {},
  labels: new Set<string>(),
  reads: new Set<string>(),
  agent: { name: "", version: "", door: "", person: "" },
};

test.each([
  ["args.a", {}],
  ["args.a", { a: "yes" }],
  ["args.a && args.b", { a: "yes", b: true }],
  ["args.a ? args.b : 'no'", { a: true, b: 1 }],
  ["args.a > 3", { a: "4" }],
  ["args.a.b == 1", { a: 1 }],
  ["args.a[5] == 1", { a: [1] }],
  ["has(args.a.b)", {}],
  ["args.a + 1 > 2", { a: 0.5 }],
  ["args.a * args.a > 0", { a: 2 ** 52 }],
  ["10 / args.a == 1", { a: 0 }],
  ["int(args.a) == 0", { a: "" }],
  ["timestamp(args.a) < timestamp('2026-01-01T00:00:00Z')", { a: "2026-02-31T00:00:00Z" }],
])("the condition %s with %j cannot be decided, and its rule applies", (text, args) => {
  expect(() => conditionOf(text).isMet({ ...noFacts, args })).toThrow();
});

test.each<[string, object, boolean]>([
  ["args.map.path == 'a'", { map: { constructor: "x", path: "a" } }, true],
  ["args.map.path == 'a'", JSON.parse('{"map":{"__proto__":{"path":"b"},"path":"a"}}'), true],
  ["has(args.map.path)", JSON.parse('{"map":{"__proto__":{"path":"a"}}}'), false],
  ["has(args.toString)", {}, false],
  ["args.toString == null", {}, true],
  ["args.map == {'__proto__': 1}", JSON.parse('{"map":{"__proto__":1}}'), true],
  ["args.map == {'toString': 1}", { map: { valueOf: 1 } }, false],
  ["args == {'a': null}", { b: 1 }, false],
  ["'a' in args || args.a == 1", {}, false],
  ["[1].all(args, args == 1) && [2].exists(tool, tool == 2)", {}, true],
  ['[{"x": 1}].exists(args, args.x == 1)', { x: 2 }, true],
])("the names of arguments do not deceive %s with %j: %p", (text, args, expected) => {
  expect(conditionOf(text).isMet({ ...noFacts, args })).toBe(expected);
});
