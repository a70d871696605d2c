/** JSON that is easy to read: short values stand on one line, and long ones are broken. */
import { expect, test } from "bun:test";
import { jsonText } from "../../src/serve/content/json-text.ts";

test.each([
  [null, "null"],
  ["a\nb", '"a\\nb"'],
  [[], "[]"],
  [{}, "{}"],
  [{ a: 1, "b c": [true, null] }, '{"a": 1, "b c": [true, null]}'],
])("%j is written in the expected lines", (value, text) => expect(jsonText(value)).toBe(text));

test("an array of records has one line for each", () => {
  const records = Array.from({ length: 3 }, (_, n) => ({ id: `ord_${n}`, name: "x".repeat(60), tags: ["a", "b"] }));
  expect(jsonText({ records, total: 3 })).toBe(
    `{
 "records": [
  {"id": "ord_0", "name": "${"x".repeat(60)}", "tags": ["a", "b"]},
  {"id": "ord_1", "name": "${"x".repeat(60)}", "tags": ["a", "b"]},
  {"id": "ord_2", "name": "${"x".repeat(60)}", "tags": ["a", "b"]}
 ],
 "total": 3
}`,
  );
});

test("JSON.parse returns the original value", () => {
  const value = JSON.parse(
    `{"__proto__": {"deep": [[[["${"y".repeat(300)}"]]]]}, "": [1.5, -0.1, 1e21], "k": "\\ud800"}`,
  );
  expect(JSON.parse(jsonText(value))).toEqual(value);
  expect(jsonText(value).split("\n").length).toBeGreaterThan(5);
});

test("data is broken into lines only down to level 50, so that the indentation stays short", () => {
  const leaf = "x".repeat(300);
  const value = Array.from({ length: 2_000 }).reduce<unknown>((inner) => ({ list: [inner] }), leaf);
  const text = jsonText(value);
  expect(JSON.parse(text)).toEqual(value);
  expect(text.length).toBeLessThan(2 * JSON.stringify(value).length);
});
