/** Definitions that hosts would refuse, together with the whole list. */
import { expect, test } from "bun:test";
import { ListToolsResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { usablePrompt, usableResource, usableTemplate, usableTool } from "../../../src/serve/proxy/definitions.ts";

const inputSchema = { type: "object" };

test("valid definitions are unchanged, including unknown fields", () => {
  const tool = {
    name: "find",
    title: "Find",
    description: "Finds",
    inputSchema: { type: "object", $defs: { a: { type: "string" } }, properties: { a: { $ref: "#/$defs/a" } } },
    outputSchema: { type: "object", properties: {} },
    annotations: { readOnlyHint: true, "x-vendor": 1 },
    icons: [{ src: "data:image/png;base64,AAAA", sizes: ["48x48"] }],
    _meta: { "example.com/x": [1] },
    "x-vendor": true,
  };
  expect(usableTool(tool)).toBe(tool);
});

test.each([
  [{ name: "a" }, { name: "a", inputSchema }],
  [
    { name: "a", inputSchema: {} },
    { name: "a", inputSchema },
  ],
  [
    { name: "a", inputSchema: { type: ["object", "null"] } },
    { name: "a", inputSchema },
  ],
  [
    { name: "a", inputSchema: "none" },
    { name: "a", inputSchema },
  ],
  [
    { name: "a", inputSchema: { anyOf: [{ type: "object" }] } },
    { name: "a", inputSchema: { anyOf: [{ type: "object" }], type: "object" } },
  ],
  [
    {
      name: "a",
      inputSchema: { type: "object", properties: { x: true, y: false, z: { type: "string" } }, required: 1 },
    },
    { name: "a", inputSchema: { type: "object", properties: { x: {}, y: { not: {} }, z: { type: "string" } } } },
  ],
  [
    {
      name: "a",
      inputSchema,
      outputSchema: { type: "array" },
      annotations: { readOnlyHint: "yes" },
      icons: {},
      _meta: 1,
    },
    { name: "a", inputSchema },
  ],
  [
    { name: "a", inputSchema, title: null, description: 3 },
    { name: "a", inputSchema },
  ],
])("a tool %j is repaired or removed", (tool, expected) => {
  const usable = usableTool(tool);
  expect(usable).toEqual(expected);
  expect(ListToolsResultSchema.safeParse({ tools: [usable] }).success).toBe(true);
});

test("invalid parts of prompts, resources and templates are removed or repaired", () => {
  expect(usablePrompt({ name: "a", arguments: "x" })).toEqual({ name: "a" });
  expect(usablePrompt({ description: "no name" })).toBeUndefined();
  expect(usableResource({ uri: "a:b", name: "a", size: "1 MB" })).toEqual({ uri: "a:b", name: "a" });
  expect(usableResource({ uri: "a:b" })).toEqual({ uri: "a:b", name: "a:b" });
  expect(usableResource({ name: "no address" })).toBeUndefined();
  expect(usableTemplate({ uriTemplate: "a:{b}", name: "a", annotations: [] })).toEqual({
    uriTemplate: "a:{b}",
    name: "a",
  });
});
