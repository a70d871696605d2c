/** The check before a program runs, and the check of each call while it runs, refuse the same arguments. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { execute } from "../../src/programs/execute.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

const text = { type: "string" };
const plain = { type: "object", properties: { a: text, n: { type: "integer", default: 1 } } };

/** Each schema refuses one of these two: an argument that it does not describe, or a number in place of a text. */
const schemas: Record<string, { schema: object; refuses: ("unknown" | "number")[] }> = {
  open: { schema: { ...plain, additionalProperties: true }, refuses: ["number"] },
  "open for numbers": { schema: { ...plain, additionalProperties: { type: "number" } }, refuses: ["number"] },
  closed: { schema: { ...plain, additionalProperties: false }, refuses: ["unknown", "number"] },
  "neither open nor closed": { schema: plain, refuses: ["unknown", "number"] },
  "without arguments": { schema: { type: "object", properties: {} }, refuses: ["unknown", "number"] },
  "without properties": { schema: { type: "object" }, refuses: [] },
  "with a name that is only required": {
    schema: { ...plain, properties: { ...plain.properties, b: text }, required: ["zz"] },
    refuses: ["number"],
  },
  "with names by a pattern": { schema: { ...plain, patternProperties: { "^z": {} } }, refuses: ["number"] },
  "with rules for names": { schema: { ...plain, propertyNames: { maxLength: 9 } }, refuses: ["number"] },
  "with rules for the rest": { schema: { ...plain, unevaluatedProperties: { type: "number" } }, refuses: ["number"] },
  "with alternatives": { schema: { ...plain, anyOf: [{ properties: { zz: {} } }] }, refuses: ["number"] },
  "with unknown words for types": {
    schema: { type: "object", properties: { a: { type: "any" }, zz: { type: "objekt" } } },
    refuses: [],
  },
  "with an invalid list of required names": { schema: { ...plain, required: "a" }, refuses: [] },
  "with invalid choices": { schema: { ...plain, properties: { a: text, b: { enum: "x" } } }, refuses: [] },
  "with an invalid pattern": {
    schema: { ...plain, properties: { a: text, b: { ...text, pattern: "(" } } },
    refuses: [],
  },
  "with a reference to nothing": {
    schema: { ...plain, properties: { a: text, b: { $ref: "#/$defs/b" } } },
    refuses: [],
  },
  "of the draft 04": {
    schema: { ...plain, properties: { a: text, n: { type: "number", minimum: 0, exclusiveMinimum: true } } },
    refuses: [],
  },
};

const given = { unknown: `{ "zz": 1 }`, number: `{ "a": 5, "zz": 1 }` };

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  const tools = Object.entries(schemas).map(([name, { schema: inputSchema }]) => [name, { inputSchema }]);
  folder.configure({ odd: folder.offering("odd", Object.fromEntries(tools)) });
  app = await folder.open();
  await app.catalog.tools("odd");
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Why the program failed; undefined if the call was made. */
async function refusal(source: string): Promise<string | undefined> {
  const outcome = await execute({ source }, app);
  return outcome.ok ? undefined : `${outcome.reason} ${outcome.error.code}`;
}

test.each(Object.keys(schemas))("a schema %s refuses written and computed arguments alike", async (name) => {
  const call = `await callTool("odd", ${JSON.stringify(name)}, `;
  for (const [kind, args] of Object.entries(given)) {
    const isRefused = schemas[name]!.refuses.includes(kind as keyof typeof given);
    const written = await refusal(`${call}${args})`);
    const computed = await refusal(`${call}JSON.parse(${JSON.stringify(args)}))`);
    expect({ kind, written, computed }).toEqual({
      kind,
      written: isRefused ? expect.stringContaining("INVALID_ARGUMENTS") : undefined,
      computed: isRefused ? expect.stringContaining("INVALID_ARGUMENTS") : undefined,
    });
  }
});
