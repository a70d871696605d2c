/** allow, deny and confirm: accepted policies, their problems, and the rules for a server. */
import { describe, expect, test } from "bun:test";
import { ClaudikinsError } from "../../src/base/errors.ts";
import { loadConfig } from "../../src/config/load.ts";
import { parseConfig } from "../../src/config/parse.ts";
import { exactness, matches } from "../../src/config/pattern.ts";
import { readPlainConfig } from "../../src/config/plain-config.ts";
import { policyOf } from "../../src/config/policy.ts";
import { withoutMistakes } from "../support/config-mistakes.ts";
import { temporaryFolder } from "../support/temporary.ts";

const parse = (config: object) => parseConfig(JSON.stringify(config, null, 2), "c.json");

/** The lines of the error, without their places. */
function problems(config: object | string): string[] {
  const text = typeof config === "string" ? config : JSON.stringify(config);
  // The fast reader never reads an invalid config.
  expect(readPlainConfig(text)).toBeUndefined();
  try {
    withoutMistakes(parseConfig(text, "c.json"));
  } catch (error) {
    expect(error).toBeInstanceOf(ClaudikinsError);
    return (error as Error).message
      .split("\n")
      .slice(1)
      .map((line) => line.replace(/^ *c\.json:\d+:\d+ +/, ""));
  }
  throw new Error("nothing was wrong");
}

const everything = {
  mcpServers: {
    github: {
      command: "x",
      allow: ["get_*", "create_issue"],
      deny: ["delete_*"],
      confirm: { "*": "destructive", create_issue: "always", "get_*": "never" },
    },
    far: { url: "https://h/", confirm: "always" },
  },
  policy: { allow: ["github.*", "*.read_*"], deny: ["far.purge"], confirm: { "*.write_*": "destructive" } },
};

describe("accepted policies", () => {
  test("both readers return the rules as they are written", () => {
    const parsed = parse(everything);
    expect(parsed.policy).toEqual(everything.policy as never);
    expect(parsed.servers.get("github")).toMatchObject(everything.mcpServers.github as never);
    expect(parsed.servers.get("far")).toMatchObject({ confirm: "always" });
    expect(readPlainConfig(JSON.stringify(everything))).toEqual(parsed);
  });

  test("empty lists and objects are kept", () => {
    const config = { mcpServers: { a: { command: "x", allow: [], deny: [], confirm: {} } }, policy: {} };
    expect(readPlainConfig(JSON.stringify(config))).toEqual(parse(config));
    expect(parse(config).servers.get("a")).toMatchObject({ allow: [], deny: [], confirm: {} });
  });

  test("patterns for unknown servers and keys that are comments are accepted", () => {
    const policy = { deny: ["another.delete_*", "git*.x"], "//": "mine", _deny: ["x.y"] };
    expect(parse({ mcpServers: { github: { command: "x" } }, policy }).policy?.deny).toEqual(policy.deny);
  });
});

describe("problems of a policy", () => {
  test("all problems of entries are reported at once, with similar names", () => {
    const found = problems({
      mcpServers: {
        shapes: { command: "x", allow: "get_*", deny: [1, ""], confirm: ["always"] },
        modes: { command: "x", confirm: "alwas" },
        "in modes": { url: "https://h/", confirm: { a: "nevr", b: null, "": "always" } },
        spelling: { command: "x", alow: [], dney: [], confrim: "always" },
      },
    });
    expect(found.join("\n")).toMatchInlineSnapshot(`
      "mcpServers.shapes.allow: expected an array of tool names, where "*" matches any text, found "get_*"
      mcpServers.shapes.deny[0]: expected a string, found 1
      mcpServers.shapes.deny[1]: must not be empty, found ""
      mcpServers.shapes.confirm: expected "never" or "destructive" or "always", or an object that maps tool names to these, found ["always"]
      mcpServers.modes.confirm: expected "never" or "destructive" or "always", did you mean "always"?, found "alwas"
      mcpServers["in modes"].confirm.a: expected "never" or "destructive" or "always", did you mean "never"?, found "nevr"
      mcpServers["in modes"].confirm.b: expected "never" or "destructive" or "always", found null
      mcpServers["in modes"].confirm[""]: must not be empty, found "always"
      mcpServers.spelling.alow: unknown key, did you mean "allow"?
      mcpServers.spelling.dney: unknown key, did you mean "deny"?
      mcpServers.spelling.confrim: unknown key, did you mean "confirm"?"
    `);
  });

  test('all problems of "policy" are reported at once', () => {
    const found = problems({
      mcpServers: { github: { command: "x" }, "my.server": { command: "x" } },
      policy: {
        allow: ["githb.get_*", "GitHub.get_*", "my.servr.x"],
        deny: ["delete_*", "*", "github.", "", 5],
        confirm: { delete_x: "always", "github.x": "sometimes" },
        block: ["github.x"],
        denied: [],
      },
    });
    expect(found.join("\n")).toMatchInlineSnapshot(`
      "policy.allow[0]: no server is called "githb", did you mean "github"?, found "githb.get_*"
      policy.allow[1]: no server is called "GitHub", did you mean "github"?, found "GitHub.get_*"
      policy.allow[2]: no server is called "my.servr", did you mean "my.server"?, found "my.servr.x"
      policy.deny[0]: needs a server name first: "*.delete_*" for all servers, found "delete_*"
      policy.deny[1]: needs a server name first: "*.*", found "*"
      policy.deny[2]: needs a tool name after the dot, or "*", found "github."
      policy.deny[3]: must not be empty, found ""
      policy.deny[4]: expected a string, found 5
      policy.confirm.delete_x: needs a server name first: "*.delete_x" for all servers, found "always"
      policy.confirm["github.x"]: expected "never" or "destructive" or "always", found "sometimes"
      policy.block: unknown key: expected one of allow, deny, confirm, labels, rules, flow
      policy.denied: unknown key: expected one of allow, deny, confirm, labels, rules, flow"
    `);
    expect(problems({ policy: [] })).toEqual(["policy: expected an object, found []"]);
    expect(problems({ policy: null })).toEqual(["policy: expected an object, found null"]);
  });

  test("a duplicate key is a problem", () => {
    const twice = '{"a": "never", "a": "always"}';
    expect(problems(`{"mcpServers": {"s": {"command": "x", "confirm": ${twice}}}}`)).toEqual([
      "mcpServers.s.confirm.a: appears twice",
    ]);
    expect(problems(`{"policy": {"confirm": ${twice.replaceAll('"a"', '"s.a"')}}}`)).toEqual([
      'policy.confirm["s.a"]: appears twice',
    ]);
  });
});

