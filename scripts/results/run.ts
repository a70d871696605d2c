/**
 * `bun run results [server ...] [--show]`: runs well-known servers and writes what their tools return to
 * `registry/<category>/<server>/results.ts`: types of JSON, and the formats of texts in our own words. Never values.
 *
 * npm installs each server in a temporary folder, in the version of its plan. The servers work on files and a page that this script
 * makes. `--show` prints the answers, for writing a plan.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CatalogResult, CatalogResults } from "../../registry/types.ts";
import { parsedJson } from "../../src/base/json-object.ts";
import { resultContent, type ToolResult } from "../../src/servers/result.ts";
import { briefSignature } from "../../src/tools/brief-signature.ts";
import type { RegistryTool } from "../../src/tools/model.ts";
import { shapeOf } from "../../src/tools/observed/observe.ts";
import { merge, type Shape, shownShape } from "../../src/tools/observed/shape.ts";
import { observedType } from "../../src/tools/signature.ts";
import { nullSoFar } from "../../src/tools/types/one-line.ts";
import { root } from "../../test/support/claudikins.ts";
import { temporaryFolder } from "../../test/support/temporary.ts";
import { install, run } from "./install.ts";
import { pageServer } from "./page.ts";
import { type Plan, type PlannedCall, type Start, textOf, type World } from "./plan.ts";
import { plans } from "./plans.ts";

/** Runs the server of a plan. `show` gets each call and its answer. */
export async function resultsOf(
  plan: Plan,
  start: Start,
  show?: (call: string, answer: string) => void,
): Promise<CatalogResults> {
  using folder = temporaryFolder();
  using page = pageServer();
  const world: World = { folder: join(folder.path, "world"), page: page.url, last: "" };
  mkdirSync(world.folder);
  plan.prepare?.(world);
  const client = new Client({ name: "claudikins", version: "1" });
  await client.connect(
    new StdioClientTransport({
      command: start.command,
      args: [...start.args, ...(plan.args?.(world) ?? [])],
      env: { PATH: process.env["PATH"] ?? "", HOME: world.folder, ...plan.env?.(world) },
      cwd: world.folder,
      stderr: show ? "inherit" : "ignore",
    }),
  );
  try {
    const { tools: listed } = await client.listTools();
    for (const { name } of listed)
      if (!Object.hasOwn(plan.leftOut ?? {}, name) && !plan.calls.some(({ tool }) => tool === name))
        throw new Error(`${plan.server}: no call of ${name} is planned`);
    const declared = new Set(listed.filter(({ outputSchema }) => outputSchema).map(({ name }) => name));
    const found = new Map<string, Found>();
    for (const call of plan.calls) {
      const args = call.args?.(world) ?? {};
      let result = await callTool(client, call.tool, args);
      for (let left = (call.tries ?? 1) - 1; result.isError && left > 0; left--)
        result = await callTool(client, call.tool, args);
      world.last = textOf(valueOfResult(result));
      show?.(`${call.tool} ${JSON.stringify(args)}`, JSON.stringify(result));
      if (result.isError) throw new Error(`${plan.server}: ${call.tool} failed: ${world.last}`);
      found.set(call.tool, joined(found.get(call.tool), described(call, result, declared.has(call.tool)), call));
    }
    const tools = [...found]
      .filter(([, { shape, text }]) => shape || text)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, result]) => [name, shown(result)] as const);
    const [, version = ""] = /@([^@]+)$/.exec(plan.package) ?? [];
    const usual = (plan.usual ?? []).toSorted().map((name) => {
      const tool = listed.find((each) => each.name === name);
      if (!tool) throw new Error(`${plan.server}: there is no tool ${name}`);
      const { args, outline } = briefSignature({ description: "", ...tool } as RegistryTool);
      return [name, outline === undefined ? args : `${args}: ${outline}`] as const;
    });
    return {
      package: plan.package.slice(0, -version.length - 1),
      version,
      tools: Object.fromEntries(tools),
      ...(usual.length > 0 ? { usual: Object.fromEntries(usual) } : {}),
    };
  } finally {
    await client.close();
  }
}

function callTool(client: Client, name: string, args: Record<string, unknown>) {
  return client.callTool({ name, arguments: args }, undefined, { timeout: 120_000 });
}

/** What the answers of one tool have shown so far. */
interface Found {
  shape?: Shape;
  text?: string;
}

/** What one answer shows. A declared schema stays: only the format of a text is added to it. */
function described(call: PlannedCall, result: object, isDeclared: boolean): Found {
  const value = valueOfResult(result);
  const { text } = call;
  if (text && !text.pattern.test(textOf(value)))
    throw new Error(`${call.tool} does not match ${text.pattern}:\n${textOf(value)}`);
  return { ...(isDeclared ? {} : { shape: shapeOf(value) }), ...(text ? { text: text.says } : {}) };
}

/** The value of a result as a program gets it. */
function valueOfResult(result: object): unknown {
  const content = resultContent(result as ToolResult);
  if ("text" in content) return parsedJson(content.text) ?? content.text;
  return "blocks" in content ? content.blocks : content.structured;
}

function joined(before: Found | undefined, { shape, text }: Found, { fieldsAreData }: PlannedCall): Found {
  const own = shape && fieldsAreData ? withoutFields(shape) : shape;
  const both = before?.shape && own ? merge(before.shape, own) : (own ?? before?.shape);
  const says = text ?? before?.text;
  return { ...(both ? { shape: both } : {}), ...(says ? { text: says } : {}) };
}

/** The same shape, with maps for the objects. */
function withoutFields(shape: Shape): Shape {
  const { properties, required: _, items, ...rest } = shape;
  return {
    ...rest,
    ...(properties ? { additionalProperties: {} } : {}),
    ...(items ? { items: withoutFields(items) } : {}),
  };
}

function shown({ shape, text }: Found): CatalogResult {
  const type = shape && observedType({ ...shownShape(shape) }).replaceAll(` /* ${nullSoFar} */`, "");
  return { ...(type ? { type } : {}), ...(text ? { text } : {}) };
}

function fileText({ server }: Plan, results: CatalogResults): string {
  return `/** The results of the tools of ${server.split("/")[1]}. Written by \`bun run results\`. */
import type { CatalogResults } from "../../types.ts";

export const results = ${JSON.stringify(results, null, 2)} satisfies CatalogResults;
`;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { show: { type: "boolean", default: false } },
  });
  const show = (call: string, answer: string) => console.log(`\n--- ${call}\n${answer.slice(0, 2_000)}`);
  const wanted = plans.filter(
    ({ server }) => positionals.length === 0 || positionals.some((name) => server.endsWith(name)),
  );
  for (const plan of wanted) {
    using folder = temporaryFolder();
    const start = plan.starts ?? install(plan, folder.path);
    const results = await resultsOf(plan, start, values.show ? show : undefined);
    if (Object.keys(results.tools).length === 0 && !results.usual) {
      console.log(`${plan.server}: its tools declare everything`);
      continue;
    }
    const path = join(root, "registry", plan.server, "results.ts");
    writeFileSync(path, fileText(plan, results));
    run([join(root, "node_modules/.bin/biome"), "format", "--write", path], root);
    console.log(`${plan.server}: ${Object.keys(results.tools).length} tools`);
  }
}
