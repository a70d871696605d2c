/** JSON Schemas of every kind, with their types on one line, and with values that they accept or refuse. */

export interface Case {
  schema: unknown;
  type: string;
  /** Values that the schema accepts and refuses; the type must agree. */
  valid?: unknown[];
  invalid?: unknown[];
  /** Values that only the declaration refuses, since a one-line type cannot be recursive. */
  invalidDeep?: unknown[];
}

const text = { type: "string" };
const id = { type: "object", properties: { id: text }, required: ["id"] };

export const cases: Record<string, Case> = {
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
  "const object": {
    schema: { const: { a: 1 } },
    type: "{ a: 1 }",
    valid: [{ a: 1 }],
    invalid: [{ a: 2 }, {}],
  },
  enum: {
    schema: { enum: ["a", 1, -0.5, true, null, "a"] },
    type: '"a" | 1 | -0.5 | true | null',
    valid: ["a", null],
    invalid: ["b"],
  },
  "enum of objects": { schema: { enum: [{ a: 1 }] }, type: "{ a: 1 }", valid: [{ a: 1 }], invalid: [{ a: 2 }] },
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
  "object of nothing": {
    schema: { type: "object", properties: {}, additionalProperties: false },
    type: "Record<string, never>",
    valid: [{}],
    invalid: [{ a: 1 }],
  },
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
    schema: { ...id, required: ["id", "ghost"] },
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
    invalidDeep: [{ value: "a", children: [{ value: 1 }] }],
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
    type: "{ a?: string; b?: string } & ({ a: string } | { b: string })",
    valid: [{ a: "x" }, { b: "x" }, { a: "x", b: "y" }],
    invalid: [{ a: 1 }, {}],
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
  "properties beside allOf": {
    schema: { properties: { id: text }, required: ["id"], allOf: [{ properties: { n: { type: "number" } } }] },
    type: "{ id: string; n?: number }",
    valid: [{ id: "a", n: 1 }],
    invalid: [{ n: 1 }],
  },
  "a part of allOf that is also a schema of its own": {
    schema: { properties: { a: text, b: { $ref: "#/allOf/0" } }, allOf: [{ required: ["a"] }] },
    type: "{ a: string; b?: { a: unknown } }",
    valid: [{ a: "x", b: { a: 1 } }],
    invalid: [{ a: 1 }],
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
  "required that is no name": { schema: { ...id, required: ["id", 5] }, type: "{ id: string }" },
  "invalid parts": {
    schema: { type: "object", properties: { a: "text", b: null, c: 5, d: ["x"] }, required: "a" },
    type: "{ a?: unknown; b?: unknown; c?: unknown; d?: unknown }",
  },
  "invalid lists": { schema: { anyOf: "x", allOf: {}, enum: "a", type: 5 }, type: "unknown" },

  // Types that follow from more than one keyword.
  "type beside enum": {
    schema: { type: "string", enum: ["a", "b", null] },
    type: '"a" | "b"',
    valid: ["a"],
    invalid: ["c", 1],
  },
  "const beside type": { schema: { type: "integer", const: 3 }, type: "3", valid: [3], invalid: [4] },
  "const true": { schema: { const: true }, type: "true", valid: [true], invalid: [false] },
  "const list": { schema: { const: ["a", 1] }, type: '["a", 1]', valid: [["a", 1]], invalid: [["a"], ["a", 2]] },
  "enum that may be null": {
    schema: { type: ["string", "null"], enum: ["a", null] },
    type: '"a" | null',
    valid: ["a", null],
    invalid: ["b"],
  },
  "nullable text": {
    schema: { type: "string", nullable: true },
    type: "string | null",
    valid: ["a", null],
    invalid: [1],
  },
  "nullable enum": {
    schema: { type: "string", enum: ["a", null], nullable: true },
    type: '"a" | null',
    valid: ["a", null],
    invalid: ["b"],
  },
  "integer or text": {
    schema: { type: ["integer", "string"] },
    type: "number | string",
    valid: [1, "a"],
    invalid: [true, null],
  },
  "list or one": {
    schema: { anyOf: [text, { type: "array", items: text }] },
    type: "string | string[]",
    valid: ["a", ["a"]],
    invalid: [1, [1]],
  },
  "type array with properties": {
    schema: { type: ["object", "string"], properties: { a: text }, required: ["a"] },
    type: "{ a: string } | string",
    valid: ["x", { a: "x" }],
    invalid: [{}, 1],
  },

  // Lists
  "list of lists": {
    schema: { type: "array", items: { type: "array", items: { type: "number" } } },
    type: "number[][]",
    valid: [[[1], []]],
    invalid: [[1], [["a"]]],
  },
  "list of objects": {
    schema: { type: "array", items: id },
    type: "{ id: string }[]",
    valid: [[], [{ id: "a" }]],
    invalid: [[{}], [{ id: 1 }]],
  },
  "list of enums": {
    schema: { type: "array", items: { enum: ["a", "b"] } },
    type: '("a" | "b")[]',
    valid: [["a"]],
    invalid: [["c"]],
  },
  "list of one kind or another": {
    schema: { type: "array", items: { anyOf: [id, text] } },
    type: "({ id: string } | string)[]",
    valid: [["a", { id: "b" }]],
    invalid: [[1]],
  },
  "tuple with a rest": {
    schema: { type: "array", prefixItems: [text], items: { type: "number" } },
    type: "[string, ...number[]]",
    valid: [["a"], ["a", 1, 2]],
    invalid: [["a", "b"], [1]],
  },
  "tuple and no more": {
    schema: { type: "array", prefixItems: [text, text], items: false, minItems: 2 },
    type: "[string, string]",
    valid: [["a", "b"]],
    invalid: [["a", "b", "c"], ["a"]],
  },
  "tuple of which the end may be missing": {
    schema: { type: "array", prefixItems: [text, { type: "number" }, { type: "boolean" }], minItems: 1, items: false },
    type: "[string, number?, boolean?]",
    valid: [["a"], ["a", 1], ["a", 1, true]],
    invalid: [["a", true], [1]],
  },
  "tuple of draft 7 with a rest": {
    schema: { type: "array", items: [text], additionalItems: { type: "boolean" } },
    type: "[string, ...boolean[]]",
    valid: [["a", true]],
    invalid: [["a", 1]],
  },
  "tuple of anything": {
    schema: { type: "array", prefixItems: [{}, {}], minItems: 2, items: false },
    type: "[unknown, unknown]",
    valid: [[1, "a"]],
    invalid: [[1]],
  },

  // Objects and their additional keys
  "further keys of a type": {
    schema: { type: "object", properties: { a: text }, required: ["a"], additionalProperties: { type: "number" } },
    type: "{ a: string; [key: string]: number | string }",
    valid: [{ a: "x" }, { a: "x", b: 1 }],
    invalid: [{ b: 1 }, { a: "x", b: true }],
  },
  "further keys of any type": {
    schema: { type: "object", properties: { a: text }, required: ["a"], additionalProperties: true },
    type: "{ a: string }",
    valid: [{ a: "x" }],
    invalid: [{ a: 1 }, {}],
  },
  "any keys without a type": {
    schema: { properties: {}, additionalProperties: {} },
    type: "unknown",
    valid: [{ a: 1 }, "x"],
  },
  "no further keys": {
    schema: { type: "object", properties: { a: text }, additionalProperties: false },
    type: "{ a?: string }",
    valid: [{ a: "x" }, {}],
    invalid: [{ b: "x" }],
  },
  "keys of a pattern": {
    schema: { type: "object", patternProperties: { "^x-": text }, additionalProperties: false },
    type: "Record<`x-${string}`, string>",
    valid: [{ "x-a": "b" }, {}],
    invalid: [{ "x-a": 1 }, { y: "b" }],
  },
  "keys of a pattern beside others": {
    schema: {
      type: "object",
      properties: { id: { type: "number" } },
      required: ["id"],
      patternProperties: { "^x-": text },
      additionalProperties: false,
    },
    type: "{ id: number; [key: `x-${string}`]: string }",
    valid: [{ id: 1, "x-a": "b" }],
    invalid: [{ "x-a": "b" }, { id: 1, "x-a": 2 }],
  },
  "keys of any pattern": {
    schema: { type: "object", patternProperties: { "^[a-z]+$": { type: "integer" } }, additionalProperties: false },
    type: "Record<string, number>",
    valid: [{ abc: 1 }],
    invalid: [{ abc: "x" }],
  },
  "keys by name": {
    schema: { type: "object", propertyNames: { enum: ["a", "b"] }, additionalProperties: text },
    type: "{ a?: string; b?: string }",
    valid: [{ a: "x" }, {}],
    invalid: [{ c: "x" }, { a: 1 }],
  },
  "a map of objects": {
    schema: { type: "object", additionalProperties: id },
    type: "Record<string, { id: string }>",
    valid: [{ x: { id: "a" } }],
    invalid: [{ x: {} }],
  },
  "a map of lists": {
    schema: { type: "object", additionalProperties: { type: "array", items: text } },
    type: "Record<string, string[]>",
    valid: [{ x: ["a"] }],
    invalid: [{ x: "a" }],
  },
  "objects in objects": {
    schema: {
      type: "object",
      properties: { a: { type: "object", properties: { b: id }, required: ["b"] } },
      required: ["a"],
    },
    type: "{ a: { b: { id: string } } }",
    valid: [{ a: { b: { id: "x" } } }],
    invalid: [{ a: {} }, { a: { b: {} } }],
  },
  "a property that may not be": {
    schema: { type: "object", properties: { a: text, b: false } },
    type: "{ a?: string; b?: never }",
    valid: [{ a: "x" }],
    invalid: [{ b: 1 }],
  },
  "a property of anything": {
    schema: { type: "object", properties: { a: true }, required: ["a"] },
    type: "{ a: unknown }",
    valid: [{ a: 1 }, { a: null }],
    invalid: [{}],
  },

  // Definitions
  "definitions of draft 7": {
    schema: { type: "object", properties: { a: { $ref: "#/definitions/id" } }, required: ["a"], definitions: { id } },
    type: "{ a: { id: string } }",
    valid: [{ a: { id: "x" } }],
    invalid: [{ a: {} }],
  },
  "a definition of texts": {
    schema: {
      type: "object",
      properties: { color: { $ref: "#/$defs/color" }, back: { $ref: "#/$defs/color" } },
      $defs: { color: { enum: ["red", "blue"] } },
    },
    type: '{ color?: "red" | "blue"; back?: "red" | "blue" }',
    valid: [{ color: "red", back: "blue" }],
    invalid: [{ color: "green" }],
  },
  "a definition by its anchor": {
    schema: { type: "object", properties: { a: { $ref: "#id" } }, $defs: { x: { $anchor: "id", ...id } } },
    type: "{ a?: { id: string } }",
    valid: [{ a: { id: "x" } }],
    invalid: [{ a: { id: 1 } }],
  },
  "a tree": {
    schema: {
      $ref: "#/$defs/node",
      $defs: {
        node: {
          type: "object",
          properties: { name: text, children: { type: "array", items: { $ref: "#/$defs/node" } } },
          required: ["name"],
        },
      },
    },
    type: "{ name: string; children?: unknown[] }",
    valid: [{ name: "a", children: [{ name: "b" }] }],
    invalid: [{ children: [] }, { name: 1 }],
    invalidDeep: [{ name: "a", children: [{}] }],
  },
  "any JSON": {
    schema: {
      $ref: "#/$defs/json",
      $defs: {
        json: {
          anyOf: [
            { type: ["string", "number", "boolean", "null"] },
            { type: "array", items: { $ref: "#/$defs/json" } },
            { type: "object", additionalProperties: { $ref: "#/$defs/json" } },
          ],
        },
      },
    },
    type: "string | number | boolean | null | unknown[] | Record<string, unknown>",
    valid: [1, "a", [1, ["a"]], { a: { b: [null] } }],
  },
  "two that need each other": {
    schema: {
      $ref: "#/$defs/a",
      $defs: {
        a: { type: "object", properties: { b: { $ref: "#/$defs/b" } } },
        b: { type: "object", properties: { a: { $ref: "#/$defs/a" }, n: { type: "number" } }, required: ["n"] },
      },
    },
    type: "{ b?: { a?: unknown; n: number } }",
    valid: [{ b: { n: 1, a: { b: { n: 2 } } } }],
    invalid: [{ b: {} }],
    invalidDeep: [{ b: { n: 1, a: { b: {} } } }],
  },
  "a list that is within itself": {
    schema: {
      $ref: "#/$defs/list",
      $defs: { list: { type: "array", items: { anyOf: [text, { $ref: "#/$defs/list" }] } } },
    },
    type: "unknown[]",
    valid: [["a", ["b", ["c"]]]],
    invalid: ["a"],
    invalidDeep: [[1], [["a", [1]]]],
  },
  "reference beside a description": {
    schema: { type: "object", properties: { a: { $ref: "#/$defs/id", description: "which" } }, $defs: { id } },
    type: "{ a?: { id: string } }",
    valid: [{ a: { id: "x" } }],
    invalid: [{ a: 1 }],
  },
  "reference beside properties": {
    schema: {
      $ref: "#/$defs/id",
      type: "object",
      properties: { n: { type: "number" } },
      required: ["n"],
      $defs: { id },
    },
    type: "{ n: number } & { id: string }",
    valid: [{ id: "a", n: 1 }],
    invalid: [{ id: "a" }, { n: 1 }],
  },

  // Choices
  "a choice by a constant": {
    schema: {
      oneOf: [
        { type: "object", properties: { kind: { const: "a" }, x: { type: "number" } }, required: ["kind", "x"] },
        { type: "object", properties: { kind: { const: "b" }, y: text }, required: ["kind", "y"] },
      ],
    },
    type: '{ kind: "a"; x: number } | { kind: "b"; y: string }',
    valid: [
      { kind: "a", x: 1 },
      { kind: "b", y: "z" },
    ],
    invalid: [{ kind: "a" }, { kind: "a", x: "z" }, { kind: "c" }],
  },
  "a choice of definitions": {
    schema: { anyOf: [{ $ref: "#/$defs/id" }, { $ref: "#/$defs/n" }], $defs: { id, n: { type: "number" } } },
    type: "{ id: string } | number",
    valid: [1, { id: "a" }],
    invalid: ["a", {}],
  },
  "all of definitions": {
    schema: {
      allOf: [{ $ref: "#/$defs/id" }, { $ref: "#/$defs/n" }],
      $defs: { id, n: { type: "object", properties: { n: { type: "number" } }, required: ["n"] } },
    },
    type: "{ id: string } & { n: number }",
    valid: [{ id: "a", n: 1 }],
    invalid: [{ id: "a" }, { n: 1 }],
  },
  // As text: an object with a member "then" would be treated as a promise.
  "then or else": {
    schema: {
      type: "object",
      properties: { kind: text },
      required: ["kind"],
      ...JSON.parse(`{
        "if": { "properties": { "kind": { "const": "a" } } },
        "then": { "properties": { "a": { "type": "string" } }, "required": ["a"] },
        "else": { "properties": { "b": { "type": "string" } }, "required": ["b"] }
      }`),
    },
    type: "{ kind: string } & ({ a: string } | { b: string })",
    valid: [
      { kind: "a", a: "x" },
      { kind: "z", b: "x" },
    ],
    invalid: [{ kind: "a" }],
  },
  "then alone": {
    schema: {
      type: "object",
      properties: { a: text },
      ...JSON.parse('{ "if": { "required": ["a"] }, "then": { "required": ["b"] } }'),
    },
    type: "{ a?: string }",
    valid: [{}],
    invalid: [{ a: 1 }],
  },

  // Negations
  "not null": {
    schema: { type: ["string", "null"], not: { type: "null" } },
    type: "string",
    valid: ["a"],
    invalid: [null],
  },
  "not a text": {
    schema: { not: { type: "string" } },
    type: "number | boolean | null | Record<string, unknown> | unknown[]",
    valid: [1, null, { a: 1 }],
    invalid: ["a"],
  },
  "not one of its values": {
    schema: { enum: ["a", "b", "c"], not: { const: "b" } },
    type: '"a" | "c"',
    valid: ["a"],
    invalid: ["b"],
  },
  "not a property": {
    schema: { type: "object", properties: { a: text }, not: { required: ["b"] } },
    type: "{ a?: string; b?: never }",
    valid: [{ a: "x" }],
    invalid: [{ b: 1 }],
  },
  "not anything": { schema: { not: {} }, type: "never", invalid: [1, "a"] },
};
