/** JSON Schema → TypeScript: the texts, and that the compiler agrees about which values they accept. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { typeText } from "../../src/registry/type-text.ts";
import { typeErrors } from "../support/typescript.ts";

// The compiler is a program of its own.
setDefaultTimeout(30_000);

interface Case {
  schema: unknown;
  type: string;
  /** Values that the schema accepts, and some that it does not: the type must agree. */
  valid?: unknown[];
  invalid?: unknown[];
}

const text = { type: "string" };
const id = { type: "object", properties: { id: text }, required: ["id"] };

const cases: Record<string, Case> = {
  text: { schema: text, type: "string", valid: ["a"], invalid: [1, null] },
  number: { schema: { type: "number" }, type: "number", valid: [1.5], invalid: ["1"] },
  integer: { schema: { type: "integer" }, type: "number" },
  boolean: { schema: { type: "boolean" }, type: "boolean", valid: [true], invalid: ["true"] },
  null: { schema: { type: "null" }, type: "null", valid: [null], invalid: [0] },
  anything: { schema: {}, type: "unknown", valid: [1, null] },
  "true schema": { schema: true, type: "unknown" },
  "false schema": { schema: false, type: "never", invalid: [1] },
  "no schema": { schema: undefined, type: "unknown" },
  "list of types": { schema: { type: ["string", "null"] }, type: "string | null", valid: ["a", null], invalid: [1] },
  nullable: {
    schema: { ...id, nullable: true },
    type: "{ id: string } | null",
    valid: [null, { id: "a" }],
    invalid: [{}],
  },
  const: { schema: { const: 'a"b\u2028' }, type: '"a\\"b\u2028"', valid: ['a"b\u2028'], invalid: ["a"] },
  "const null": { schema: { const: null }, type: "null" },
  "const object": { schema: { const: { a: 1 } }, type: "unknown" },
  enum: {
    schema: { enum: ["a", 1, -0.5, true, null, "a"] },
    type: '"a" | 1 | -0.5 | true | null',
    valid: ["a", null],
    invalid: ["b"],
  },
  "enum of objects": { schema: { enum: [{ a: 1 }] }, type: "unknown" },
  "empty enum": { schema: { enum: [] }, type: "unknown" },
  "large enum of texts": {
    schema: { type: "string", enum: Array.from({ length: 126 }, (_, i) => `v${i}`) },
    type: `${Array.from({ length: 24 }, (_, i) => `"v${i}"`).join(" | ")} | string`,
    valid: ["v125"],
    invalid: [1],
  },
  "large enum of numbers": {
    schema: { enum: Array.from({ length: 26 }, (_, i) => i) },
    type: `${Array.from({ length: 24 }, (_, i) => i).join(" | ")} | number`,
    valid: [25],
    invalid: ["x"],
  },

  list: { schema: { type: "array", items: text }, type: "string[]", valid: [[], ["a"]], invalid: [[1], "a"] },
  "list of anything": { schema: { type: "array" }, type: "unknown[]", valid: [[1, "a"]] },
  "list without a type": { schema: { items: text }, type: "string[]" },
  "list of a choice": {
    schema: { type: "array", items: { type: ["string", "number"] } },
    type: "(string | number)[]",
    valid: [["a", 1]],
    invalid: [[true]],
  },
  tuple: {
    schema: { type: "array", prefixItems: [text, { type: "number" }] },
    type: "[string, number]",
    valid: [["a", 1]],
    invalid: [[1, "a"]],
  },
  "tuple of draft 7": {
    schema: { type: "array", items: [text, { type: ["number", "null"] }] },
    type: "[string, number | null]",
    valid: [["a", null]],
  },

  object: {
    schema: { type: "object", properties: { a: text, b: { type: "number" } }, required: ["b"] },
    type: "{ a?: string; b: number }",
    valid: [{ b: 1 }, { a: "x", b: 1 }],
    invalid: [{ a: "x" }, { b: "1" }],
  },
  "object without a type": { schema: { properties: { a: text } }, type: "{ a?: string }" },
  "object of anything": {
    schema: { type: "object" },
    type: "Record<string, unknown>",
    valid: [{ x: 1 }],
    invalid: ["x"],
  },
  "object of texts": {
    schema: { type: "object", additionalProperties: text },
    type: "Record<string, string>",
    valid: [{ a: "x" }],
    invalid: [{ a: 1 }],
  },
  "object of nothing": { schema: { type: "object", properties: {}, additionalProperties: false }, type: "{}" },
  "odd keys": {
    schema: {
      type: "object",
      properties: Object.fromEntries(
        ["resource-group", "function", "default", "2fa", "日本", 'q"\n*/'].map((key) => [key, text]),
      ),
    },
    type: '{ "resource-group"?: string; function?: string; default?: string; "2fa"?: string; 日本?: string; "q\\"\\n*/"?: string }',
    valid: [{ "resource-group": "a", "2fa": "b", 'q"\n*/': "c" }],
    invalid: [{ "2fa": 2 }],
  },
  "a key constructor": {
    schema: { type: "object", properties: { constructor: text } },
    type: "{ constructor?: string }",
  },
  "a key __proto__": {
    schema: JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}'),
    type: "{ __proto__?: string }",
  },
  "required that is not described": {
    schema: { ...id, required: ["id", "ghost", 5] },
    type: "{ id: string; ghost: unknown }",
    valid: [{ id: "a", ghost: 1 }],
    invalid: [{ id: "a" }],
  },

  reference: { schema: { $ref: "#/$defs/a", $defs: { a: text } }, type: "string" },
  "reference with escapes": { schema: { $ref: "#/$defs/a~1b~0c%20d", $defs: { "a/b~c d": text } }, type: "string" },
  "reference into a list": {
    schema: {
      type: "object",
      properties: { f: { anyOf: [{ type: "number" }, id] }, g: { $ref: "#/properties/f/anyOf/1" } },
    },
    type: "{ f?: number | { id: string }; g?: { id: string } }",
  },
  "reference to nothing": { schema: { $ref: "#/$defs/a" }, type: "unknown" },
  "reference elsewhere": { schema: { $ref: "https://example.com/schema.json" }, type: "unknown" },
  "reference to itself": { schema: { $ref: "#" }, type: "unknown" },
  "references in a ring": {
    schema: { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
    type: "unknown",
  },
  recursion: {
    schema: {
      type: "object",
      properties: { value: text, children: { type: "array", items: { $ref: "#" } } },
      required: ["value"],
    },
    type: "{ value: string; children?: unknown[] }",
    valid: [{ value: "a", children: [{ value: "b" }] }],
  },
  "recursion that may be null": {
    schema: { type: ["object", "null"], properties: { next: { $ref: "#" } } },
    type: "{ next?: unknown } | null",
  },

  anyOf: {
    schema: { anyOf: [text, { type: "number" }, text] },
    type: "string | number",
    valid: ["a", 1],
    invalid: [true],
  },
  oneOf: { schema: { oneOf: [id, { type: "null" }] }, type: "{ id: string } | null", valid: [null], invalid: [{}] },
  "anyOf with anything": { schema: { anyOf: [text, {}] }, type: "unknown" },
  "anyOf with nothing": { schema: { anyOf: [text, false] }, type: "string" },
  "anyOf of formats": { schema: { type: "string", anyOf: [{ format: "date" }, { format: "time" }] }, type: "string" },
  "anyOf of what is required": {
    schema: { type: "object", properties: { a: text, b: text }, anyOf: [{ required: ["a"] }, { required: ["b"] }] },
    type: "{ a?: string; b?: string }",
    valid: [{ a: "x" }],
    invalid: [{ a: 1 }],
  },
  "anyOf beside properties": {
    schema: {
      ...id,
      anyOf: [
        { type: "object", properties: { a: text }, required: ["a"] },
        { type: "object", properties: { b: text }, required: ["b"] },
      ],
    },
    type: "{ id: string } & ({ a: string } | { b: string })",
    valid: [
      { id: "x", a: "y" },
      { id: "x", b: "y" },
    ],
    invalid: [{ id: "x" }, { a: "y" }],
  },
  allOf: {
    schema: { allOf: [id, { properties: { n: { type: "number" } } }, { description: "says nothing" }] },
    type: "{ id: string } & { n?: number }",
    valid: [{ id: "a", n: 1 }],
    invalid: [{ n: 1 }],
  },
  "list of both": {
    schema: { type: "array", items: { allOf: [id, { $ref: "#/items/allOf/0" }] } },
    type: "{ id: string }[]",
  },
  "a choice within allOf": {
    schema: { allOf: [{ type: ["string", "number"] }, { enum: ["a", 1] }] },
    type: '(string | number) & ("a" | 1)',
    valid: ["a"],
    invalid: ["b"],
  },

  depth: {
    schema: Array.from({ length: 24 }).reduce<object>((inner) => ({ type: "object", properties: { a: inner } }), text),
    type: "{ a?: { a?: { a?: { a?: { a?: { a?: unknown } } } } } }",
  },
  "an invalid type": { schema: { type: "file" }, type: "unknown" },
  "invalid parts": {
    schema: { type: "object", properties: { a: "text", b: null, c: 5, d: ["x"] }, required: "a" },
    type: "{ a?: unknown; b?: unknown; c?: unknown; d?: unknown }",
  },
  "invalid lists": { schema: { anyOf: "x", allOf: {}, enum: "a", type: 5 }, type: "unknown" },
};

test.each(Object.entries(cases))("%s", (_, { schema, type }) => {
  expect(typeText(schema)).toBe(type);
});

test.each([[null], [5], ["x"], [[]]])("%j is no schema", (schema) => {
  expect(typeText(schema)).toBe("unknown");
});

describe("the compiler", () => {
  test("accepts the valid values, and the invalid ones it does not", () => {
    const lines = Object.values(cases).flatMap(({ type, valid = [], invalid = [] }, index) => [
      `type T${index} = ${type};`,
      ...valid.map((value) => `{ const v: T${index} = ${JSON.stringify(value)}; }`),
      ...invalid.flatMap((value) => ["// @ts-expect-error", `{ const v: T${index} = ${JSON.stringify(value)}; }`]),
    ]);
    expect(typeErrors(lines.join("\n"))).toEqual([]);
  });
});
