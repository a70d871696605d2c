/** gen of some servers, gen --clean and gen --check: what they change, and what they leave. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { chosenServers } from "../../../src/tools/catalog/chosen-servers.ts";
import { checkRegistry, type GenerateOptions, type GenerateReport, generate } from "../../../src/tools/generate.ts";
import { fixture, memory } from "../../support/servers.ts";
import { type Project, project } from "./project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

async function gen(options?: GenerateOptions): Promise<GenerateReport> {
  await using app = await folder.open();
  return await generate(app, options);
}

/** Leaves out the files that every server has beside its index, and the declarations for programs. */
const matters = (name: string) => !/\/(?:client|example)\.ts$|\.d\.ts$/.test(name);

/** What gen would change, such as `stale other/shop/list.ts`. */
async function differences(options?: GenerateOptions): Promise<string[]> {
  await using app = await folder.open();
  const { servers, differences: others } = await checkRegistry(app, options);
  return [...servers.flatMap((server) => server.differences), ...others]
    .map(({ path, state }) => `${state} ${path.slice(folder.registry.length + 1)}`)
    .filter(matters);
}

/** Without the files that all tools share. */
const files = () =>
  (readdirSync(folder.registry, { recursive: true }) as string[])
    .filter(
      (name) => /\.\w+$/.test(name) && matters(name) && !/^(?:_runtime\/bridge|package\.json|README\.md)/.test(name),
    )
    .sort();

/** Every file with its text and its time. */
const everything = () =>
  files().map((name) => {
    const path = join(folder.registry, name);
    return [name, readFileSync(path, "utf8"), statSync(path).mtimeMs];
  });

describe("chosenServers", () => {
  const chosen = async (servers: string[], categories: string[] = []) => {
    await using app = await folder.open();
    return await chosenServers(app.config, { servers, categories });
  };
  beforeEach(() => {
    folder.configure({
      shop: { command: "x", category: "business" },
      "my-notes": memory("x"),
      plain: { command: "x" },
      off: { command: "x", disabled: true },
    });
  });

  test("selects by name, by category of the config or the catalog, or by both", async () => {
    expect(await chosen([])).toBeUndefined();
    expect(await chosen(["plain", "shop"])).toEqual(["shop", "plain"]);
    expect(await chosen([], ["knowledge", "business"])).toEqual(["shop", "my-notes"]);
    expect(await chosen([], ["other"])).toEqual(["plain"]);
    expect(await chosen(["shop", "plain"], ["business"])).toEqual(["shop"]);
  });

  test.each<[string[], string[], string, string]>([
    [["shp"], [], 'No server is called "shp"', "Did you mean shop? Available: shop, my-notes, plain."],
    [["off"], [], 'No server is called "off"', "Available: shop, my-notes, plain."],
    [
      [],
      ["busines"],
      'No configured server is in the category "busines"',
      "Did you mean business? Available: business, knowledge, other.",
    ],
    [["shop"], ["other"], "No server matches both filters: shop is in business", "Remove --server or --category."],
  ])("refuses %j %j: %s", async (servers, categories, message, hint) => {
    await expect(chosen(servers, categories)).rejects.toMatchObject({ code: "SERVER_NOT_FOUND", message, hint });
  });
});

test("gen of some servers neither changes nor removes files of the others", async () => {
  const [a, b, gone] = [folder.offering("a", { one: {} }), folder.offering("b", { two: {} }), fixture("lists", "none")];
  folder.configure({ a, b, gone });
  await gen();
  for (const name of files()) utimesSync(join(folder.registry, name), 1_000, 1_000);
  const index = () => JSON.parse(readFileSync(join(folder.registry, "index.json"), "utf8")).servers;
  const before = index();
  folder.offering("a", { three: {} });
  folder.offering("b", { four: {} });
  folder.configure({ a, b, new: b });
  expect(await gen({ only: ["a"], clean: true })).toMatchObject({
    servers: [{ server: "a", tools: 1, removed: 1 }],
    pruned: [],
    cleaned: [],
  });
  expect(files()).toEqual([
    "index.json",
    "other/a/index.ts",
    "other/a/three.ts",
    "other/b/index.ts",
    "other/b/two.ts",
    "other/gone/index.ts",
  ]);
  const changed = files().filter((name) => statSync(join(folder.registry, name)).mtimeMs !== 1_000_000);
  expect(changed).toEqual(["index.json", "other/a/index.ts", "other/a/three.ts"]);
  expect(index().slice(1)).toEqual(before.slice(1));
});

