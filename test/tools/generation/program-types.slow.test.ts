/** `globals.d.ts`: TypeScript knows what programs see, and finds their mistakes. */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { execute } from "../../../src/programs/execute.ts";
import { checkRegistry, generate } from "../../../src/tools/generate.ts";
import { sandboxGlobals } from "../../../src/tools/names.ts";
import {
  browserFunctions,
  browserVariables,
  notDeclarable,
} from "../../../src/tools/registry/globals/server-global.ts";
import { blocksOf, docsPages, pageAt } from "../../docs/pages.ts";
import { executable, root } from "../../support/claudikins.ts";
import { hostile } from "../../support/hostile-text.ts";
import { errorsInPrograms, withNodeTypes } from "../../support/typescript.ts";
import { type Project, project } from "./project.ts";

// Real servers and a real compiler.
setDefaultTimeout(120_000);

const demo = () => ({ command: executable(), args: ["demo"] });

/** Names and descriptions that could break out of a comment, a text or a namespace. */
const ends = ["*/", "`${1}`", '"', "'", "\n} // _get_sum\n}\ndeclare var evil: 1;\n", "\r\n", "</script>", "$&"];
const text = [...ends, ...Object.values(hostile)].join(" ");
const oddTools = {
  "get-sum": {
    description: text,
    inputSchema: {
      type: "object",
      properties: { a: { type: "number", description: text }, [text]: { type: "string" }, unknown: { enum: [text] } },
      required: ["a"],
    },
    outputSchema: {
      type: "object",
      properties: {
        sum: { type: "number" },
        unknown: { description: "unknown" },
        Claudikins: { $ref: "#/$defs/Claudikins" },
      },
      required: ["sum"],
      $defs: { Claudikins: { type: "object", properties: { Promise: { type: "string" } } } },
    },
  },
  get_sum: {},
  Get_Sum: {},
  delete: { description: "x".repeat(100_000) },
  constructor: {},
  globals: {},
  resources: { inputSchema: { type: "object", properties: { q: { type: "string" } }, required: ["q"] } },
  server: {},
  fetch: { inputSchema: { type: "object", properties: { url: { type: "string" } }, required: ["url"] } },
  "a b/c": {},
  [text]: {},
  名前: {},
};
/** Names that cannot be identifiers, that TypeScript's types of browsers declare, or that the declarations themselves use. */
const oddNames = [
  ...["my-odd", "fetch", "history", "name", "Notification", "toString", "memory", "a*b", 'quo"te', "x/../y", "日本"],
  ...["claudikins", "Claudikins", "NodeJS", "tools", "delete", "servers", "server"],
];

let folder: Project;
beforeAll(async () => {
  folder = project();
  const odd = folder.offering("odd", oddTools);
  folder.configure({ demo: demo(), ...Object.fromEntries(oddNames.map((name) => [name, odd])) });
  await using app = await folder.open();
  const { servers } = await generate(app);
  expect(servers.filter(({ problem, tools }) => problem || tools === 0)).toEqual([]);
});
afterAll(() => folder[Symbol.dispose]());

const globals = (of = folder) => join(of.registry, "globals.d.ts");

function errorsIn(source: string, flags: string[] = [], of = folder): string[] {
  const file = of.write("program.ts", source);
  return errorsInPrograms([relative(of.path, file), relative(of.path, globals(of))], of.path, flags);
}

