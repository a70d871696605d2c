/** What another schema of a result may do to a caller. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../../src/base/json-object.ts";
import { resultChanges, withChange } from "../../../src/tools/definitions/compatible.ts";

const object = (properties: JsonObject, required: string[] = Object.keys(properties)) => ({
  type: "object",
  properties,
  required,
});
const text = { type: "string" };
const number = { type: "number" };

const says = (before: JsonObject, now: JsonObject) =>
  resultChanges(before, now).map(({ kind, text }) => `${kind}: ${text}`);

describe("a change that a caller may notice", () => {
  const orders = (items: object) => object({ orders: { type: "array", items } });
  const cases: [string, JsonObject, JsonObject, string[]][] = [
    ["a field is gone", object({ a: text, b: number }), object({ b: number }), ["gone: a is gone"]],
    ["a field has another name", object({ a: text }), object({ c: text }), ['gone: a is gone; it may be "c" now']],
    [
      "a field of items",
      orders(object({ a: text, b: text })),
      orders(object({ b: text })),
      ["gone: orders[*].a is gone"],
    ],
    ["a field may be missing", object({ a: text }), object({ a: text }, []), ["missing: a may be missing now"]],
    [
      "null",
      object({ a: text }),
      object({ a: { type: ["string", "null"] } }),
      ["type: a may be null now; it was a text"],
    ],
    [
      "null, as a choice",
      object({ a: text }),
      object({ a: { anyOf: [text, { type: "null" }] } }),
      ["type: a may be null now; it was a text"],
    ],
    ["another type", object({ a: number }), object({ a: text }), ["type: a is a text now; it was a number"]],
    ["a list", orders(text), { type: "array", items: text }, ["type: the result is a list now; it was an object"]],
    [
      "a further value",
      object({ a: { enum: ["x", "y"] } }),
      object({ a: { enum: ["y", "z"] } }),
      ['value: a may be "z" now'],
    ],
    [
      "below a reference",
      { ...object({ a: { $ref: "#/$defs/a" } }), $defs: { a: object({ b: text }) } },
      { ...object({ a: { $ref: "#/$defs/a" } }), $defs: { a: object({ c: number }) } },
      ["gone: a.b is gone"],
    ],
    [
      "in a map",
      { type: "object", additionalProperties: object({ a: text }) },
      { type: "object", additionalProperties: object({ a: number }) },
      ["type: [*].a is a number now; it was a text"],
    ],
  ];
  test.each(cases)("%s", (_, before, now, expected) => {
    expect(says(before, now)).toEqual(expected);
  });
});

describe("no change for a caller", () => {
  const cases: [string, JsonObject, JsonObject][] = [
    ["nothing", object({ a: text }), object({ a: text })],
    ["a new field", object({ a: text }), object({ a: text, b: text })],
    ["texts", object({ a: { ...text, description: "A" } }), object({ a: { ...text, description: "B", maxLength: 3 } })],
    ["fewer values", object({ a: { enum: ["x", "y"] } }), object({ a: { enum: ["x"] } })],
    ["fewer types", object({ a: { type: ["string", "null"] } }), object({ a: text })],
    ["a field that is always there now", object({ a: text }, []), object({ a: text })],
    ["whole numbers", object({ a: { type: "integer" } }), object({ a: number })],
    ["a type that is described less exactly", object({ a: text }), object({ a: {} })],
    ["an object that is described less exactly", object({ a: text }), { type: "object" }],
    [
      "the same in other words",
      object({ a: text }),
      { allOf: [object({ a: { $ref: "#/$defs/t" } })], $defs: { t: text } },
    ],
  ];
  test.each(cases)("%s", (_, before, now) => {
    expect(says(before, now)).toEqual([]);
  });
});

describe("one result in the place of a schema", () => {
  const known = { before: "seen", now: "declared" } as const;
  const found = (now: JsonObject) => resultChanges(object({ a: text }), now, known).map(({ text }) => text);

  test("is contradicted by a type, and by a field that it lacks", () => {
    expect(found(object({ a: number }))).toEqual(["a is a number now; it was a text"]);
    expect(found(object({ b: text }))).toEqual(['a is gone; it may be "b" now']);
    expect(found({ ...object({ b: text }, []), additionalProperties: false })).toEqual([
      'a is gone; it may be "b" now',
    ]);
  });

  test("does not say what others may have", () => {
    expect(found(object({ a: { type: ["string", "null"] } }, []))).toEqual([]);
    expect(found(object({ b: text }, []))).toEqual([]);
  });
});

test("hostile schemas are compared in bounded time", () => {
  const circle: JsonObject = { type: "object", properties: { a: { $ref: "#" }, b: { $ref: "#" }, c: { $ref: "#" } } };
  const other = { ...circle, properties: { ...(circle["properties"] as JsonObject), b: { type: "string" } } };
  const wide = { anyOf: Array.from({ length: 10_000 }, () => ({ $ref: "#" })) };
  const startedAt = performance.now();
  expect(resultChanges(circle, other).length).toBeGreaterThan(0);
  resultChanges(wide, wide);
  resultChanges({ $ref: "#" }, { allOf: [{ $ref: "#" }, { $ref: "#" }] });
  resultChanges(object(JSON.parse('{"__proto__": {"type": "string"}}')), object(JSON.parse('{"constructor": {}}')));
  expect(performance.now() - startedAt).toBeLessThan(5_000);
});

describe("a result as a change could make it", () => {
  const result = { orders: [{ id: 1, note: "a" }, { id: 2 }] };
  const cases: [string, (string | null)[], unknown, unknown][] = [
    ["without a field", ["orders", null, "note"], undefined, { orders: [{ id: 1 }, { id: 2 }] }],
    ["with null where a field is", ["orders", null, "note"], null, { orders: [{ id: 1, note: null }, { id: 2 }] }],
    ["as another value", [], "x", "x"],
    ["with other values in a map", [null], 7, { orders: 7 }],
  ];
  test.each(cases)("%s", (_, path, value, expected) => {
    expect(withChange(result, { path, value })).toEqual(expected);
  });

  test("is the same object if it has nothing there", () => {
    expect(withChange(result, { path: ["orders", null, "cents"], value: null })).toBe(result);
    expect(withChange(result, { path: ["orders", "a"], value: null })).toBe(result);
  });
});
