/** What code and search see of servers: working names, shared answers, and separate failures. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { App } from "../../src/app/app.ts";
import { execute } from "../../src/programs/execute.ts";
import { generate } from "../../src/tools/generate.ts";
import { sandboxGlobals } from "../../src/tools/names.ts";
import { search } from "../../src/tools/search/search.ts";
import { fixture } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

/** The value of the code, or its error. */
async function run(source: string, app: App): Promise<unknown> {
  const outcome = await execute({ source }, app);
  if (outcome.ok) return outcome.value;
  const { code, message, hint } = outcome.error;
  return { code, message, hint };
}

const tool = (name: string) => ({ [name]: {} });

describe("names", () => {
  test("in every example that search shows call the right tool, whatever it and its server are called", async () => {
    const odd = folder.offering("odd", {
      ...tool("export"),
      ...tool("API-get-user"),
      ...tool("Help"),
      ...tool("get-thing"),
      ...tool("get_thing"),
      ...tool("constructor"),
      ...tool("two words"),
      ...tool("日本語"),
      ...tool("2fa"),
      ...tool("a/b"),
      ...tool('quote"s'),
      keywords: {
        inputSchema: {
          type: "object",
          properties: {
            function: { type: "string" },
            "resource-group": { type: "string" },
            default: { type: "number" },
          },
          required: ["function", "resource-group", "default"],
        },
      },
    });
    const one = folder.offering("one", tool("go"));
    // Each of these servers would hide a global, has another server's name, or is not an identifier.
    const servers = ["fs", "console", "new", "my-shop", "my_shop", "memory", "a b", "Array"];
    const labels: string[] = [];
    folder.configure({
      odd: { ...odd, labels },
      ...Object.fromEntries(servers.map((name) => [name, { ...one, labels }])),
    });
    await using app = await folder.open();
    await generate(app);
    const { index } = app.catalog;
    const ids = index.servers.flatMap(({ name, tools }) => tools.map((each) => `${name}.${each.name}`));
    expect(ids.length).toBe(12 + servers.length);

    const examples = [...search("server:odd", 50, app.catalog).tools, ...search("go", 50, app.catalog).tools];
    const shown = Object.fromEntries(examples.map(({ id, example }) => [id, example]));
    expect(Object.keys(shown).sort()).toEqual(ids.sort());
    const code = Object.entries(shown).map(([id, example]) => `[${JSON.stringify(id)}]: ${example}`);
    const values = (await run(`return { ${code.join(",\n")} }`, app)) as Record<string, { name: string }>;
    const called = Object.entries(values).map(([id, { name }]) => [id, name]);
    expect(called).toEqual(Object.keys(shown).map((id) => [id, id.slice(id.indexOf(".") + 1)]));
    expect(values["odd.keywords"]).toEqual({
      name: "keywords",
      arguments: { function: "function", "resource-group": "resource-group", default: 1 },
    } as never);
    expect(shown).toMatchInlineSnapshot(`
      {
        "Array.go": "await servers["Array"].go()",
        "a b.go": "await a_b.go()",
        "console.go": "await servers["console"].go()",
        "fs.go": "await servers["fs"].go()",
        "memory.go": "await memory.go()",
        "my-shop.go": "await servers["my-shop"].go()",
        "my_shop.go": "await my_shop.go()",
        "new.go": "await servers["new"].go()",
        "odd.2fa": "await odd._2fa()",
        "odd.API-get-user": "await odd.API_get_user()",
        "odd.Help": "await odd.Help()",
        "odd.a/b": "await odd.a_b()",
        "odd.constructor": "await odd.constructor()",
        "odd.export": "await odd.export()",
        "odd.get-thing": "await odd["get-thing"]()",
        "odd.get_thing": "await odd.get_thing()",
        "odd.keywords": "await odd.keywords({ function: "function", "resource-group": "resource-group", default: 1 })",
        "odd.quote\\"s": "await odd.quote_s()",
        "odd.two words": "await odd.two_words()",
        "odd.日本語": "await odd.日本語()",
      }
    `);
  });

  test("do not hide any global of the sandbox", async () => {
    folder.configure({});
    await using app = await folder.open();
    const globals = (await run("return Object.getOwnPropertyNames(globalThis)", app)) as string[];
    expect(globals.length).toBeGreaterThan(50);
    // These globals only report that they are missing: a server of that name replaces them.
    const standIns = ["fetch", "XMLHttpRequest", "WebSocket", "EventSource", "Worker"];
    expect(globals.filter((name) => !sandboxGlobals.has(name))).toEqual(standIns);
  });

  test("change when a new server takes them", async () => {
    const one = folder.offering("one", tool("go"));
    folder.configure({ "my-shop": one });
    {
      await using app = await folder.open();
      await generate(app);
      expect(search("go", 5, app.catalog).tools.map(({ example }) => example)).toEqual(["await my_shop.go()"]);
    }
    folder.configure({ "my-shop": one, my_shop: one });
    await using app = await folder.open();
    expect(search("go", 5, app.catalog)).toMatchObject({
      tools: [{ example: 'await servers["my-shop"].go()' }],
      notIndexed: ["my_shop"],
      outdated: ["my-shop"],
    });
  });
});