const correct = `
const { orders } = await demo.list_orders({ status: "paid", limit: 3 });
const ids: string[] = orders.map((order) => order.id);
const raw = await demo.list_orders.raw({});
console.log(raw.content[0].text, raw.isError, demo.list_orders.name);
const csv = String(await servers["demo"]["export-orders"]({ format: "csv" }));
await demo.export_orders({ format: "csv" });
await callTool("demo", "search_customers", { query: "berger" });
await demo.resources.read("demo://policy/returns");
for await (const { uri } of demo.resources.subscribe("demo://x")) uri.length;
const { prompts } = await demo.prompts.list();
prompts[0].name;
const sum: number = (await servers["my-odd"]["get-sum"]({ a: 1 })).sum;
(await my_odd["get-sum"]({ a: 1 })).unknown.anything;
await my_odd.delete();
await my_odd.constructor({});
await my_odd["a b/c"]({});
await my_odd.a_b_c({});
await my_odd.名前();
await my_odd.resources({ q: "a tool with this name comes first" });
await my_odd.prompts.list();
(await my_odd.get_sum()).whatever;
await fetch.fetch({ url: "x" });
await servers.history.get_sum();
await servers.name.get_sum();
await servers["a*b"].get_sum();
await servers.tools.get_sum();
await memory.get_sum();
const [found] = await tools.search("refund", 3);
(await tools.describe(found!.id)).inputSchema.properties;
(await tools.list()).map(({ server, problem }) => [server, problem?.length]);
(await tools.list("demo")).map(({ signature }) => signature.length);
display({ type: "text", text: "x" });
await sleep("1h30m", { signal: undefined });
await fs.mkdir("./workspace/a", { recursive: true });
await fs.writeFile("./workspace/a/b.json", JSON.stringify(ids));
const written: string = await fs.readFile("./workspace/a/b.json", "utf8");
(await fs.readdir("./workspace", { withFileTypes: true })).map((entry) => entry.isFile());
fs.readFileSync("./workspace/a/b.json").toString("base64");
fs.existsSync("./workspace") && fs.constants.F_OK;
await fs.promises.rm("./workspace/a", { recursive: true });
process.cwd() + process.env["X"];
Buffer.from("x", "utf8").toString("base64");
setTimeout(() => {}, 5);
setImmediate(() => {});
try { await demo.get_order({ order_id: "x" }); } catch (error) { if (error instanceof ToolError) error.hint?.length; }
throw new ToolError({ message: sum + csv + written });
`;

describe("a correct program", () => {
  const libraries = {
    "TypeScript's own settings": [],
    "only the types of the language": ["--lib", "esnext"],
    "the types of Node": withNodeTypes,
    "the types of Node without those of browsers": [...withNodeTypes, "--lib", "esnext"],
    "every strict setting": [
      "--strict",
      "--noUncheckedIndexedAccess",
      "--exactOptionalPropertyTypes",
      "--verbatimModuleSyntax",
    ],
    "the oldest language that has what programs use": ["--target", "es2022", "--module", "esnext"],
  };
  test.each(Object.entries(libraries))("has no type errors with %s", (_, flags) => {
    expect(errorsIn(correct, flags)).toEqual([]);
  });

  test("has no type errors if it imports servers", () => {
    const source = `import { sales_report, resources } from "./servers/demo";
import demo2, { demo as demo3 } from "./servers/demo";
import * as odd from "./servers/my-odd";
import { my_odd } from "@/servers";
const { rows } = await sales_report({ from: "2025-01-01", to: "2025-12-31", group_by: "country" });
rows[0]!.revenue_cents.toFixed();
await demo2.list_orders({ limit: 1 });
await demo3.list_orders({ limit: 1 });
await resources.list();
await odd.get_sum();
await my_odd.get_sum();
`;
    expect(errorsIn(source)).toEqual([]);
    expect(errorsIn(source, ["--module", "preserve", ...withNodeTypes])).toEqual([]);
  });

  test("needs no setting if its first line names the file", () => {
    const source = `/// <reference path="./.claudikins/registry/globals.d.ts" />
export default (await demo.list_orders({ limit: 1 })).orders.length;
`;
    expect(errorsInPrograms([folder.write("alone.ts", source)], folder.path)).toEqual([]);
  });
});

