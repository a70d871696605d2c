/** Counts add up, can be stored as JSON, and are bounded. */
import { describe, expect, test } from "bun:test";
import { charsOfBlocks } from "../../../src/base/context-characters.ts";
import { type CountedUse, Counts } from "../../../src/programs/ledger/counts.ts";

const use = (more: Partial<CountedUse> = {}): CountedUse => ({
  calls: 1,
  failures: 0,
  durationMs: 2.4,
  resultChars: 10,
  takenChars: 8,
  argumentChars: 2,
  denied: 0,
  ...more,
});

const through = (counts: Counts) => Counts.from(JSON.parse(JSON.stringify(counts.toJson())));

describe("counts", () => {
  test("add up per tool, and can be read back from JSON", () => {
    const counts = new Counts();
    expect(counts.isEmpty).toBe(true);
    counts.addUse("shop", "list", use());
    counts.addUse("shop", "list", use({ failures: 1, denied: 3 }));
    counts.addUse("__proto__", "constructor", use());
    counts.addEntryUse("entry", "list", { calls: 2, failures: 1 });
    counts.addSums({ sessions: 1, codeChars: 5 });
    counts.addHook("serve skill", 1);
    expect(counts.isEmpty).toBe(false);
    const all = through(counts);
    all.add(through(counts));
    expect(all.uses()).toEqual([
      ["__proto__", "constructor", use({ calls: 2, durationMs: 4, resultChars: 20, takenChars: 16, argumentChars: 4 })],
      [
        "shop",
        "list",
        { calls: 4, failures: 2, durationMs: 10, resultChars: 40, takenChars: 32, argumentChars: 8, denied: 6 },
      ],
    ]);
    expect(all.sums).toMatchObject({ sessions: 2, codeChars: 10, searches: 0 });
    expect([...all.hooks]).toEqual([["serve skill", 2]]);
    expect(all.entries).toEqual(new Map([["entry", new Map([["list", { calls: 4, failures: 2 }]])]]));
  });

  test("omit zeros", () => {
    expect(new Counts().toJson()).toEqual({});
  });

  test.each([
    [{ sums: { sessions: "1" } }],
    [{ tools: [["a", 1, 1]] }],
    [{ tools: [["a", "b", null, {}]] }],
    [{ hooks: 1 }],
    [{ entries: [["a", "b", "1", 0]] }],
  ])("cannot be read from invalid JSON: %j", (json) => {
    expect(() => Counts.from(json)).toThrow();
  });

  test("combine rarely called tools if there are too many, and no call is lost", () => {
    const counts = new Counts();
    for (let tool = 1; tool <= 50; tool++) counts.addUse("many", `tool-${tool}`, use({ calls: tool }));
    const bounded = counts.bounded(10);
    expect(bounded.uses().length).toBe(10);
    expect(bounded.tools.get("many")?.get("tool-50")?.calls).toBe(50);
    const sum = (of: Counts) => of.uses().reduce((total, [, , { calls }]) => total + calls, 0);
    expect(sum(bounded)).toBe(sum(counts));
    expect(counts.bounded(50)).toBe(counts);
  });

  test("keep the entries' most called tools if there are too many", () => {
    const counts = new Counts();
    for (let tool = 1; tool <= 50; tool++) counts.addEntryUse("many", `tool-${tool}`, { calls: tool, failures: 0 });
    expect([...(counts.bounded(2).entries.get("many")?.keys() ?? [])]).toEqual(["tool-50", "tool-49"]);
  });
});

test("content blocks count as text, and images by their cost instead of their base64", () => {
  const data = "A".repeat(1_000_000);
  expect(
    charsOfBlocks([
      { type: "text", text: "four" },
      { type: "image", data, mimeType: "image/png" },
      { type: "resource", resource: { uri: "a:b", text: "six six" } },
      { type: "resource", resource: { uri: "a:b", blob: data } },
      null,
    ]),
  ).toBe(4 + 6_000 + 7 + 6_000 + 2);
  expect(charsOfBlocks(undefined)).toBe(0);
});
