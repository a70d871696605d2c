/** Brief signatures have everything that a call needs, and the names of the result's fields. */
import { expect, test } from "bun:test";
import { briefSignature, outlineOf } from "../../src/tools/brief-signature.ts";
import type { RegistryTool } from "../../src/tools/model.ts";

const text = { type: "string" };

/** The brief signature of a tool with these arguments. */
function brief(properties: object, required: string[] = [], more: Partial<RegistryTool> = {}): string {
  const inputSchema = { type: "object", properties, required };
  const { args, result } = briefSignature({ name: "get", jsName: "get", description: "", inputSchema, ...more });
  return result === undefined ? args : `${args}: ${result}`;
}

const returns = (properties: object) => ({
  outputSchema: { type: "object", properties, required: Object.keys(properties) },
});

test.each<[string, string, string]>([
  ["no arguments", brief({}), "()"],
  ["strings without their type", brief({ id: text, note: text }, ["id"]), "({ id, note? })"],
  [
    "other types",
    brief({ n: { type: "integer", minimum: 1, maximum: 9 }, all: { type: "boolean" } }, ["n"]),
    "({ n: number, all?: boolean })",
  ],
  [
    "lists and objects",
    brief({ edits: { type: "array", items: { type: "object", properties: { old: text }, required: ["old"] } } }, [
      "edits",
    ]),
    "({ edits: { old }[] })",
  ],
  [
    "a few values of a required argument",
    brief({ by: { enum: ["day", "month"] } }, ["by"]),
    '({ by: "day" | "month" })',
  ],
  ["six values", brief({ by: { enum: [..."abcdef"] } }, ["by"]), '({ by: "a" | "b" | "c" | "d" | "e" | "f" })'],
  ["the first of many values", brief({ by: { enum: [..."abcdefg"] } }, ["by"]), '({ by: "a" | … })'],
  ["no values of an optional argument", brief({ by: { enum: ["day", "month"] } }), "({ by? })"],
  [
    "a value that looks like a type, as it is",
    brief({ by: { enum: ["a: string; b", "c"] } }, ["by"]),
    '({ by: "a: string; b" | "c" })',
  ],
  [
    "no formats, bounds and defaults",
    brief({ id: { type: "string", format: "uuid" }, n: { type: "integer", maximum: 9 } }, ["id"]),
    "({ id, n?: number })",
  ],
  [
    "a value that looks like a comment, as it is",
    brief({ by: { enum: ["/* a */", "b"] } }, ["by"]),
    '({ by: "/* a */" | "b" })',
  ],
  ["names that are not identifiers", brief({ "a-b": text }, ["a-b"]), '({ "a-b" })'],
  [
    "fields of the result by name",
    brief({}, [], returns({ id: text, total: { type: "number" }, kind: { enum: ["a", "b"] } })),
    "(): { id, total, kind }",
  ],
  [
    "nested fields",
    brief(
      {},
      [],
      returns({ rows: { type: "array", items: { type: "object", properties: { key: text }, required: ["key"] } } }),
    ),
    "(): { rows: { key }[] }",
  ],
  ["a result that is a text", brief({}, [], { outputSchema: text }), "(): string"],
  ["an observed result", brief({}, [], { observed: { type: "object", properties: { id: text } } }), "(): { id? }"],
  [
    "the format of a known text",
    brief({}, [], { known: { type: "string", text: "one path per line" } }),
    "(): string /* one path per line */",
  ],
  [
    "an effect before a sentence",
    brief({}, [], { known: { type: "string", text: "the folder must exist; a sentence with the path" } }),
    "(): string /* the folder must exist */",
  ],
  ["no sentence", brief({}, [], { known: { type: "string", text: "a sentence with the path" } }), "(): string"],
])("a brief signature shows %s", (_, found, expected) => {
  expect(found).toBe(expected);
});

test.each([
  ["{ entities: { name: string; tags: string[] }[] }", "{ entities }"],
  ['{ id: string; status?: "open" | "done" }[]', "{ id, status }[]"],
  ["string /* JSON text */", "string"],
  ["string[]", "string[]"],
  ["{ id: string } | { error: { code: number } }", "{ id } | { error }"],
  ["Record<string, { total: number }>", "Record<string, { total }>"],
  ['{ "a: b; {c": string; "d-e"?: number; [key: string]: unknown }', '{ "a: b; {c", "d-e", [key: string] }'],
  [`{ ${[..."abcdefghij"].map((name) => `${name}: string`).join("; ")} }`, "{ a, b, … }"],
  ["{}", "{}"],
  [Array.from({ length: 40 }, (_, at) => `{ kind${at}: string }`).join(" | "), "object"],
])("the outline of %p is %p", (type, outline) => {
  expect(outlineOf(type)).toBe(outline);
});