describe("gen --clean", () => {
  test("removes files that belong to no server, but not the user's own files", async () => {
    folder.configure({ shop: folder.offering("shop", { a: {} }), broken: folder.offering("broken", { b: {} }) });
    await gen();
    const text = readFileSync(join(folder.registry, "other", "shop", "a.ts"), "utf8");
    const own = [
      folder.write(".claudikins/registry/other/lost/own.ts", "// mine\n"),
      folder.write(".claudikins/registry/README.md", "mine"),
      folder.write(".claudikins/registry/_runtime/any.ts", text),
      folder.write(".claudikins/registry/notes/deep/er/a.ts", text),
      folder.write(".claudikins/registry/other/shop/notes.md", text),
    ];
    folder.write(".claudikins/registry/other/lost/a.ts", text);
    folder.write(".claudikins/registry/business/shop/a.ts", text);
    // A file of a killed process: no process has this id.
    folder.write(".claudikins/registry/other/shop/a.ts.4194399.1.tmp", "// Gen");
    folder.write(".claudikins/registry/index.json.4194399.2.tmp", "{");
    rmSync(join(folder.path, "tools", "broken.json"));
    expect((await differences({ clean: true })).sort()).toEqual([
      "extra business/shop/a.ts",
      "extra other/lost/a.ts",
      "extra other/shop/a.ts.4194399.1.tmp",
    ]);
    const { cleaned } = await gen({ clean: true });
    expect(cleaned?.map((path) => path.slice(folder.registry.length + 1)).sort()).toEqual([
      "business/shop/a.ts",
      "other/lost/a.ts",
    ]);
    expect(files()).toEqual(
      [
        "index.json",
        "other/broken/b.ts",
        "other/broken/index.ts",
        "other/shop/a.ts",
        "other/shop/index.ts",
        ...own.map((path) => path.slice(folder.registry.length + 1)).filter((name) => name !== "README.md"),
      ].sort(),
    );
    expect(readFileSync(join(folder.registry, "README.md"), "utf8")).toBe("mine");
    expect(readdirSync(folder.registry)).not.toContain("business");
  });

  test("is needed to remove such files", async () => {
    folder.configure({ shop: folder.offering("shop", { a: {} }) });
    await gen();
    const text = readFileSync(join(folder.registry, "other", "shop", "a.ts"), "utf8");
    folder.write(".claudikins/registry/other/lost/a.ts", text);
    expect(await gen()).not.toHaveProperty("cleaned");
    expect(files()).toContain("other/lost/a.ts");
  });
});

describe("gen --check", () => {
  test("lists every change that gen would make, and makes none", async () => {
    const [shop, old] = [folder.offering("shop", { a: {}, b: {}, c: {} }), folder.offering("old", { x: {} })];
    folder.configure({ shop, old, moves: shop });
    expect(await differences({ only: ["shop"] })).toEqual([
      "missing other/shop/index.ts",
      "missing other/shop/a.ts",
      "missing other/shop/b.ts",
      "missing other/shop/c.ts",
      "missing index.json",
      "missing _runtime/bridge.ts",
      "missing _runtime/bridge-code.js",
      "missing package.json",
      "missing README.md",
    ]);
    await gen();
    expect(await differences()).toEqual([]);
    folder.offering("shop", { a: { description: "Another" }, c: {}, d: {} });
    rmSync(join(folder.registry, "other", "shop", "c.ts"));
    folder.write(".claudikins/registry/other/shop/a.ts", "// mine: not a difference\n");
    folder.configure({ shop, moves: { ...shop, category: "business" } });
    const before = everything();
    expect(await differences()).toEqual([
      "stale other/shop/index.ts",
      "missing other/shop/c.ts",
      "missing other/shop/d.ts",
      "extra other/shop/b.ts",
      "missing business/moves/index.ts",
      "missing business/moves/a.ts",
      "missing business/moves/c.ts",
      "missing business/moves/d.ts",
      "extra other/moves/a.ts",
      "extra other/moves/b.ts",
      "extra other/moves/c.ts",
      "extra other/moves/index.ts",
      "stale index.json",
      "extra other/old/index.ts",
      "extra other/old/x.ts",
    ]);
    expect(everything()).toEqual(before);
    await gen();
    expect(await differences()).toEqual([]);
  });

  test("ignores paths and server versions of another machine, but reports a damaged index", async () => {
    const shop = folder.offering("shop", { a: {} });
    folder.configure({ shop: { ...shop, cwd: "/" } });
    await gen();
    folder.configure({ shop });
    expect(await differences()).toEqual([]);
    const index = join(folder.registry, "index.json");
    const text = readFileSync(index, "utf8");
    writeFileSync(index, text.replace('"2025-11-25"', '"2024-11-05"').replace('"version": "1"', '"version": "2"'));
    expect(await differences()).toEqual([]);
    // An index of an older claudikins has neither.
    writeFileSync(index, text.replace(/"protocol": .*\n/, "").replace(/"version": "1",\n/, ""));
    expect(await differences()).toEqual([]);
    writeFileSync(index, text.replace('"2025-11-25"', '["2025-11-25"]'));
    expect(await differences()).toEqual(["stale index.json"]);
    writeFileSync(index, "{");
    const bridge = join(folder.registry, "_runtime", "bridge.ts");
    writeFileSync(bridge, readFileSync(bridge, "utf8").replace("server, tool", "tool, server"));
    writeFileSync(join(folder.registry, "package.json"), '{ "name": "mine" }');
    expect(await differences()).toEqual(["stale index.json", "stale _runtime/bridge.ts"]);
    await gen();
    expect(await differences()).toEqual([]);
  });

  test("reports only the error of a server that fails", async () => {
    folder.configure({ shop: folder.offering("shop", { a: {} }) });
    await gen();
    rmSync(join(folder.path, "tools", "shop.json"));
    await using app = await folder.open();
    expect(await checkRegistry(app)).toMatchObject({
      servers: [{ server: "shop", tools: 0, differences: [], problem: { code: "SERVER_UNAVAILABLE" } }],
      differences: [],
    });
  });
});
