/** gen: the files it writes, and what is kept if a server fails. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type GenerateReport, generate } from "../../../src/tools/generate.ts";
import { search } from "../../../src/tools/search/search.ts";
import { fixture } from "../../support/servers.ts";
import { type Project, project } from "./project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

/** Runs gen like a separate command; returns its report without times and without paths of this machine. */
async function gen(): Promise<GenerateReport> {
  await using app = await folder.open();
  const report = await generate(app);
  return JSON.parse(JSON.stringify(report).replaceAll(folder.path, "PROJECT"), (key, value) =>
    key === "durationMs" ? 0 : value,
  );
}

/** The index and the modules of servers, without the files they share and without declarations for programs. */
const files = () =>
  (readdirSync(folder.registry, { recursive: true }) as string[])
    .filter((name) => /\.\w+$/.test(name) && !/^(?:_runtime|package\.json|README\.md)|\.d\.ts$/.test(name))
    .sort();

/** The files of a server with these tools. */
const inShop = (path: string, ...tools: string[]) =>
  ["client", "example", "index", ...tools].map((name) => `${path}/${name}.ts`);

async function found(query: string): Promise<string[]> {
  await using app = await folder.open();
  return search(query, 10, app.catalog).tools.map(({ id }) => id);
}

const nothing = { tools: 0, durationMs: 0, written: 0, removed: 0, collisions: [], kept: [] };

test("every server is asked, and a failure does not affect the others", async () => {
  folder.configure({
    shop: { ...folder.offering("shop", { list: {}, "get-one": {} }), category: "business" },
    broken: fixture("crash-on-start"),
    needy: { command: "x", env: { KEY: `\${NOT_SET}` } },
    far: { type: "http", url: "http://127.0.0.1:1" },
    empty: fixture("lists", "none"),
    off: { command: "x", disabled: true },
  });
  expect(await gen()).toEqual({
    folder: "PROJECT/.claudikins/registry",
    servers: [
      { server: "shop", ...nothing, tools: 2, written: 7 },
      {
        server: "broken",
        ...nothing,
        problem: {
          code: "SERVER_UNAVAILABLE",
          message: expect.stringContaining('Server "broken" did not start: its process exited with code 3'),
          hint: expect.any(String),
        },
      },
      {
        server: "needy",
        ...nothing,
        problem: {
          code: "NEEDS_VARIABLE",
          message: 'Server "needy" needs NOT_SET in the environment',
          hint: expect.any(String),
        },
      },
      {
        server: "far",
        ...nothing,
        problem: {
          code: "SERVER_UNAVAILABLE",
          message: 'Server "far" cannot be used: nothing listens at http://127.0.0.1:1',
          hint: expect.any(String),
        },
      },
      { server: "empty", ...nothing, written: 3 },
    ],
    pruned: [],
  });
  expect(files()).toEqual([
    "business/shop/client.ts",
    "business/shop/example.ts",
    "business/shop/get_one.ts",
    "business/shop/index.ts",
    "business/shop/list.ts",
    "index.json",
    "other/empty/index.ts",
  ]);
  const index = JSON.parse(readFileSync(join(folder.registry, "index.json"), "utf8"));
  // Their names say that they read, and not whose data it is.
  const labels = ["untrusted"];
  expect(index).toEqual({
    version: 1,
    servers: [
      {
        name: "empty",
        jsName: "empty",
        category: "other",
        description: "",
        folder: "other/empty",
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
        protocol: "2025-11-25",
        version: "1",
        tools: [],
      },
      {
        name: "shop",
        jsName: "shop",
        category: "business",
        description: "",
        folder: "business/shop",
        fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/),
        protocol: "2025-11-25",
        version: "1",
        tools: [
          { name: "get-one", jsName: "get_one", description: "", inputSchema: { type: "object" }, labels },
          { name: "list", jsName: "list", description: "", inputSchema: { type: "object" }, labels },
        ],
      },
    ],
  });
});

test("a second run writes nothing", async () => {
  folder.configure({ shop: folder.offering("shop", { list: {} }) });
  await gen();
  const before = readFileSync(join(folder.registry, "index.json"), "utf8");
  expect((await gen()).servers).toEqual([{ server: "shop", ...nothing, tools: 1 }]);
  expect(readFileSync(join(folder.registry, "index.json"), "utf8")).toBe(before);
});

