/** Made-up results match the type that they are made from, and are always the same. */
import { describe, expect, test } from "bun:test";
import { servers } from "../../registry/index.ts";
import { results as demoResults } from "../../registry/testing/demo/results.ts";
import type { JsonObject } from "../../src/base/json-object.ts";
import { toolValue } from "../../src/servers/result.ts";
import { checkArguments } from "../../src/tools/arguments/check-arguments.ts";
import { madeUpResult, schemaOfType } from "../../src/tools/made-up.ts";
import type { RegistryTool } from "../../src/tools/model.ts";

const tool = (more: Partial<RegistryTool>): RegistryTool => ({
  name: "change",
  description: "",
  inputSchema: { type: "object" },
  ...more,
});

/** The value that a program gets from a tool that declares the schema. */
function madeUp(schema: object): unknown {
  const value = toolValue(madeUpResult(tool({ outputSchema: { ...schema } })), "a.change");
  return "json" in value ? JSON.parse(value.json) : value;
}

const property = (schema: object) => (madeUp({ type: "object", properties: { it: schema } }) as { it: unknown }).it;

describe("a made-up result", () => {
  test.each([
    [{ type: "string" }, "made-up"],
    [{ type: "string", enum: ["open", "closed"] }, "open"],
    [{ const: 7 }, 7],
    [{ type: "string", format: "date-time" }, "2025-01-01T00:00:00Z"],
    [{ type: "string", format: "date" }, "2025-01-01"],
    [{ type: "string", format: "uri" }, "https://example.com/made-up"],
    [{ type: "string", format: "uuid" }, "00000000-0000-4000-8000-000000000000"],
    [{ type: "string", minLength: 9 }, "made-up--"],
    [{ type: "string", maxLength: 4 }, "made"],
    [{ type: "integer" }, 1],
    [{ type: "number", minimum: 5 }, 5],
    [{ type: "number", maximum: -3 }, -3],
    [{ type: "integer", exclusiveMinimum: 4, multipleOf: 5 }, 5],
    [{ type: "boolean" }, true],
    [{ type: "null" }, null],
    [{ type: ["null", "string"] }, "made-up"],
    [{ anyOf: [{ type: "null" }, { type: "integer" }] }, 1],
    [{ type: "array", items: { type: "integer" } }, [1]],
    [{ type: "array", items: { type: "integer" }, minItems: 3 }, [1, 1, 1]],
    [{ type: "array", prefixItems: [{ type: "string" }, { type: "boolean" }], items: false }, ["made-up", true]],
    [{ type: "array" }, []],
    [
      { allOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { type: "null" } } }] },
      { a: "made-up", b: null },
    ],
    [{ type: "object", additionalProperties: { type: "string" } }, {}],
    [{}, { "made-up": true }],
    [true, "made-up"],
  ])("for %j is %j, which the schema allows", async (schema, value) => {
    expect(property(schema as object)).toEqual(value);
    const whole = { type: "object", properties: { it: schema } };
    expect(await checkArguments(whole, { it: value })).toEqual([]);
  });

  test("follows references, and ends for types that contain themselves", () => {
    const node = { type: "object", properties: { name: { type: "string" }, next: { $ref: "#/$defs/node" } } };
    const value = madeUp({ type: "object", properties: { first: { $ref: "#/$defs/node" } }, $defs: { node } });
    expect(value).toMatchObject({ first: { name: "made-up", next: { name: "made-up", next: { name: "made-up" } } } });
    const wide = { type: "object", properties: Object.fromEntries([..."abcdefgh"].map((key) => [key, { $ref: "#" }])) };
    expect(JSON.stringify(madeUp(wide)).length).toBeLessThan(200_000);
  });

  test("has optional properties too if it is an object, and a property called __proto__ is one like others", () => {
    const schema = JSON.parse(
      '{"type":"object","required":["a"],"properties":{"a":{},"b":{"type":"null"},"__proto__":{"type":"string"}}}',
    );
    expect(JSON.stringify(madeUp(schema))).toBe('{"a":{"made-up":true},"b":null,"__proto__":"made-up"}');
  });

  test("comes from the type in the catalog for a well-known server", () => {
    const known = { type: demoResults.tools.refund_order.type };
    const text = '{"refund_id":"made-up","order_id":"made-up","amount_cents":1}';
    expect(madeUpResult(tool({ known }))).toEqual({ content: [{ type: "text", text }] });
  });

  test("can be made of every type in the catalog", () => {
    const types = servers.flatMap(({ results }) =>
      Object.values(results?.tools ?? {}).flatMap(({ type }) => type ?? []),
    );
    expect(types.length).toBeGreaterThan(50);
    expect(types.filter((type) => schemaOfType(type) === undefined)).toEqual([]);
  });

  test.each([
    [
      "Record<string, number | null>",
      { type: "object", additionalProperties: { anyOf: [{ type: "number" }, { type: "null" }] } },
    ],
    ['("a" | "b")[]', { type: "array", items: { anyOf: [{ const: "a" }, { const: "b" }] } }],
    [
      '{ "a-b"?: unknown; c: string[] }',
      { type: "object", properties: { "a-b": {}, c: { type: "array", items: { type: "string" } } } },
    ],
    ["Map<string, string>", undefined],
    ["{ a: string", undefined],
    ["string string", undefined],
    ["{ a: constructor }", undefined],
    [`${"(".repeat(10_000)}string`, undefined],
  ])("reads the type %p", (type, schema) => {
    expect(schemaOfType(type)).toEqual(schema as JsonObject | undefined);
  });

  test("comes from the observed type if the tool declares none, and says that it is made up if nothing is known", () => {
    const observed = { type: "array", items: { type: "object", properties: { id: { type: "number" } } } };
    expect(madeUpResult(tool({ observed }))).toEqual({ content: [{ type: "text", text: '[{"id":1}]' }] });
    expect(madeUpResult(tool({ observed: { type: "string" } }))).toEqual({
      content: [{ type: "text", text: "made-up" }],
    });
    expect(madeUpResult(tool({}))).toEqual({ content: [{ type: "text", text: '{"made-up":true}' }] });
  });
});
