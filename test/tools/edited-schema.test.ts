/** Schemas of arguments without those that agents do not see. Valid arguments stay valid, and nothing names the others. */
import { describe, expect, test } from "bun:test";
import type { JsonObject } from "../../src/base/json-object.ts";
import { checkArguments } from "../../src/tools/arguments/check-arguments.ts";
import { editedSchema } from "../../src/tools/arguments/edited-schema.ts";

const text = { type: "string" };
const base = { type: "object", properties: { project: text, title: text, size: { enum: ["s", "l"] } } };
const edit = (schema: JsonObject, defaults: JsonObject = {}, unseen = ["project"]) =>
  editedSchema(schema, { unseen, defaults });

describe("editedSchema", () => {
  const cases: [string, JsonObject, JsonObject][] = [
    ["removes the property and its requirement", { ...base, required: ["project", "title"] }, { required: ["title"] }],
    ["removes a list of requirements that is empty", { ...base, required: ["project"] }, {}],
    [
      "keeps what else the schema says",
      { ...base, additionalProperties: false, $comment: "c" },
      { additionalProperties: false, $comment: "c" },
    ],
    ["removes limits of the number of arguments", { ...base, minProperties: 3, maxProperties: 3 }, {}],
    [
      "removes it from the requirements of forms",
      { ...base, anyOf: [{ required: ["project"] }, { required: ["title"] }] },
      { anyOf: [{}, { required: ["title"] }] },
    ],
    [
      "lets several forms match that only differed by it",
      { ...base, oneOf: [{ properties: { project: { const: "a" } } }, { properties: { project: { const: "b" } } }] },
      { anyOf: [{ properties: {} }, { properties: {} }] },
    ],
    [
      "keeps forms that do not mention it",
      { ...base, oneOf: [{ required: ["title"] }, { required: ["size"] }] },
      { oneOf: [{ required: ["title"] }, { required: ["size"] }] },
    ],
    [
      "removes conditions about it",
      {
        ...base,
        ...JSON.parse('{"if":{"required":["project"]},"then":{"required":["size"]},"else":{"required":["title"]}}'),
      },
      {},
    ],
    ["removes exclusions of it", { ...base, not: { required: ["project", "size"] } }, {}],
    [
      "removes dependencies on it",
      { ...base, dependentRequired: { title: ["project"] }, dependentSchemas: { project: { required: ["title"] } } },
      {},
    ],
    [
      "keeps other dependencies",
      { ...base, dependentRequired: { title: ["size"] } },
      { dependentRequired: { title: ["size"] } },
    ],
    [
      "removes it from examples",
      { ...base, examples: [{ project: "a", title: "b" }], default: { project: "a" } },
      { examples: [{ title: "b" }], default: {} },
    ],
  ];
  test.each(cases)("%s", (_, schema, more) => {
    const before = structuredClone(schema);
    const edited = edit(schema);
    const { project, ...properties } = base.properties;
    expect(edited).toEqual({ type: "object", properties, ...more });
    expect(JSON.stringify(edited)).not.toContain("project");
    expect(schema).toEqual(before);
  });

  test("makes an argument with a default optional, and shows the default", () => {
    const schema = { ...base, required: ["project", "title", "size"], anyOf: [{ required: ["size"] }] };
    expect(edit(schema, { size: "l" })).toEqual({
      type: "object",
      properties: { title: text, size: { enum: ["s", "l"], default: "l" } },
      required: ["title"],
      anyOf: [{}],
    });
  });

  test("keeps the whole schema of an argument that others refer to", async () => {
    const list = { type: "array", items: { $ref: "#/properties/a~1b" } };
    const schema: JsonObject = {
      type: "object",
      properties: {
        "a/b": list,
        project: { type: "object", properties: { x: { $ref: "#/properties/a~1b" } } },
        title: { $ref: "#/properties/project/properties/x" },
        other: { $ref: "#/properties/title" },
      },
      $defs: { shared1: text },
    };
    const edited = edit(schema, {}, ["project", "a/b"]);
    expect(Object.keys(edited["properties"] as object)).toEqual(["title", "other"]);
    expect(JSON.stringify(edited)).not.toContain("#/properties/a");
    expect(await checkArguments(edited, { title: [], other: [] })).toEqual([]);
    expect(await checkArguments(edited, { title: 1 })).not.toEqual([]);
  });

  test("removes definitions that nothing refers to any more", () => {
    const $defs = {
      Key: { $ref: "#/$defs/Text" },
      Text: text,
      Size: { $ref: "#/$defs/Units" },
      Units: { anyOf: [{ $ref: "#/$defs/Size" }, text] },
      Named: { $anchor: "named" },
    };
    const schema = {
      type: "object",
      properties: { project: { $ref: "#/$defs/Key" }, size: { $ref: "#/$defs/Size" } },
      $defs,
    };
    const { Key, Text, ...used } = $defs;
    expect(edit(schema)).toEqual({ type: "object", properties: { size: { $ref: "#/$defs/Size" } }, $defs: used });
    expect(edit({ type: "object", properties: { project: text }, definitions: { Text } })).toEqual({
      type: "object",
      properties: {},
    });
    expect(edit(schema, {}, [])).toEqual(schema);
  });

  test("leaves a schema without properties as it is", () => {
    expect(edit({ type: "object" })).toEqual({ type: "object" });
    expect(edit({ type: "object", properties: null })).toEqual({ type: "object", properties: null });
  });
});