describe("patterns", () => {
  test.each([
    ["*", "", true],
    ["*", "anything.at/all", true],
    ["delete_*", "delete_", true],
    ["delete_*", "delete_repo", true],
    ["delete_*", "Delete_repo", false],
    ["delete_*", "undelete_repo", false],
    ["*_repo", "delete_repo", true],
    ["*_repo", "delete_repo_repos", false],
    ["*a*b*", "xaxxbx", true],
    ["*a*b*", "xbxxa", false],
    ["a*a", "a", false],
    ["**", "x", true],
    ["get-sum", "get_sum", false],
    // Every character except the star is literal.
    ["a.b", "axb", false],
    ["[ab]", "a", false],
    ["a?", "ab", false],
    ["$&", "$&", true],
    ["日*", "日本", true],
  ])("the pattern %j matches %j: %p", (pattern, name, expected) => expect(matches(pattern, name)).toBe(expected));

  test("a pattern with many stars is matched quickly", () => {
    expect(matches(`${"*a".repeat(50)}*b`, "a".repeat(20_000))).toBe(false);
  });

  test("a pattern with more letters is more exact, and a whole name is the most exact", () => {
    const sorted = ["*", "get_*", "*_issue", "get_issue*", "get_issue"].map(exactness);
    expect(sorted).toEqual([0, 4, 6, 9, Number.POSITIVE_INFINITY]);
  });
});

describe("the rules for a server", () => {
  const names = new Map(["github", "a", "a.b", "git*"].map((name) => [name, {}]));

  test("a server without rules has none", () => {
    expect(policyOf("github", {}, undefined, names)).toBeUndefined();
    expect(policyOf("github", {}, { deny: ["a.x"], confirm: { "a.*": "always" } }, names)).toBeUndefined();
    expect(policyOf("github", {}, {}, names)).toBeUndefined();
  });

  test('rules come from the entry and from "policy", with their paths', () => {
    const own = { allow: ["get_*"], deny: ["x", "github.y"], confirm: "always" as const };
    const common = { allow: ["a.*"], deny: ["a.z", "*.delete_*"], confirm: { "git*.c": "never" as const } };
    expect(policyOf("github", own, common, names)).toEqual({
      allow: [
        { patterns: ["get_*"], line: "mcpServers.github.allow" },
        { patterns: [], line: "policy.allow" },
      ],
      deny: [
        { patterns: ["x"], line: 'mcpServers.github.deny[0], "x"', place: "mcpServers.github.deny[0]" },
        {
          patterns: ["github.y", "y"],
          line: 'mcpServers.github.deny[1], "github.y"',
          place: "mcpServers.github.deny[1]",
        },
        { patterns: ["delete_*"], line: 'policy.deny[1], "*.delete_*"', place: "policy.deny[1]" },
      ],
      // The pattern means the server called `git*`.
      confirm: [{ modes: [{ pattern: "*", mode: "always" }], line: "mcpServers.github.confirm" }],
      own: "always",
    });
  });

  test("a pattern means the server with the longest matching name, or else the text before the first dot", () => {
    const denied = (name: string, pattern: string) =>
      policyOf(name, {}, { deny: [pattern] }, names)?.deny.flatMap(({ patterns }) => patterns);
    expect(denied("a.b", "a.b.c")).toEqual(["c"]);
    expect(denied("a", "a.b.c")).toBeUndefined();
    expect(denied("a", "a.c.d")).toEqual(["c.d"]);
    expect(denied("a.b", "*.c")).toEqual(["c"]);
    expect(denied("git*", "git*.c")).toEqual(["c"]);
  });

  test("loadConfig returns the rules of a server without expanding variables in them", async () => {
    using folder = temporaryFolder();
    const deny = ["${HOME}"];
    folder.write("claudikins.json", { mcpServers: { a: { command: "x", deny }, b: { command: "x" } } });
    const { servers } = await loadConfig({ cwd: folder.path, env: { HOME: folder.path, CI: "true" } });
    expect(servers.get("a")).toMatchObject({ needs: [], policy: { deny: [{ patterns: deny }] } });
    expect(servers.get("a")).not.toHaveProperty("deny");
    expect(servers.get("b")?.policy).toBeUndefined();
  });
});