test("wrong arguments, tools, results and servers are type errors, each in its line", () => {
  const wrong = [
    'await demo.list_orders({ stat: "paid" });',
    "await demo.list_orders({ limit: true });",
    'await demo.list_orders.raw({ status: "payed" });',
    "await demo.get_order();",
    "await demo.list_orderz({});",
    "(await demo.list_orders({})).order;",
    'const { sum }: { sum: string } = await my_odd["get-sum"]({ a: 1 });',
    "await nope.list_orders({});",
    'await servers["nope"].list_orders({});',
    'import { list_orderz } from "./servers/demo";',
    'import { list_orders } from "./servers/nope";',
    "await fetch.fetch({ address: 1 });",
    'await sleep({ ms: "1" });',
    "await fs.writeFiles('a', 'b');",
    "evil;",
  ];
  const lines = errorsIn(wrong.join("\n")).flatMap((line) => /^program\.ts\((\d+),/.exec(line)?.[1] ?? []);
  expect([...new Set(lines)]).toEqual(wrong.map((_, at) => String(at + 1)));
});

test("TypeScript knows every global of the sandbox, and the members of our own ones", async () => {
  await using app = await folder.open();
  const source = `
    const namesOf = (value) => Object.getOwnPropertyNames(value).filter((name) => !name.startsWith("__") || name.endsWith("name"));
    const servers = await tools.list();
    const own = namesOf(globalThis).filter((name) => typeof globalThis[name]?.list_resources !== "function");
    return [...own, ...Object.entries({ tools, console, process, servers: {} }).flatMap(([name, value]) => namesOf(value).map((key) => name + "." + key))]`;
  const outcome = await execute({ source }, app);
  if (!outcome.ok) throw new Error(outcome.error.message);
  const names = outcome.value as string[];
  expect(names.length).toBeGreaterThan(100);
  const all = names.map((name) => `void ${name};\n`).join("");
  const unknown = errorsIn(all).map((error) => /'(\w+)'/.exec(error)?.[1]);
  // Types of Node have these with types that cannot be repeated without them, and the engine has the first.
  const left =
    "InternalError profile profileEnd stdout stderr platform arch versions release exitCode hrtime memoryUsage cpuUsage";
  const listening = "on once off addListener removeListener removeAllListeners listeners emit";
  expect(unknown).toEqual([...left.split(" "), ...listening.split(" ")]);
});

test("the names that types of browsers declare are those of TypeScript", () => {
  const library = new Bun.Glob("node_modules/@typescript/typescript-*/lib/lib.dom.d.ts").scanSync({ cwd: root });
  const declarations = readFileSync(join(root, [...library][0]!), "utf8");
  const declared = (kind: string) => {
    const names = [...declarations.matchAll(new RegExp(`^declare ${kind} (\\w+)`, "gm"))].map(([, name = ""]) => name);
    return [...new Set(names)].filter((name) => !sandboxGlobals.has(name)).sort();
  };
  const isLikely = (name: string) => /^(?:[A-Z]?[a-z]+|[A-Z]+|[a-z]\w+)$/.test(name) && !/^on[a-z]/.test(name);
  expect(declared("function")).toEqual([...browserFunctions].sort());
  expect(declared("var").filter(isLikely)).toEqual([...browserVariables].sort());
  expect(declared("const")).toEqual([...notDeclarable].sort());
});

test("the programs in the documentation that are files have no type errors", () => {
  const pages = [pageAt("README.md"), ...docsPages];
  const programs = pages.flatMap((page) => {
    const blocks = blocksOf(page).filter(({ info }) => info === "ts");
    return blocks.map(({ line, text }) => folder.write(`docs/${page.path.replace(/\W/g, "_")}_${line}.ts`, text));
  });
  expect(programs.length).toBeGreaterThan(12);
  // A skill that an example writes before the next one imports it.
  const skill = folder.write(
    "skills/skills/money.ts",
    "export const euros = (cents: number): string => String(cents);\n",
  );
  const roots = { rootDirs: ["docs", "skills"], strict: true, noEmit: true, moduleDetection: "force" };
  const files = [...programs, skill, globals()].map((path) => relative(folder.path, path));
  folder.write("tsconfig.json", { compilerOptions: { ...roots, target: "esnext", module: "preserve" }, files });
  try {
    expect(errorsInPrograms([], folder.path, ["-p", "."])).toEqual([]);
  } finally {
    rmSync(join(folder.path, "tsconfig.json"));
  }
});

describe("the files", () => {
  let own: Project;
  const shop = () => join(own.registry, "other", "shop");
  beforeAll(async () => {
    own = project();
    await generateIn(own, { shop: own.offering("shop", { one: {} }), old: own.offering("old", { x: {} }) });
  });
  afterAll(() => own[Symbol.dispose]());

  async function generateIn(of: Project, servers: Record<string, object>): Promise<void> {
    of.configure(servers);
    await using app = await of.open();
    await generate(app);
  }

  async function differences(): Promise<string[]> {
    await using app = await own.open();
    const { servers, differences: others } = await checkRegistry(app);
    const all = [...servers.flatMap((server) => server.differences), ...others];
    return all.map(({ path, state }) => `${state} ${relative(own.registry, path)}`);
  }

  test("gen --check finds missing and changed ones, and gen writes them again", async () => {
    expect(await differences()).toEqual([]);
    rmSync(globals(own));
    rmSync(join(shop(), "server-module.d.ts"));
    const changed = join(shop(), "server-global.d.ts");
    await Bun.write(changed, readFileSync(changed, "utf8").replace("one:", "two:"));
    expect(await differences()).toEqual([
      "stale other/shop/server-global.d.ts",
      "missing other/shop/server-module.d.ts",
      "missing globals.d.ts",
    ]);
    await generateIn(own, { shop: own.offering("shop", { one: {} }), old: own.offering("old", { x: {} }) });
    expect(await differences()).toEqual([]);
  });

  test("a changed list of tools changes the types, without a gen of the other servers", async () => {
    own.offering("shop", { one: {}, two: {} });
    await using app = await own.open();
    await app.catalog.list("shop");
    expect(errorsIn("await shop.two({}); await old.x({});", [], own)).toEqual([]);
  });

  test("an observed result gets its type, and the rest of the file stays as it is", async () => {
    const before = readFileSync(join(shop(), "server-global.d.ts"), "utf8");
    {
      await using app = await own.open();
      expect(await execute({ source: "return (await shop.one({})).name" }, app)).toMatchObject({ ok: true });
      await app.catalog.observer.flush();
    }
    const after = readFileSync(join(shop(), "server-global.d.ts"), "utf8");
    expect(before).toContain("export type OneResult = any;");
    expect(after).toContain("export interface OneResult {");
    expect(after.slice(after.indexOf("} // _one"))).toBe(before.slice(before.indexOf("} // _one")));
    expect(errorsIn("(await shop.one({})).nothing;", [], own)).toHaveLength(1);
    expect(await differences()).toEqual([]);
  });

  test("a server that left the config is unknown to TypeScript, and leaves no files", async () => {
    await generateIn(own, { shop: own.offering("shop", { one: {} }) });
    expect(errorsIn("await shop.one({});", [], own)).toEqual([]);
    expect(errorsIn("await old.x({});", [], own)).toEqual([expect.stringContaining("Cannot find name 'old'")]);
  });

  test("the user's own globals.d.ts stays", async () => {
    await Bun.write(globals(own), "declare var mine: 1;\n");
    await generateIn(own, { shop: own.offering("shop", { one: {}, three: {} }) });
    expect(readFileSync(globals(own), "utf8")).toBe("declare var mine: 1;\n");
    rmSync(globals(own));
  });

  test("two registries can be used together", async () => {
    await generateIn(own, { shop: own.offering("shop", { one: {} }) });
    const file = own.write(
      "both.ts",
      "await shop.one({}); await demo.list_orders({}); throw new ToolError({ message: '' });",
    );
    for (const flags of [[], withNodeTypes, ["--lib", "esnext"]]) {
      expect(errorsInPrograms([file, globals(own), globals()], own.path, flags)).toEqual([]);
    }
  });
});
