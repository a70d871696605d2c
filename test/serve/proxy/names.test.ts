/** Names of tools from many servers in one list: valid for hosts, unique, and stable across sessions. */
import { describe, expect, test } from "bun:test";
import type { Prefix } from "../../../src/config/defaults.ts";
import { ExposedNames, type Original } from "../../../src/serve/proxy/names.ts";

/** The names of ids written as `server.tool`; a tool's own dots belong to its name. */
const original = (id: string): Original => ({ server: id.split(".")[0]!, name: id.slice(id.indexOf(".") + 1) });

function named(prefix: Prefix, ...rounds: string[][]): Record<string, string | undefined> {
  const names = new ExposedNames(prefix);
  for (const ids of rounds) names.assign(ids.map(original));
  const all = new Set(rounds.flat());
  for (const id of all) expect(names.original(names.nameOf(original(id))!)).toEqual(original(id));
  return Object.fromEntries([...all].map((id) => [id, names.nameOf(original(id))]));
}

const two = ["github.search", "github.get_issue", "linear.search", "linear.list"];

describe("prefix", () => {
  test("on-collision prefixes only names that two servers have", () => {
    expect(named("on-collision", two)).toEqual({
      "github.search": "github__search",
      "github.get_issue": "get_issue",
      "linear.search": "linear__search",
      "linear.list": "list",
    });
  });

  test("always prefixes every name", () => {
    expect(Object.values(named("always", two))).toEqual([
      "github__search",
      "github__get_issue",
      "linear__search",
      "linear__list",
    ]);
  });

  test("never adds a hash to names that two servers have", () => {
    expect(named("never", two)).toEqual({
      "github.search": "search_2cd9a723",
      "github.get_issue": "get_issue",
      "linear.search": "search_c91ce119",
      "linear.list": "list",
    });
  });
});

test.each(["never", "on-collision", "always"] as const)(
  "with prefix %s, names are valid, unique and stable in any order",
  (prefix) => {
    const long = "x".repeat(80);
    const ids = [
      ...["a.b.c", "a.b/c", "a.b_c", "a.b c", "a.ü", "a.検索", "a.索引", "a.__proto__", "a.constructor"],
      ...[`a.${long}1`, `a.${long}2`, `b.${long}1`, "a__b.c", "a.b__c", "b.a__b__c", "my server!.run", "b.run"],
    ];
    const names = named(prefix, ids);
    const given = Object.values(names);
    for (const name of given) expect(name).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
    expect(new Set(given).size).toBe(ids.length);
    expect(named(prefix, ids.toReversed())).toEqual(names);
  },
);

test("a valid name has precedence over names that are changed to the same name", () => {
  const names = named("on-collision", ["a.get_thing", "a.get.thing", "a.get thing"]);
  expect(names["a.get_thing"]).toBe("get_thing");
  expect(names["a.get.thing"]).toMatch(/^get_thing_[0-9a-f]{8}$/);
});

test("a tool keeps its name when others are added, and the name is not reused when the tool is gone", () => {
  const late = named("on-collision", ["linear.search"], ["github.search"], ["github.search", "github.get"]);
  expect(late).toEqual({ "linear.search": "search", "github.search": "github__search", "github.get": "get" });
  // The name equals the prefixed name of another tool.
  expect(named("on-collision", ["x.a__b"], ["a.b", "c.b"])).toMatchObject({ "x.a__b": "a__b", "c.b": "c__b" });
  expect(named("on-collision", ["x.a__b"], ["a.b", "c.b"])["a.b"]).toMatch(/^a__b_[0-9a-f]{8}$/);
});

describe("a name that an agent's user may have allowed is not given to a tool of another server", () => {
  const servers = ["bank", "evil", "bank__eu", "a.b", "a_b"];
  const first = (prefix: Prefix, ids: string[]) => {
    const names = new ExposedNames(prefix, () => servers);
    names.assign(ids.map(original));
    return ids.map((id) => names.nameOf(original(id)));
  };

  test("if a tool is called like a tool of another server with its prefix", () => {
    expect(first("on-collision", ["evil.bank__pay"])).toEqual(["evil__bank__pay"]);
    expect(first("on-collision", ["bank.bank__pay"])).toEqual(["bank__pay"]);
  });

  test("if the prefix of one server is the beginning of another one's", () => {
    // Whichever server answers first, the name belongs to the shorter one.
    for (const prefix of ["always", "on-collision"] as const) {
      const [late] = first(prefix, ["bank__eu.pay", "evil.pay"]);
      expect(late).not.toBe("bank__eu__pay");
      expect(first(prefix, ["bank.eu__pay", "evil.eu__pay"])[0]).toBe("bank__eu__pay");
    }
  });

  test("if the names of two servers become the same prefix", () => {
    const names = new ExposedNames("always", () => servers);
    names.assign([{ server: "a.b", name: "pay" }]);
    expect(names.nameOf({ server: "a.b", name: "pay" })).toMatch(/^a_b_[0-9a-f]{8}__pay$/);
    names.assign([{ server: "a_b", name: "pay" }]);
    expect(names.nameOf({ server: "a_b", name: "pay" })).toBe("a_b__pay");
  });

  test("if a tool is called like a name with one of our digests", () => {
    const [marked] = first("never", ["bank.pay", "evil.pay"]);
    expect(marked).toMatch(/^pay_[0-9a-f]{8}$/);
    for (const prefix of ["never", "on-collision"] as const) {
      expect(first(prefix, [`evil.${marked}`])).not.toContain(marked);
    }
  });
});
