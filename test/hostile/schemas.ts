/** Input schemas that overload whatever validates, prints or walks them, each with arguments that trigger this. */

export interface HostileSchema {
  schema: object;
  /** The arguments as JavaScript source, evaluated by the program that calls the tool. */
  args: string;
}

const text = { type: "string" };
const named = (count: number, of: (index: number) => unknown) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`p${index}`, of(index)]));
const object = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

/** Definitions d0 … d30; each refers to the next one twice. */
function doubled(levels: number, of: (next: object) => object): object {
  const $defs: Record<string, object> = { [`d${levels}`]: text };
  for (let level = 0; level < levels; level++) $defs[`d${level}`] = of({ $ref: `#/$defs/d${level + 1}` });
  return object({ x: { $ref: "#/$defs/d0" } }, { $defs });
}

function nested(levels: number, of: (inner: object) => object): object {
  let schema: object = text;
  for (let level = 0; level < levels; level++) schema = of(schema);
  return object({ x: schema });
}

const evilText = '{ x: "a".repeat(40) + "!" }';
const pattern = (source: string, args = evilText): HostileSchema => ({
  schema: object({ x: { type: "string", pattern: source } }),
  args,
});

export const hostileSchemas: Record<string, () => HostileSchema> = {
  "unique items: 40,000 objects": () => ({
    schema: object({ x: { type: "array", uniqueItems: true } }),
    args: "{ x: Array.from({ length: 40_000 }, (_, i) => ({ id: i, name: `n${i}` })) }",
  }),
  "unique items: lists of lists": () => ({
    schema: object({ x: { type: "array", uniqueItems: true, items: { type: "array", uniqueItems: true } } }),
    args: "{ x: Array.from({ length: 300 }, (_, i) => Array.from({ length: 300 }, (_, j) => [i, j])) }",
  }),
  "an enum against a text of 7 MB": () => ({
    schema: object({ x: { enum: ["alpha", "beta", "gamma"] } }),
    args: '{ x: "alpha".repeat(1_400_000) }',
  }),
  "an enum of long texts": () => ({
    schema: object({ x: { enum: Array.from({ length: 200 }, (_, i) => `${i}${"abc".repeat(400)}`) } }),
    args: '{ x: "abc".repeat(400) }',
  }),
  "an enum of 50,000 texts": () => ({
    schema: object({ x: { enum: Array.from({ length: 50_000 }, (_, i) => `choice${i}`) } }),
    args: '{ x: "choise49999" }',
  }),
  "a misspelt argument of 1 MB": () => ({
    schema: object(
      named(500, () => text),
      { additionalProperties: false },
    ),
    args: '{ ["p".repeat(1_000_000)]: 1 }',
  }),
  "anyOf doubled 30 times": () => ({ schema: doubled(30, (next) => ({ anyOf: [next, next] })), args: "{ x: 5 }" }),
  "oneOf doubled 30 times": () => ({ schema: doubled(30, (next) => ({ oneOf: [next, next] })), args: '{ x: "a" }' }),
  "allOf doubled 30 times": () => ({ schema: doubled(30, (next) => ({ allOf: [next, next] })), args: '{ x: "a" }' }),
  "properties doubled 30 times": () => ({
    schema: doubled(30, (next) => object({ a: next, b: next })),
    args: "{ x: { a: {}, b: {} } }",
  }),
  "anyOf of properties doubled 30 times": () => ({
    schema: doubled(30, (next) => ({ anyOf: [next, object({ a: next })] })),
    args: "{ x: { a: { a: { a: 5 } } } }",
  }),
  "items doubled 30 times": () => ({
    schema: doubled(30, (next) => ({ anyOf: [{ type: "array", items: next }, next] })),
    args: "{ x: [[[[[[1]]]]]] }",
  }),
  "50,000 properties": () => ({ schema: object(named(50_000, () => text)), args: "{ p1: 1 }" }),
  "50,000 required properties": () => ({
    schema: object({}, { required: Array.from({ length: 50_000 }, (_, i) => `p${i}`) }),
    args: "{}",
  }),
  "50,000 branches": () => ({
    schema: object({ x: { anyOf: Array.from({ length: 50_000 }, (_, i) => ({ const: i })) } }),
    args: '{ x: "a" }',
  }),
  "50,000 unused definitions": () => ({
    schema: object({ x: text }, { $defs: named(50_000, () => object({})) }),
    args: "{ x: 1 }",
  }),
  "a pattern of repeated repetitions": () => pattern("^(a+)+$"),
  "a pattern of equal choices": () => pattern("^(a|a)*$"),
  "a pattern that begins anywhere": () => pattern("(.*)*x", '{ x: "a".repeat(100_000) }'),
  "a pattern for addresses": () => pattern("^([a-zA-Z0-9])(([\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}$"),
  "200 patterns": () => ({
    schema: object({ x: { allOf: Array.from({ length: 200 }, () => ({ pattern: "^(a+)+$" })) } }),
    args: evilText,
  }),
  "a pattern for names": () => ({
    schema: { type: "object", patternProperties: { "^(a+)+$": text } },
    args: '{ ["a".repeat(40) + "!"]: 1 }',
  }),
  "1,000 patterns for 1,000 names": () => ({
    schema: {
      type: "object",
      patternProperties: Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`^(x+x+)+${i}$`, text])),
    },
    args: 'Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => ["x".repeat(30) + i, 1]))',
  }),
  "a pattern of names of properties": () => ({
    schema: { type: "object", propertyNames: { pattern: "^(a+)+$" } },
    args: '{ ["a".repeat(40) + "!"]: 1 }',
  }),
  "400 levels of properties": () => ({ schema: nested(400, (inner) => object({ a: inner })), args: "{ x: 1 }" }),
  "3,000 levels of properties": () => ({ schema: nested(3_000, (inner) => object({ a: inner })), args: "{ x: 1 }" }),
  "5,000 levels of not": () => ({ schema: nested(5_000, (inner) => ({ not: inner })), args: "{ x: 1 }" }),
  "16 levels of if, then doubled": () => ({
    // biome-ignore lint/suspicious/noThenProperty: it is a keyword of JSON Schema.
    schema: nested(16, (inner) => ({ if: inner, then: inner, else: { const: 1 } })),
    args: "{ x: 1 }",
  }),
  "a reference to the whole": () => ({
    schema: object({ x: { $ref: "#" } }, { required: ["x"] }),
    args: "(() => { let v = {}; for (let i = 0; i < 400; i++) v = { x: v }; return v; })()",
  }),
  "references that go round": () => ({
    schema: object({ x: { $ref: "#/$defs/a" } }, { $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } }),
    args: "{ x: 1 }",
  }),
  "a chain of 5,000 references": () => ({
    schema: object(
      { x: { $ref: "#/$defs/p0" } },
      { $defs: { ...named(5_000, (index) => ({ $ref: `#/$defs/p${index + 1}` })), p5000: text } },
    ),
    args: "{ x: 1 }",
  }),
  "dynamic references": () => ({
    schema: object(
      { x: { $dynamicRef: "#node" } },
      {
        $defs: {
          node: {
            $dynamicAnchor: "node",
            anyOf: [{ $dynamicRef: "#node" }, { type: "array", items: { $dynamicRef: "#node" } }],
          },
        },
      },
    ),
    args: "{ x: [[[[1]]]] }",
  }),
  "references within references to lists": () => ({
    schema: object(
      { x: { $ref: "#/$defs/n" } },
      {
        $defs: {
          n: {
            anyOf: [
              { type: "array", items: { $ref: "#/$defs/n" } },
              { type: "array", items: { $ref: "#/$defs/n" } },
            ],
          },
        },
      },
    ),
    args: "{ x: (() => { let v = 1; for (let i = 0; i < 40; i++) v = [v]; return v; })() }",
  }),
  "2,000 dependent schemas": () => ({
    schema: { type: "object", dependentSchemas: named(2_000, () => ({ required: ["nowhere"] })) },
    args: "Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`p${i}`, 1]))",
  }),
  "contains, over 200,000 items": () => ({
    schema: object({
      x: { allOf: Array.from({ length: 50 }, (_, i) => ({ contains: { const: i }, minContains: 3 })) },
    }),
    args: '{ x: Array.from({ length: 200_000 }, () => "a") }',
  }),
  "unevaluated properties of 2,000 branches": () => ({
    schema: object({
      x: { anyOf: Array.from({ length: 2_000 }, (_, i) => object({ [`k${i}`]: text })), unevaluatedProperties: false },
    }),
    args: "{ x: Object.fromEntries(Array.from({ length: 2_000 }, (_, i) => [`p${i}`, 1])) }",
  }),
  "a description of 20 MB": () => ({
    schema: object({ x: { type: "string", description: "a ".repeat(10_000_000) } }),
    args: "{ x: 1 }",
  }),
  "a constant of 2 MB": () => ({
    schema: object({ x: { const: Array.from({ length: 100_000 }, (_, i) => ({ i })) } }),
    args: "{ x: Array.from({ length: 100_000 }, (_, i) => ({ i })) }",
  }),
  "a type of 100,000 names": () => ({
    schema: object({ x: { type: Array.from({ length: 100_000 }, () => "string") } }),
    args: "{ x: 1 }",
  }),
  "a length of a text of 7 MB": () => ({
    schema: object({ x: { type: "string", minLength: 8_000_000, pattern: "^(\\p{L}+\\s?)+$" } }),
    args: '{ x: "a".repeat(7_000_000) }',
  }),
  "40,000 wrong items": () => ({
    schema: object({ x: { type: "array", items: { type: "object", required: ["a", "b", "c", "d", "e", "f"] } } }),
    args: "{ x: Array.from({ length: 40_000 }, () => ({})) }",
  }),
};
