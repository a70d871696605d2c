/** The weights of tools that programs called: recent calls count more, and the weights stay the same for a week. */
import { describe, expect, test } from "bun:test";
import { Counts } from "../../../src/programs/ledger/counts.ts";
import { toolWeights } from "../../../src/programs/ledger/ledger.ts";
import type { Periods } from "../../../src/programs/ledger/store.ts";

/** Calls of `shop.<tool>` by period. */
function periodsOf(given: Record<string, Record<string, number>>, failures = 0): Periods {
  return new Map(
    Object.entries(given).map(([period, tools]) => {
      const counts = new Counts();
      for (const [tool, calls] of Object.entries(tools)) counts.addEntryUse("entry of shop", tool, { calls, failures });
      return [period, counts];
    }),
  );
}

/** A Wednesday; its Monday is 2026-11-16. */
const now = new Date(Date.UTC(2026, 10, 18, 15));
const weights = (given: Record<string, Record<string, number>>, at = now) =>
  Object.fromEntries(toolWeights(periodsOf(given), "entry of shop", at));

describe("the weight of a tool", () => {
  test("grows with each doubling of its calls", () => {
    expect(weights({ "2026-11-15": { once: 1, three: 3, seven: 7 } })).toEqual({
      once: expect.closeTo(weights({ "2026-11-15": { once: 1 } })["once"]!, 6),
      three: expect.closeTo(2 * weights({ "2026-11-15": { once: 1 } })["once"]!, 6),
      seven: expect.closeTo(3 * weights({ "2026-11-15": { once: 1 } })["once"]!, 6),
    });
  });

  test("is the half for calls two weeks earlier, and little for old months and years", () => {
    const { late, early, month, year } = weights({
      "2026-11-15": { late: 1 },
      "2026-11-01": { early: 1 },
      "2026-07": { month: 1 },
      "2024": { year: 1 },
    });
    expect(early! / late!).toBeCloseTo(0.5, 6);
    expect(month!).toBeLessThan(early! / 20);
    expect(year!).toBeGreaterThan(0);
    expect(year!).toBeLessThan(month!);
  });

  test("adds up over days", () => {
    expect(weights({ "2026-11-15": { get: 1 }, "2026-11-01": { get: 1 } })["get"]!).toBeCloseTo(
      1.5 * weights({ "2026-11-15": { get: 1 } })["get"]!,
      6,
    );
  });

  test("counts only calls that succeeded, of this entry", () => {
    expect(toolWeights(periodsOf({ "2026-11-15": { get: 2 } }, 2), "entry of shop", now).size).toBe(0);
    expect(toolWeights(periodsOf({ "2026-11-15": { get: 2 } }), "another entry of shop", now).size).toBe(0);
  });
});

describe("the weights of tools", () => {
  test("are those of past weeks, the same from Monday to Sunday", () => {
    const given = { "2026-11-10": { old: 1 }, "2026-11-16": { monday: 9 }, "2026-11-17": { yesterday: 9 } };
    expect(Object.keys(weights(given))).toEqual(["old"]);
    for (const day of [16, 19, 22])
      expect(weights(given, new Date(Date.UTC(2026, 10, day, 1)))).toEqual(weights(given));
    expect(Object.keys(weights(given, new Date(Date.UTC(2026, 10, 23, 1))))).toEqual(["old", "monday", "yesterday"]);
  });

  test("are those of past days in the first week", () => {
    expect(weights({ "2026-11-17": { yesterday: 1 }, "2026-11-18": { today: 9 } })).toEqual({
      yesterday: expect.closeTo(0.95, 2),
    });
  });

  test("are those of today on the first day", () => {
    expect(weights({ "2026-11-18": { today: 3 } })).toEqual({ today: 2 });
  });
});
