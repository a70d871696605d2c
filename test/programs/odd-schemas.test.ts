/** Unusual schemas of real servers: their tools can still be found, shown and called. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { execute } from "../../src/programs/execute.ts";
import { search } from "../../src/tools/search/search.ts";
import { typeErrors } from "../support/typescript.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

const text = { type: "string" };

function nested(depth: number): object {
  let schema: object = text;
  for (let level = depth; level > 0; level--) schema = { type: "object", properties: { [`level${level}`]: schema } };
  return schema;
}

const inputs: Record<string, unknown> = {
  "is true": true,
  "is false": false,
  "is null": null,
  "is a list": [],
  "is a text": "object",
  "is missing": undefined,
  empty: {},
  "no properties": { type: "object" },
  "invalid properties": { type: "object", properties: ["a", "b"] },
  "a required property that is not described": { type: "object", properties: { a: text }, required: ["a", "b"] },
  "required that is not a list": { type: "object", properties: { a: text }, required: "a" },
  "unknown types": { type: "objekt", properties: { a: { type: "strng" }, b: { type: 5 } } },
  "an invalid pattern": { type: "object", properties: { a: { type: "string", pattern: "(" } } },
  "a reference to itself": {
    type: "object",
    properties: { node: { $ref: "#/$defs/node" } },
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, name: text } } },
  },
  "a reference to the whole": { type: "object", properties: { child: { $ref: "#" } } },
  "a circular reference": {
    type: "object",
    properties: { a: { $ref: "#/$defs/x" } },
    $defs: { x: { $ref: "#/$defs/x" } },
  },
  "a reference into the middle": {
    type: "object",
    properties: {
      filter: { anyOf: [{ type: "object", properties: { and: text } }] },
      not: { $ref: "#/properties/filter/anyOf/0/properties/and" },
    },
  },
  "a reference to nothing": { type: "object", properties: { a: { $ref: "#/$defs/nowhere" } } },
  "a reference to somewhere else": { type: "object", properties: { a: { $ref: "https://example.com/schema.json" } } },
  "a draft that is old": {
    $schema: "http://json-schema.org/draft-04/schema#",
    type: "object",
    properties: { a: { type: "number", minimum: 0, exclusiveMinimum: true } },
  },
  "a draft that is none": { $schema: "urn:nobody:knows", type: "object", properties: { a: text } },
  "depth 30": nested(30),
  "depth 400": nested(400),
  "700 KB": {
    type: "object",
    properties: Object.fromEntries(
      Array.from({ length: 5_000 }, (_, at) => [`p${at}`, { type: "string", description: "words ".repeat(20) }]),
    ),
  },
  "names that are keywords": {
    type: "object",
    properties: { function: text, default: text, "resource-group": text, __proto__x: text, constructor: text },
    required: ["function", "resource-group"],
  },
};

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  const tools = Object.entries(inputs).map(([name, inputSchema]) => [
    name,
    { inputSchema, description: `takes what: ${name}` },
  ]);
  folder.configure({ odd: { ...folder.offering("odd", Object.fromEntries(tools)), labels: [] } });
  app = await folder.open();
  await app.catalog.list("odd");
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

test("tools with odd schemas can be listed", () => {
  expect(app.catalog.find("odd")?.tools.map(({ name }) => name)).toEqual(Object.keys(inputs).sort());
});

test("every tool is found, and its signature is valid TypeScript", () => {
  const signatures = Object.keys(inputs).map((name, at) => {
    const { tools } = search(name, 50, app.catalog);
    const found = tools.find((each) => each.id === `odd.${name}`);
    if (!found) throw new Error(`${name} is not found`);
    return `declare function f${at}${found.signature.slice(found.signature.indexOf("("))};`;
  });
  expect(typeErrors(signatures.join("\n"))).toEqual([]);
});

/** Arguments for schemas that do not accept every argument. */
const fitting: Record<string, object> = {
  "unknown types": {},
  "a required property that is not described": { a: "x", b: 1 },
  "a reference to itself": { node: { next: { next: { name: "x" } } } },
  "a reference to the whole": { child: { child: {} } },
  "a reference into the middle": { filter: { and: "x" }, not: "x" },
  "a draft that is old": { a: 5 },
  "depth 30": { level1: { level2: {} } },
  "depth 400": { level1: { level2: {} } },
  "700 KB": { p4999: "x" },
  "names that are keywords": { function: "x", "resource-group": "y" },
  "invalid properties": {},
};

// A schema that accepts nothing refuses every call.
test.each(Object.keys(inputs).filter((name) => name !== "is false"))(
  "the tool is called although its schema is unusual: %s",
  async (name) => {
    const args = fitting[name] ?? { a: "x" };
    const source = `return (await servers.odd[${JSON.stringify(name)}](${JSON.stringify(args)})).arguments`;
    const outcome = await execute({ source }, app);
    expect(outcome.ok ? outcome.value : outcome.error).toEqual(args);
  },
);
