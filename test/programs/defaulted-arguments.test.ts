/** Required arguments with a default, which zod writes for inputs with a default: callers may omit them. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { execute } from "../../src/programs/execute.ts";
import { argumentProblems } from "../../src/tools/arguments/argument-problems.ts";
import { exampleCall, signature } from "../../src/tools/signature.ts";
import { declareType } from "../../src/tools/types/declarations.ts";
import { typeErrors } from "../support/typescript.ts";
import { project } from "../tools/generation/project.ts";

// The compiler runs as a separate program.
setDefaultTimeout(60_000);

const scale = { type: "string", enum: ["css", "device"], default: "css" };
const screenshot = {
  type: "object",
  properties: { scale, file: { type: "string" } },
  required: ["scale"],
  additionalProperties: false,
};

test("a required argument with a default is optional in the signature, the example, the checks and the files", async () => {
  using folder = project();
  const both = { ...screenshot, required: ["scale", "file"] };
  folder.configure({ web: folder.offering("web", { shot: { inputSchema: screenshot }, save: { inputSchema: both } }) });
  await using app = await folder.open();
  await app.catalog.list("web");
  const shown = 'scale?: "css" | "device" /* default "css" */';
  const source = `
    const about = await tools.describe("web.shot");
    const other = await tools.describe("web.save");
    const results = [await web.shot({}), await web.shot(), await web.save({ file: "a" })];
    return [about.signature, about.example, other.signature, other.example, ...results.map((each) => each.arguments)]`;
  expect(await execute({ source }, app)).toMatchObject({
    value: [
      `web.shot(args?: { ${shown}; file?: string }): Promise<unknown>`,
      "await web.shot()",
      `web.save(args: { ${shown}; file: string }): Promise<unknown>`,
      'await web.save({ file: "file" })',
      // The server receives the arguments as written, and fills in its defaults itself.
      {},
      {},
      { file: "a" },
    ],
  });
  const refused = await execute({ source: "await web.save({})" }, app);
  expect(refused).toMatchObject({ error: { code: "INVALID_ARGUMENTS" } });
  expect(JSON.stringify(refused)).not.toContain('"scale\\" is missing');
  // Not only if the arguments can be read before the program runs.
  const late = 'const args = JSON.parse("{}"); try { await web.save(args) } catch (error) { return error.message }';
  expect(await execute({ source: late }, app)).toMatchObject({
    value: 'web.save: the argument "file" is missing',
  });
  const generated = await Bun.file(`${folder.registry}/other/web/shot.ts`).text();
  expect(generated).toContain('scale?: "css" | "device";');
  expect(generated).toContain("(args: ShotArguments = {})");
});

const tool = { name: "t", jsName: "t", description: "" };
const $defs = { scale, part: screenshot };
const object = (properties: object, required = Object.keys(properties)) => ({ type: "object", properties, required });

const places: Record<string, [object, object]> = {
  "in an object within": [object({ options: screenshot }), { options: {} }],
  "in the items of a list": [object({ all: { type: "array", items: screenshot } }), { all: [{}, {}] }],
  "in a definition": [{ ...object({ part: { $ref: "#/$defs/part" } }), $defs }, { part: {} }],
  "beside a reference": [{ ...object({ a: { $ref: "#/$defs/text", default: "x" } }), $defs: { text: {} } }, {}],
  "behind a reference": [{ ...object({ scale: { $ref: "#/$defs/scale" } }), $defs }, {}],
  "in a part of `allOf`": [object({ scale: { allOf: [scale] } }), {}],
  "required by another part": [{ allOf: [object({ scale }, []), { type: "object", required: ["scale"] }] }, {}],
  "in one of several forms": [object({ to: { anyOf: [{ type: "string" }, screenshot] } }), { to: {} }],
  "a default of null": [object({ a: { anyOf: [{ type: "string" }, { type: "null" }], default: null } }), {}],
  "a default of false": [object({ a: { type: "boolean", default: false } }), {}],
};

test("a default is found anywhere in the schema", async () => {
  const programs = Object.values(places).map(([inputSchema, args], at) => {
    const shop = { name: "s", jsName: "s" };
    const described = { ...tool, inputSchema: inputSchema as Record<string, unknown> };
    const shown = /\(args\??: (.*)\): Promise/.exec(signature(shop, described))?.[1];
    return `namespace N${at} {
      ${declareType(inputSchema, "Args", new Set(), "arguments")}
      const args: Args = ${JSON.stringify(args)};
      declare const s: { t(args?: ${shown}): void };
      s.t(${JSON.stringify(args)});
      async function example() { ${exampleCall(shop, described)}; }
    }`;
  });
  expect(typeErrors(programs.join("\n"))).toEqual([]);
  for (const [place, [schema, args]] of Object.entries(places)) {
    const problems = await argumentProblems(schema as Record<string, unknown>, args as Record<string, unknown>);
    expect([place, problems]).toEqual([place, []]);
  }
});

test("arguments without a default, results, and schemas that forbid are unchanged", async () => {
  const schema = { ...object({ file: { type: "string" }, scale }), not: { required: ["never"] } };
  expect(await argumentProblems(schema, { scale: "css" })).toEqual(['the argument "file" is missing']);
  expect(await argumentProblems(schema, { file: "a", scale: "other" })).toHaveLength(1);
  const forbids = { ...object({ scale }, []), not: { required: ["scale"] } };
  expect(await argumentProblems(forbids, {})).toEqual([]);
  expect(await argumentProblems(forbids, { scale: "css" })).toHaveLength(1);
  // The server fills in its defaults before it answers.
  const result = signature({ name: "s", jsName: "s" }, { ...tool, inputSchema: {}, outputSchema: screenshot });
  expect(result).toBe('s.t(): Promise<{ scale: "css" | "device"; file?: string }>');
});
