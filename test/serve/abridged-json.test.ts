/** Values that are too long to be shown keep their shape, and everything left out is counted. */
import { describe, expect, test } from "bun:test";
import { abridgedJson } from "../../src/serve/content/abridged-json.ts";

const shown = (value: unknown, maxChars: number) => JSON.parse(abridgedJson(value, maxChars)!) as unknown;
const orders = Array.from({ length: 2_400 }, (_, n) => ({ id: `ord_${n}`, total_cents: n * 100 }));

describe("abridged data", () => {
  test("is unchanged if it fits", () => {
    const value = { list: [1, 2, 3], text: "abc", none: null, no: false };
    expect(shown(value, 1_000)).toEqual(value);
  });

  test("keeps head, tail and count of a long array", () => {
    const list = shown({ orders }, 5_000) as { orders: unknown[] };
    const gap = list.orders.findIndex((each) => typeof each === "string");
    expect(list.orders.slice(0, gap)).toEqual(orders.slice(0, gap));
    const tail = list.orders.length - gap - 1;
    expect(list.orders.slice(gap + 1)).toEqual(orders.slice(-tail));
    expect(list.orders[gap]).toBe(`… ${(2_400 - gap - tail).toLocaleString("en")} more items of 2,400 …`);
    expect(gap).toBeGreaterThan(tail);
  });

  test("keeps more of an array with a larger limit", () => {
    const lengths = [1_000, 4_000, 20_000, 50_000].map((room) => (shown(orders, room) as unknown[]).length);
    expect(lengths).toEqual([...lengths].sort((a, b) => a - b));
    expect(new Set(lengths).size).toBeGreaterThan(2);
  });

  test("keeps head, tail and count of a long text, even inside data", () => {
    const text = `start${"x".repeat(100_000)}end`;
    const [short] = shown([text], 1_000) as [string];
    expect(short).toStartWith("startxxx");
    expect(short).toEndWith("xxxend");
    expect(short).toMatch(/… 9[89],\d{3} more characters of 100,008 …/);
  });

  test("keeps some keys of a large object, and the number of the others", () => {
    const many = Object.fromEntries(Array.from({ length: 5_000 }, (_, n) => [`key${n}`, n]));
    const some = shown(many, 2_000) as Record<string, unknown>;
    expect(some["key0"]).toBe(0);
    expect(some["key4999"]).toBe(4_999);
    expect(some["…"]).toMatch(/^4,9\d\d more keys of 5,000$/);
  });

  test("keeps the upper levels of deep data", () => {
    let deep: unknown = "bottom";
    for (let level = 0; level < 200; level++) deep = { level, list: [deep, deep].slice(0, 1), more: "x".repeat(50) };
    expect(JSON.stringify(shown(deep, 2_000))).toMatch(/\{… 3 keys\}|\[… 1 item\]/);
  });
});

test.each([1_000, 10_000, 40_000])("abridged data never has more than %i characters", (room) => {
  const value = {
    orders,
    names: orders.map(({ id }) => id),
    text: "y".repeat(200_000),
    nested: { a: { b: [orders] } },
  };
  const json = abridgedJson(value, room)!;
  expect(json.length).toBeLessThanOrEqual(room);
  expect(json.length).toBeGreaterThan(room / 20);
});

test("abridging returns undefined if even the smallest stage is too long", () => {
  expect(abridgedJson({ ["k".repeat(5_000)]: 1 }, 1_000)).toBeUndefined();
});
