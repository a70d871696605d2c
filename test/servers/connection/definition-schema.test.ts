/** Tests which tools and which requests for sampling the schemas accept. */
import { expect, test } from "bun:test";
import { samplingSchema, toolSchema } from "../../../src/servers/connection/definition-schema.ts";

const isTool = (tool: object) => toolSchema.safeParse({ name: "a", inputSchema: { type: "object" }, ...tool }).success;

test("schemas of arguments and results are those of objects, as hosts of these revisions require", () => {
  expect(isTool({})).toBe(true);
  expect(
    isTool({ inputSchema: { type: "object", properties: { a: { type: "string" } }, required: ["a"], $defs: 1 } }),
  ).toBe(true);
  expect(isTool({ outputSchema: { type: "object" } })).toBe(true);
  expect(isTool({ inputSchema: { type: "object", properties: { a: true } } })).toBe(false);
  expect(isTool({ outputSchema: { type: "array" } })).toBe(false);
  expect(isTool({ outputSchema: {} })).toBe(false);
});

test("values of any depth and size in a request for sampling are not walked", () => {
  const metadata = { a: { b: [1] } };
  const properties = { a: { type: "string" } };
  const tools = [{ name: "a", inputSchema: { type: "object", properties } }];
  const params = { messages: [], maxTokens: 1, metadata, tools };
  const read = samplingSchema.parse({ method: "sampling/createMessage", params }).params;
  // A schema that walks a value copies it.
  expect(read.metadata).toBe(metadata);
  expect(read.tools?.[0]?.inputSchema.properties?.["a"]).toBe(properties.a);
});
