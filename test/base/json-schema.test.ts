/** References and combined schemas, also invalid and hostile ones. */
import { describe, expect, test } from "bun:test";
import { defaultOf, requiredArguments, resolveReference, sameValue, typesIn } from "../../src/base/json-schema.ts";

describe("a reference", () => {
  const root = {
    $defs: { "a/b~c": 1, "ä ö": 2, node: { $anchor: "node" }, old: { $id: "#old" } },
    definitions: { list: [{ type: "string" }] },
    type: "object",
  };
  test.each([
    ["#", root],
    ["#/type", "object"],
    ["#/$defs/a~1b~0c", 1],
    ["#/$defs/%C3%A4%20%C3%B6", 2],
    ["#/definitions/list/0/type", "string"],
    ["#node", root.$defs.node],
    ["#old", root.$defs.old],
    ["#/$defs/none", undefined],
    ["#/$defs/%", undefined],
    ["#/type/length", undefined],
    ["#/constructor", undefined],
    ["#other", undefined],
    ["https://example.com/schema", undefined],
  ])("to %j is resolved in its own document", (reference, target) => {
    expect(resolveReference(reference, root)).toEqual(target);
  });
});

describe("the schemas of one value", () => {
  test("are the schema, its reference and its parts, each once and also across circles", () => {
    const root = { $defs: { a: { allOf: [{ $ref: "#/$defs/a" }, { minimum: 1 }] } } };
    const schema = { $ref: "#/$defs/a", allOf: [true, "odd", { $ref: "elsewhere" }] };
    expect(sameValue(schema, root)).toEqual([
      schema,
      root.$defs.a,
      { $ref: "elsewhere" },
      { $ref: "#/$defs/a" },
      { minimum: 1 },
    ]);
  });

  test("are at most sixteen", () => {
    const parts = (count: number) => ({ allOf: Array.from({ length: count }, (_, at) => ({ title: `${at}` })) });
    expect([15, 16, 17, 1_000].map((count) => sameValue(parts(count), {}).length)).toEqual([16, 16, 16, 16]);
  });

  test("give the default of a property, and an argument with a default is not required", () => {
    const root = { $defs: { size: { default: 20 }, none: { default: undefined } } };
    const properties = { size: { $ref: "#/$defs/size" }, name: { type: "string" }, odd: true };
    const schema = { properties, required: ["size", "name", "odd", "other"] };
    expect(defaultOf("size", [{}, schema], root)).toBe(20);
    expect(["name", "odd", "constructor"].map((name) => defaultOf(name, [schema], root))).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    expect([...requiredArguments(schema, root)]).toEqual(["name", "odd", "other"]);
    expect([...requiredArguments({ required: ["size"] }, root, [schema])]).toEqual([]);
  });
});

test("a type that JSON Schema does not have allows every value, alone and in a list", () => {
  const types = ["string", ["string", "null"], "any", "int", ["string", "int"], "String", "", null, 5, [], undefined];
  expect(types.map((type) => typesIn({ type }))).toEqual([
    ["string"],
    ["string", "null"],
    ...Array.from({ length: 9 }, () => undefined),
  ]);
});
