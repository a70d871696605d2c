/** Forms of servers in other shapes than the protocol lists: agents get them as they are, or as plain forms. */
import { describe, expect, test } from "bun:test";
import { ElicitRequestFormParamsSchema } from "@modelcontextprotocol/core";
import { plainForm } from "../../../src/servers/connection/elicitation-form.ts";

describe("a plain form", () => {
  const $defs = {
    Level: { type: "string", enum: ["low", "high"], title: "Level" },
    Again: { $ref: "#/$defs/Level" },
    Item: { oneOf: [{ const: "x" }, { const: "y", title: "Y" }] },
  };
  test.each<[string, object, object]>([
    ["a reference", { $ref: "#/$defs/Level" }, $defs.Level],
    [
      "a reference with words of its own",
      { $ref: "#/$defs/Again", title: "How", default: "low" },
      { ...$defs.Level, title: "How", default: "low" },
    ],
    [
      "a reference in allOf",
      { allOf: [{ $ref: "#/$defs/Level" }], description: "?" },
      { ...$defs.Level, description: "?" },
    ],
    [
      "an optional type",
      { anyOf: [{ type: "integer", minimum: 1 }, { type: "null" }] },
      { type: "integer", minimum: 1 },
    ],
    ["an optional reference", { anyOf: [{ $ref: "#/$defs/Level" }, { type: "null" }], default: null }, $defs.Level],
    ["a type or null", { type: ["string", "null"], format: "email" }, { type: "string", format: "email" }],
    ["an unknown format", { type: "string", format: "uuid", pattern: "x" }, { type: "string" }],
    ["choices without a type", { enum: ["a", "b"] }, { type: "string", enum: ["a", "b"] }],
    [
      "titled choices without a type",
      { oneOf: [{ const: "a", title: "A" }, { const: "b" }] },
      {
        type: "string",
        oneOf: [
          { const: "a", title: "A" },
          { const: "b", title: "b" },
        ],
      },
    ],
    ["a constant", { const: "a" }, { type: "string", enum: ["a"] }],
    [
      "one default for several choices",
      { type: "array", items: { type: "string", enum: ["a", "b"] }, default: "a" },
      { type: "array", items: { type: "string", enum: ["a", "b"] }, default: ["a"] },
    ],
    [
      "a list of a reference",
      { type: "array", items: { $ref: "#/$defs/Item" }, minItems: 1 },
      {
        type: "array",
        items: {
          anyOf: [
            { const: "x", title: "x" },
            { const: "y", title: "Y" },
          ],
        },
        minItems: 1,
      },
    ],
    ["a title that is not a text", { type: "boolean", title: null }, { type: "boolean" }],
  ])("has a field that the protocol lists for %s", (_, field, plain) => {
    const form = plainForm({ properties: { value: field }, required: ["value"], $defs });
    expect(form).toEqual({ type: "object", properties: { value: plain }, required: ["value"] });
    expect(ElicitRequestFormParamsSchema.safeParse({ message: "?", requestedSchema: form }).success).toBeTrue();
  });

  test.each<[string, unknown]>([
    ["an object", { type: "object", properties: { a: { type: "string" } } }],
    ["several types", { type: ["string", "integer"] }],
    ["several kinds", { anyOf: [{ type: "string" }, { type: "integer" }] }],
    ["an unknown type", { type: "any" }],
    ["numbers to choose from", { title: "T", enum: [1, 2] }],
    ["a reference to another document", { $ref: "https://example.com/a.json" }],
    ["no schema", true],
  ])("leaves %s as it is", (_, field) => {
    expect(plainForm({ type: "object", properties: { value: field } })["properties"]).toEqual({ value: field });
  });

  test("keeps the definitions that a field needs", () => {
    const form = {
      type: "object",
      properties: { a: { type: "object", properties: { b: { $ref: "#/$defs/Level" } } } },
      $defs,
    };
    expect(plainForm(form)).toEqual(form);
  });

  test("ends for references that go round", () => {
    const a = { $ref: "#/$defs/b", title: "T" };
    expect(plainForm({ properties: { a }, $defs: { b: { anyOf: [{ $ref: "#/$defs/b" }] } } })).toBeDefined();
  });
});
