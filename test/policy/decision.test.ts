/** What the policy says about one tool. */
import { describe, expect, test } from "bun:test";
import { type PolicyKeys, policyOf } from "../../src/config/policy.ts";
import { closingLine, confirmationOf, denialOf, isDestructive } from "../../src/policy/decision.ts";

const policy = (own: PolicyKeys, common?: PolicyKeys) =>
  policyOf("rec", own, common, new Map(["rec", "other"].map((name) => [name, {}])))!;
const mode = (own: PolicyKeys, tool: string, common?: PolicyKeys) =>
  confirmationOf(policy(own, common), tool)?.mode ?? "never";

describe("confirm", () => {
  test("uses the most specific pattern, in any order", () => {
    const confirm = { "get_*": "never", "*": "always", get_secret: "always", "*_secret*": "destructive" } as const;
    for (const order of [confirm, Object.fromEntries(Object.entries(confirm).toReversed())]) {
      expect(mode({ confirm: order }, "delete_it")).toBe("always");
      expect(mode({ confirm: order }, "get_it")).toBe("never");
      expect(mode({ confirm: order }, "get_secret")).toBe("always");
      expect(mode({ confirm: order }, "get_secrets")).toBe("destructive");
    }
  });

  test("uses the stricter of two equally specific patterns", () => {
    expect(mode({ confirm: { "ab*": "never", "*bc": "destructive" } }, "abc")).toBe("destructive");
    expect(mode({ confirm: { "*bc": "always", "ab*": "destructive" } }, "abc")).toBe("always");
    // A name is more specific than any pattern.
    expect(mode({ confirm: { "abc*": "always", abc: "never" } }, "abc")).toBe("never");
  });

  test("uses the entry's rules before the common rules", () => {
    const common = { confirm: { "rec.*": "always" } } as const;
    expect(mode({ confirm: { "get_*": "never" } }, "get_it", common)).toBe("never");
    expect(mode({ confirm: { "get_*": "never" } }, "set_it", common)).toBe("always");
    expect(mode({ confirm: "destructive" }, "set_it", common)).toBe("destructive");
    expect(confirmationOf(policy({}, common), "x")).toEqual({ mode: "always", line: "policy.confirm" });
  });

  test("distinguishes upper and lower case", () => {
    expect(mode({ confirm: { "Delete*": "always" } }, "delete_it")).toBe("never");
    expect(denialOf(policy({ deny: ["Delete*"] }), "delete_it")).toBeUndefined();
  });
});

test.each<[object | undefined, boolean]>([
  // The defaults of MCP: not read-only, and destructive.
  [undefined, true],
  [{}, true],
  [{ title: "x" }, true],
  [{ readOnlyHint: false }, true],
  [{ destructiveHint: true }, true],
  [{ readOnlyHint: true }, false],
  [{ destructiveHint: false }, false],
  [{ readOnlyHint: true, destructiveHint: false }, false],
  // Contradictory or malformed annotations.
  [{ readOnlyHint: true, destructiveHint: true }, true],
  [{ readOnlyHint: "true" }, true],
  [{ readOnlyHint: 1, destructiveHint: 0 }, true],
  [{ destructiveHint: null }, true],
])("%j is destructive: %p", (annotations, expected) => {
  expect(isDestructive(annotations as never, "x")).toBe(expected);
  // The name says nothing beside annotations.
  if (expected && Object.keys(annotations ?? {}).some((key) => key.endsWith("Hint"))) {
    expect(isDestructive(annotations as never, "get_x")).toBe(true);
  }
});

describe("a tool without annotations", () => {
  test.each(
    "get_forecast get-alerts listIssues search read_text_file fetchUrl find_by_id DescribeTable count_rows".split(" "),
  )("%s reads, by its name", (tool) => {
    expect(isDestructive(undefined, tool)).toBe(false);
    expect(isDestructive({ title: "x" }, tool)).toBe(false);
    expect(isDestructive({ readOnlyHint: false }, tool)).toBe(true);
  });

  test.each(
    "forecast query read_query get_or_create_user getAndDelete list_then_purge fetch_update set_get gettysburg unlist _ __proto__".split(
      " ",
    ),
  )("%s may destroy something", (tool) => {
    expect(isDestructive(undefined, tool)).toBe(true);
  });
});

test("closingLine finds the line that denies the whole server or allows none of its tools", () => {
  expect(closingLine(policy({ deny: ["x", "*"] }))).toBe('mcpServers.rec.deny[1], "*"');
  expect(closingLine(policy({}, { deny: ["*.*"] }))).toBe('policy.deny[0], "*.*"');
  expect(closingLine(policy({ deny: ["**"] }))).toBeDefined();
  expect(closingLine(policy({ deny: ["rec.*"] }))).toBe('mcpServers.rec.deny[0], "rec.*"');
  expect(closingLine(policy({ allow: [] }))).toBe("mcpServers.rec.allow");
  expect(closingLine(policy({ allow: ["*"] }, { allow: ["other.*"] }))).toBe("policy.allow");
  expect(closingLine(policy({ allow: ["x"] }, { allow: ["rec.y"] }))).toBeUndefined();
  expect(closingLine(policy({ deny: ["*_*"] }))).toBeUndefined();
});
