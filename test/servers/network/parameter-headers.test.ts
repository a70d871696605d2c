/** Marks of parameters that are sent as HTTP headers too (`x-mcp-header`): which ones are valid. */
import { describe, expect, test } from "bun:test";
import { marksOf } from "../../../src/servers/network/parameter-headers.ts";

const marked = (name: unknown, type: unknown = "string") => ({ type, "x-mcp-header": name });
const schema = (properties: object, more: object = {}) => ({ type: "object", properties, ...more });

describe("marks are valid", () => {
  test.each([
    ["no schema", undefined, []],
    ["a schema without marks", schema({ a: { type: "string" } }), []],
    [
      "each allowed type",
      schema({ a: marked("A"), b: marked("B", "integer"), c: marked("C", "boolean") }),
      ["a", "b", "c"],
    ],
    ["nested properties", schema({ a: schema({ b: schema({ c: marked("Deep-1") }) }) }), ["deep-1"]],
    ["a property whose name is that of the mark", schema({ "x-mcp-header": { type: "string" } }), []],
    ["values that look like a mark", schema({ a: { default: marked("A"), enum: [marked("B")] } }), []],
    ["every character of a header's name", schema({ a: marked("!#$%&'*+-.^_`|~09azAZ") }), ["!#$%&'*+-.^_`|~09azaz"]],
  ])("on %s", (_, inputSchema, names) => {
    expect(marksOf(inputSchema)).toEqual(new Set(names));
  });
});

describe("marks are invalid", () => {
  test.each([
    ["without a name", schema({ a: marked("") }), "a does not name a valid header"],
    ["with a number as the name", schema({ a: marked(1) }), "a does not name a valid header"],
    ["with a space in the name", schema({ a: marked("My Region") }), "a does not name a valid header"],
    ["with a line break in the name", schema({ a: marked("A\r\nB") }), "a does not name a valid header"],
    ["with a letter outside ASCII", schema({ a: marked("Größe") }), "a does not name a valid header"],
    ["on a number", schema({ a: marked("A", "number") }), "a is not a string, an integer or a boolean"],
    ["on an object", schema({ a: marked("A", "object") }), "a is not a string, an integer or a boolean"],
    ["on several types", schema({ a: marked("A", ["string", "null"]) }), "a is not a string, an integer or a boolean"],
    [
      "with the same name in another case",
      schema({ a: marked("A"), b: { properties: { c: marked("a") } } }),
      "b.c names a header",
    ],
    ["on the schema itself", { ...schema({}), "x-mcp-header": "A" }, "the schema itself is not a property"],
    ["on items", schema({ a: { type: "array", items: marked("A") } }), "a.… is not a property"],
    ["in a composition", schema({}, { oneOf: [schema({ a: marked("A") })] }), "….a is not a property"],
    ["in a condition", schema({}, { if: schema({ a: marked("A") }) }), "….a is not a property"],
    ["in a definition", schema({}, { $defs: { a: marked("A") } }), "… is not a property"],
    ["on other properties", schema({}, { additionalProperties: marked("A") }), "… is not a property"],
  ])("%s", (_, inputSchema, problem) => {
    expect(marksOf(inputSchema)).toEqual({ problem: expect.stringContaining(problem) });
  });
});

test("a schema that is too large is not read", () => {
  let deep: object = marked("");
  for (let depth = 0; depth < 50_000; depth++) deep = { properties: { a: deep } };
  expect(marksOf(deep)).toEqual(new Set());
});
