/** Which schemas answers can be held to: endpoints refuse a request with any other that says it is strict. */
import { expect, test } from "bun:test";
import { isStrict } from "../../src/navigator/json-request.ts";

const text = { type: "string" };
const object = (properties: object, more: object = {}) => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
  ...more,
});

test.each<[string, object]>([
  ["an object that names and requires all", object({ a: text, b: { type: ["number", "null"] } })],
  ["objects in it", object({ a: object({ b: text }), c: { type: "array", items: object({ d: text }) } })],
  ["a choice", object({ a: { enum: ["x"] }, b: { anyOf: [text, object({})] } })],
  ["definitions", object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: object({ b: text }) } })],
])("is strict: %s", (_, schema) => {
  expect(isStrict(schema)).toBe(true);
});

test.each<[string, unknown]>([
  ["others are allowed", object({ a: text }, { additionalProperties: true })],
  ["it is not said that none are", { type: "object", properties: { a: text }, required: ["a"] }],
  ["one may be left out", object({ a: text, b: text }, { required: ["a"] })],
  ["one within may be", object({ a: object({ b: text }, { required: [] }) })],
  ["items are anything", object({ a: { type: "array" } })],
  ["a property is anything", object({ a: {} })],
  ["a property is true", object({ a: true })],
  ["allOf", object({ a: { allOf: [text] } })],
  ["oneOf, deep", object({ a: { type: "array", items: { oneOf: [text] } } })],
  ["a definition that is not", object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: { type: "object" } } })],
  ["nothing", {}],
])("is not strict: %s", (_, schema) => {
  expect(isStrict(schema)).toBe(false);
});