describe("failures in code", () => {
  test("name their server and the next step", async () => {
    folder.configure({
      shop: folder.offering("shop", { list_orders: {}, get_order: {} }),
      large: folder.offering("large", Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`tool${i}`, {}]))),
      bare: folder.offering("bare", {}),
      far: { url: "http://127.0.0.1:1" },
      needy: { command: "x", env: { A: `\${NOT_SET}` } },
      broken: fixture("crash-on-start"),
    });
    await using app = await folder.open();
    const code = (call: string) =>
      `${call}.then((value) => value.name, ({ name, code, message, hint }) => [name, code, message, hint])`;
    const calls = [
      'callTool("sh" + "op", "list_orders", {})',
      'callTool("sh" + "op", "listOrder", {})',
      'callTool("sh" + "op", "zzz", {})',
      'callTool("lar" + "ge", "zzz", {})',
      'callTool("ba" + "re", "zzz", {})',
      'callTool("fa" + "r", "x", {})',
      'callTool("nee" + "dy", "x", {})',
      'callTool("bro" + "ken", "x", {})',
    ];
    // The code computes these names, so the servers are asked by the call itself.
    const source = `return Promise.all([${calls.map(code).join(", ")}])`;
    expect(await run(source, app)).toMatchInlineSnapshot(`
      [
        "list_orders",
        [
          "ToolError",
          "TOOL_NOT_FOUND",
          "shop has no tool "listOrder"",
          "Did you mean list_orders or get_order?",
        ],
        [
          "ToolError",
          "TOOL_NOT_FOUND",
          "shop has no tool "zzz"",
          "Its tools: get_order, list_orders",
        ],
        [
          "ToolError",
          "TOOL_NOT_FOUND",
          "large has no tool "zzz"",
          "Its tools: tool0, tool1, tool10, tool11, tool12, tool13, tool14, tool15, tool16, tool17, tool18, tool19, tool2, tool20, tool21, tool22, tool23, tool24, tool25, tool26 and 10 more",
        ],
        [
          "ToolError",
          "TOOL_NOT_FOUND",
          "bare has no tool "zzz"",
          "It has no tools.",
        ],
        [
          "ToolError",
          "SERVER_UNAVAILABLE",
          "Server "far" cannot be used: nothing listens at http://127.0.0.1:1",
          "Start it, or correct "url" in the config.",
        ],
        [
          "ToolError",
          "NEEDS_VARIABLE",
          "Server "needy" needs NOT_SET in the environment",
          "Set NOT_SET before starting claudikins, or add a default to the config: \${NOT_SET:-value}.",
        ],
        [
          "ToolError",
          "SERVER_UNAVAILABLE",
          
      "Server "broken" did not start: its process exited with code 3
        | warming up
        | fatal: no database at db://nowhere"
      ,
          "Run its command from the config by hand to see more.",
        ],
      ]
    `);
  });

  test("do not include a registry that is damaged or cannot be written", async () => {
    folder.configure({ shop: folder.offering("shop", tool("go")) });
    await using first = await folder.open();
    await first.catalog.list("shop");
    writeFileSync(`${folder.registry}/index.json`, "[]");
    await using app = await folder.open();
    const outcome = await execute({ source: "return typeof shop.go" }, app);
    expect(outcome).toMatchObject({ ok: true, value: "function" });
    // The tools that were listed for it repaired the index too.
    expect(JSON.parse(readFileSync(`${folder.registry}/index.json`, "utf8")).servers).toHaveLength(1);

    rmSync(folder.registry, { recursive: true });
    writeFileSync(folder.registry, "a file where the folder should be");
    await using blocked = await folder.open();
    expect(await execute({ source: "return typeof shop.go" }, blocked)).toMatchObject({ ok: true, value: "function" });
  });
});

describe("search", () => {
  test("returns what is needed to call a tool", async () => {
    folder.configure({
      shop: folder.offering("shop", {
        refund_order: {
          description: "Pays an order back. Cannot be undone.",
          inputSchema: { type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] },
        },
        other: { title: "Has only a title" },
      }),
    });
    await using app = await folder.open();
    expect(search("refund", 5, app.catalog)).toEqual({
      query: "refund",
      tools: [],
      searched: 0,
      notIndexed: ["shop"],
      outdated: [],
    });
    await generate(app);
    expect(search("refund", 5, app.catalog)).toEqual({
      query: "refund",
      tools: [
        {
          kind: "tool",
          id: "shop.refund_order",
          server: "shop",
          name: "refund_order",
          description: "Pays an order back. Cannot be undone.",
          signature: "shop.refund_order(args: { order_id: string }): Promise<unknown>",
          example: 'await shop.refund_order({ order_id: "order_id" })',
          score: expect.any(Number),
        },
      ],
      searched: 2,
      notIndexed: [],
      outdated: [],
    });
    expect(search("title", 5, app.catalog).tools.map(({ description }) => description)).toEqual(["Has only a title"]);
  });
});