test("added and removed tools, and changed categories and names, change the files", async () => {
  const entry = folder.offering("shop", { one: {}, two: {} });
  folder.configure({ shop: entry });
  await gen();
  folder.offering("shop", { two: {}, three: {} });
  expect((await gen()).servers).toEqual([{ server: "shop", ...nothing, tools: 2, written: 6, removed: 1 }]);
  expect(files()).toEqual(["index.json", ...inShop("other/shop", "three", "two")]);

  folder.configure({ shop: { ...entry, category: "business" } });
  expect((await gen()).servers).toEqual([{ server: "shop", ...nothing, tools: 2, written: 7, removed: 7 }]);
  expect(files()).toEqual([...inShop("business/shop", "three", "two"), "index.json"]);
  expect(readdirSync(folder.registry).sort()).toEqual([
    "README.md",
    "_runtime",
    "business",
    "globals.d.ts",
    "index.json",
    "package.json",
  ]);

  // Only the case differs: the old folder is removed before the new one is written.
  folder.configure({ Shop: { ...entry, category: "business" } });
  expect(await gen()).toMatchObject({ servers: [{ server: "Shop", tools: 2 }], pruned: ["shop"] });
  expect(files()).toEqual([...inShop("business/Shop", "three", "two"), "index.json"]);
});

test("the known tools of a server survive its failure", async () => {
  const entry = folder.offering("shop", { refund: {} });
  folder.configure({ shop: entry, other: folder.offering("other", { x: {} }) });
  await gen();
  const before = files();
  rmSync(join(folder.path, "tools", "shop.json"));
  expect((await gen()).servers.map(({ server, problem }) => [server, problem?.code])).toEqual([
    ["shop", "SERVER_UNAVAILABLE"],
    ["other", undefined],
  ]);
  expect(files()).toEqual(before);
  expect(await found("refund")).toEqual(["shop.refund"]);
});

test("a server that left the config is removed, but the user's files stay", async () => {
  const [shop, old] = [folder.offering("shop", { a: {} }), folder.offering("old", { b: {} })];
  folder.configure({ shop, old });
  await gen();
  folder.write(".claudikins/registry/other/old/notes.ts", "// mine\n");
  const own = folder.write(".claudikins/registry/other/shop/a.ts", "// mine too\n");
  folder.configure({ shop });
  expect(await gen()).toMatchObject({
    pruned: ["old"],
    servers: [{ server: "shop", kept: ["PROJECT/.claudikins/registry/other/shop/a.ts"] }],
  });
  expect(files()).toEqual(["index.json", "other/old/notes.ts", "other/shop/a.ts", ...inShop("other/shop")]);
  expect(readFileSync(own, "utf8")).toBe("// mine too\n");
  expect(await found("b")).toEqual([]);
});

test("a damaged index is an error for search, and gen repairs it", async () => {
  folder.configure({ shop: folder.offering("shop", { refund: {} }) });
  await gen();
  writeFileSync(join(folder.registry, "index.json"), "{");
  await expect(found("refund")).rejects.toMatchObject({
    code: "REGISTRY_INVALID",
    hint: "Regenerate it: claudikins gen",
  });
  expect((await gen()).servers).toEqual([{ server: "shop", ...nothing, tools: 1 }]);
  expect(await found("refund")).toEqual(["shop.refund"]);
});

test("a registry that cannot be written is a problem of each server", async () => {
  folder.configure({ shop: folder.offering("shop", { a: {} }) });
  mkdirSync(join(folder.path, ".claudikins"));
  writeFileSync(folder.registry, "a file");
  expect((await gen()).servers).toMatchObject([{ server: "shop", problem: { code: "FILE_NOT_WRITABLE" } }]);
});

describe("names", () => {
  test("servers that would share a folder get unique folders and keep them", async () => {
    const tools = folder.offering("shop", { a: {} });
    folder.configure({ "my shop": tools, "my/shop": tools, MY_SHOP: tools, "../../up": tools, ["__proto__"]: tools });
    await gen();
    const folders = () => readdirSync(join(folder.registry, "other"));
    const first = folders();
    expect(first.map((name) => name.toLowerCase()).sort()).toEqual([
      "__.._up",
      "__proto__",
      "my_shop",
      "my_shop_2",
      "my_shop_3",
    ]);
    expect((await gen()).servers.map(({ written }) => written)).toEqual([0, 0, 0, 0, 0]);
    expect(folders().sort()).toEqual(first.sort());
  });

  test("tools with the same name in code are reported, and each has its own file", async () => {
    folder.configure({ shop: folder.offering("shop", { "get-sum": {}, get_sum: {}, "get sum": {}, index: {} }) });
    expect((await gen()).servers).toEqual([
      { server: "shop", ...nothing, tools: 4, written: 9, collisions: [["get sum", "get-sum", "get_sum"]] },
    ]);
    expect(files().length).toBe(8);
  });
});
