/** What calls teach: the shapes of results appear in searches and generated files, in other processes too, and no value does. */
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { App } from "../../../src/app/app.ts";
import { execute } from "../../../src/programs/execute.ts";
import { callSearchTools } from "../../../src/serve/tools/search-tools.ts";
import { generate } from "../../../src/tools/generate.ts";
import { search } from "../../../src/tools/search/search.ts";
import { cli } from "../../cli/in-memory.ts";
import { claudikinsCommand } from "../../support/command.ts";
import { runProgram } from "../../support/process.ts";
import { temporaryFolder } from "../../support/temporary.ts";
import { type Project, project } from "../generation/project.ts";

// Processes start slowly on a small machine.
setDefaultTimeout(60_000);

let folder: Project;
beforeEach(() => {
  folder = project();
});
afterEach(() => folder[Symbol.dispose]());

const observedFile = () => join(folder.registry, "observed.json");

/** Every file below a folder, with its name. */
function textsIn(path: string): string[] {
  const names = existsSync(path) ? (readdirSync(path, { recursive: true }) as string[]) : [];
  return names.flatMap((name) => [
    name,
    ...(statSync(join(path, name)).isFile() ? [readFileSync(join(path, name), "latin1")] : []),
  ]);
}

async function run(source: string, app: App): Promise<void> {
  expect(await execute({ source }, app)).toMatchObject({ ok: true });
}

const resultOf = (app: App, tool: string) =>
  /: (Promise<.*)$/.exec(search(`shop.${tool}`, 1, app.catalog).tools[0]?.signature ?? "")?.[1];

/** A tool with these results; the argument `at` selects one. */
const giving = (...results: object[]) => ({
  inputSchema: { type: "object", properties: { at: { type: "integer" } } },
  _results: results,
});
const structured = (value: unknown) => ({ content: [], structuredContent: value });
const text = (value: unknown) => ({
  content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) }],
});

describe("the demo", () => {
  const shape =
    "Promise<{ orders: { id: string; customer_id: string; status: string; created_at: string; country: string; total_cents: number; currency: string; items: number }[]; total: number; next_cursor: string | null }> /* observed */";

  test("the next search shows the shape of list_orders, but no values", async () => {
    using home = temporaryFolder();
    const go = (...argv: string[]) => cli(argv, { cwd: home.path, terminal: false });
    const code = `
      const all = (await demo.list_orders()).orders, { orders } = await demo.list_orders({ limit: 5 });
      return all.flatMap((order) => [order.id, order.customer_id, order.created_at, order.total_cents])`;
    const before = await go("search", "demo.list_orders", "--json");
    expect(JSON.parse(before.stdout).tools[0].signature).not.toContain("observed");
    const { stdout, exitCode } = await go("exec", "-e", code);
    expect(exitCode).toBe(0);
    const values = (JSON.parse(stdout) as (string | number)[]).map(String).filter((value) => value.length > 5);
    expect(values.length).toBeGreaterThan(7_000);
    const found = await go("search", "demo.list_orders", "--json", "--limit", "50");
    expect(JSON.parse(found.stdout).tools[0].signature).toEndWith(shape);
    const texts = [...textsIn(home.path), found.stdout, (await go("search", "list orders")).stdout];
    // Thousands of searches in all these texts would take ten seconds.
    const kept = new Set(texts.flatMap((text) => text.split(/[^\w:.-]+/)));
    expect(kept).toContain("total_cents");
    // The descriptions of other tools contain an order and a customer as examples.
    const examples = new Set(["ord_00042", "cus_0007"]);
    expect(values.filter((value) => !examples.has(value) && kept.has(value))).toEqual([]);
  });

  test("shapes are learned from every way to call a tool", async () => {
    folder.write("claudikins.json", {});
    using home = temporaryFolder();
    const code = `
      await demo.list_tickets.raw({ status: "open" });
      await callTool("demo", "list_products", {});
      await __mcp_call("demo__get_order", { order_id: "ord_00042" });
      const { get_customer } = servers.demo;
      await get_customer({ customer_id: "cus_0007" });`;
    expect(await cli(["exec", "-e", code], { cwd: home.path })).toMatchObject({ exitCode: 0 });
    const found = await cli(["search", "server:demo", "--json", "--limit", "50"], { cwd: home.path });
    const tools = JSON.parse(found.stdout).tools as { name: string; signature: string }[];
    const observed = tools.filter(({ signature }) => signature.endsWith("/* observed */")).map(({ name }) => name);
    // list_products has a schema for its results.
    expect(observed.sort()).toEqual(["get_customer", "get_order", "list_tickets"]);
  });
});

describe("observed shapes", () => {
  test("are merged over calls, shown by the program's next search, and written beside the tool", async () => {
    folder.configure({
      shop: folder.offering("shop", { find: giving(text({ a: 1 }), text({ a: null, b: "x" }), text("no")) }),
    });
    await using app = await folder.open();
    await run("await shop.find({ at: 0 })", app);
    expect(resultOf(app, "find")).toBe("Promise<{ a: number }> /* observed */");
    await run("await shop.find({ at: 1 }); await shop.find.raw({ at: 2 })", app);
    const merged = "Promise<string | { a: number | null; b?: string }> /* observed */";
    expect(resultOf(app, "find")).toBe(merged);
    const { content } = await callSearchTools({ query: "find" }, app, new AbortController().signal);
    expect(content).toMatchObject([{ text: expect.stringContaining(merged) }]);
    const outcome = await execute({ source: `return tools.describe("shop.find")` }, app);
    expect(outcome).toMatchObject({ ok: true, value: { observed: { type: ["string", "object"] } } });
    await app.catalog.observer.flush();
    expect(readFileSync(join(folder.registry, "other", "shop", "find.ts"), "utf8")).toContain("/* observed */");
    await using other = await folder.open();
    expect(resultOf(other, "find")).toBe(merged);
    expect(readFileSync(join(folder.registry, "index.json"), "utf8")).not.toContain("observed");
  });

  test("are written beside the tool of a server with many tools", async () => {
    const many = Object.fromEntries(Array.from({ length: 600 }, (_, at) => [`tool_${at}`, giving(text("ok"))]));
    folder.configure({ shop: folder.offering("shop", { ...many, find: giving(text({ rows: [1] })) }) });
    {
      await using app = await folder.open();
      await generate(app);
      await run("await shop.find({ at: 0 })", app);
    }
    for (const name of ["find.ts", "server-global.d.ts"]) {
      const written = readFileSync(join(folder.registry, "other", "shop", name), "utf8");
      expect([name, written]).toEqual([name, expect.stringContaining("rows: number[]")]);
    }
  });

  test("are not kept for failures and for tools with an outputSchema, and are kept for unusual results", async () => {
    const outputSchema = { type: "object", properties: { a: { type: "number" } } };
    folder.configure({
      shop: folder.offering("shop", {
        fail: giving({ ...text("no such thing"), isError: true }),
        typed: { ...giving(structured({ a: 1, more: 2 })), outputSchema },
        image: giving({ content: [{ type: "image", data: "AAAA", mimeType: "image/png" }] }),
        empty: giving({ content: [] }),
        legacy: giving({ toolResult: { a: 1 } }),
      }),
    });
    await using app = await folder.open();
    await run(
      "await shop.fail({ at: 0 }).catch(() => {}); for (const tool of ['typed', 'image', 'empty']) await shop[tool]({ at: 0 })",
      app,
    );
    const results = ["fail", "typed", "image", "empty"].map((tool) => resultOf(app, tool));
    expect(results).toEqual([
      "Promise<unknown>",
      "Promise<{ a?: number }>",
      "Promise<{ type: string; data: string; mimeType: string }[]> /* observed */",
      "Promise<unknown[]> /* observed */",
    ]);
  });

  test("survive gen and reordering, and are removed when the tool's arguments or the entry change", async () => {
    const tools = { find: giving(structured({ a: 1 })), other: {} };
    folder.configure({ shop: folder.offering("shop", tools) });
    const see = async () => {
      await using app = await folder.open();
      await generate(app);
      return resultOf(app, "find");
    };
    await using app = await folder.open();
    await run("await shop.find({ at: 0 })", app);
    await app.catalog.observer.flush();
    const observed = "Promise<{ a: number }> /* observed */";
    expect(await see()).toBe(observed);
    folder.offering("shop", { ...tools, more: {} });
    expect(await see()).toBe(observed);
    folder.offering("shop", {
      find: { ...giving(), description: "New words", inputSchema: { type: "object", properties: {} } },
    });
    expect(await see()).toBe("Promise<unknown>");
    folder.offering("shop", tools);
    expect(await see()).toBe(observed);
    folder.configure({ shop: { ...folder.offering("shop", tools), category: "business" } });
    expect(await see()).toBe("Promise<unknown>");
  });

  test("do not make generated files stale", async () => {
    folder.configure({ shop: folder.offering("shop", { find: giving(structured({ a: 1 })), other: {} }) });
    const go = async (...argv: string[]) => (await cli(argv, { cwd: folder.path })).exitCode;
    expect(await go("gen")).toBe(0);
    expect(await go("exec", "-e", "await shop.find({ at: 0 })")).toBe(0);
    expect(readFileSync(join(folder.registry, "other", "shop", "find.ts"), "utf8")).toContain("/* observed */");
    expect(await go("gen", "--check")).toBe(0);
  });

  test("contain what all concurrent processes saw", async () => {
    const names = ["a", "b", "c", "d", "e"];
    const entry = folder.offering(
      "shop",
      Object.fromEntries(names.map((name) => [name, giving(structured({ [`${name}x`]: 1 }))])),
    );
    folder.configure({ shop: entry });
    await using first = await folder.open();
    await generate(first);
    const command = (name: string) => [...claudikinsCommand, "exec", "-e", `await shop.${name}({ at: 0 })`];
    const ended = await Promise.all(names.map((name) => runProgram(command(name), { cwd: folder.path })));
    expect(ended.map(({ exitCode }) => exitCode)).toEqual(names.map(() => 0));
    // An app that was open all the time.
    expect(names.map((name) => resultOf(first, name))).toEqual(
      names.map((name) => `Promise<{ ${name}x: number }> /* observed */`),
    );
  });

  test("are not kept if observe is false, and gen removes those that were kept", async () => {
    const servers = { shop: folder.offering("shop", { find: giving(structured({ a: 1 })) }) };
    const go = async () => {
      await using app = await folder.open();
      await run("await shop.find({ at: 0 })", app);
      return resultOf(app, "find");
    };
    folder.write("claudikins.json", { mcpServers: servers, observe: false });
    expect(await go()).toBe("Promise<unknown>");
    expect(existsSync(observedFile())).toBe(false);
    folder.configure(servers);
    expect(await go()).toContain("observed");
    expect(existsSync(observedFile())).toBe(true);
    folder.write("claudikins.json", { mcpServers: servers, observe: false });
    expect(await go()).toBe("Promise<unknown>");
    await using app = await folder.open();
    await generate(app);
    expect(textsIn(folder.registry).join("\n")).not.toContain("/* observed */");
    expect(existsSync(observedFile())).toBe(false);
  });

  test.each([
    "",
    "{",
    "[]",
    '{"version":1}',
    '{"version":1,"servers":[{"name":"shop","tools":[{"shape":5}]}]}',
    '{"version":0,"servers":[]}',
  ])("are learned again if the file is damaged: %s", async (damaged) => {
    folder.configure({ shop: folder.offering("shop", { find: giving(structured({ a: 1 })) }) });
    folder.write(".claudikins/registry/observed.json", "x");
    writeFileSync(observedFile(), damaged);
    await using app = await folder.open();
    await run("await shop.find({ at: 0 })", app);
    expect(resultOf(app, "find")).toContain("observed");
    await app.catalog.observer.flush();
    expect(JSON.parse(readFileSync(observedFile(), "utf8"))).toMatchObject({ version: 1, servers: [{ name: "shop" }] });
  });

  test("are kept in this process if the registry cannot be written", async () => {
    folder.configure({ shop: folder.offering("shop", { find: giving(structured({ a: 1 })) }) });
    folder.write(".claudikins/registry", "a file");
    await using app = await folder.open();
    await run("await shop.find({ at: 0 })", app);
    expect(resultOf(app, "find")).toContain("observed");
  });
});

describe("values", () => {
  const mark = "q7Zmark";

  /** Numbers that look random and are the same each time. */
  function randomOf(seed: number) {
    let state = seed;
    return (below: number) => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((state / 2_147_483_648) * below);
    };
  }

  /** Anything, with the mark in every text, every number's digits and every key that is data. */
  function anything(random: (below: number) => number, depth: number): unknown {
    const dataKeys = [
      `${mark}@example.com`,
      `${mark} Kowalski`,
      `2025-01-0${mark}`,
      `ord_00042${mark}`,
      `550e8400-e29b-41d4-a716-${mark}`,
      `https://example.com/${mark}`,
      `${mark}.example.com`,
      `+49 ${mark}`,
      `id:${mark}`,
      `10${mark}`,
      `${mark}_12345`,
    ];
    const fieldKeys = ["id", "name", "items", "total", "createdAt", "by_id", "tags", "meta"];
    const values = [
      () => `${mark}${random(1000)}`,
      () => 777_123_456_789 + random(5),
      () => null,
      () => random(2) === 0,
      () => Array.from({ length: random(4) }, () => anything(random, depth - 1)),
      () =>
        Object.fromEntries(
          Array.from({ length: random(5) }, () => [fieldKeys[random(8)]!, anything(random, depth - 1)]),
        ),
      () =>
        Object.fromEntries(
          Array.from({ length: 1 + random(5) }, () => [
            dataKeys[random(dataKeys.length)]!,
            anything(random, depth - 1),
          ]),
        ),
      () => Object.fromEntries([dataKeys, fieldKeys].map((keys) => [keys[random(8)]!, anything(random, depth - 1)])),
    ];
    return values[random(depth > 0 ? values.length : 4)]!();
  }

  test("random data is never written to the registry or shown by search, and neither are keys that look like data", async () => {
    const random = randomOf(7);
    const results = Array.from({ length: 24 }, (_, at) => {
      const value = { items: anything(random, 4), by_id: anything(random, 3) };
      return [structured(value), text(value), text(`${mark} is here`)][at % 3]!;
    });
    folder.configure({ shop: folder.offering("shop", { one: giving(...results), two: giving(...results) }) });
    const code = `
      const shown = [];
      for (let at = 0; at < 24; at++) {
        await shop.one({ at });
        await shop.two.raw({ at });
        shown.push(await tools.search("shop"));
      }
      return [shown, await tools.describe("shop.one"), await tools.list("shop")]`;
    const shown: string[] = [];
    {
      await using app = await folder.open();
      const outcome = await execute({ source: code }, app);
      expect(outcome.ok).toBe(true);
      const { content } = await callSearchTools({ query: "one" }, app, new AbortController().signal);
      shown.push(JSON.stringify(outcome), JSON.stringify(search("shop", 9, app.catalog)), JSON.stringify(content));
    }
    expect(shown.at(-1)).toContain("observed");
    const kept = [...textsIn(folder.registry), ...shown].join("\n");
    expect(kept).toContain("by_id");
    expect(kept.match(/q7Zmark|kowalski|777123|00042|550e|example\.com/gi)).toBeNull();
  });

  test("arguments that the result repeats are not fields of its shape", async () => {
    const balances = { ...giving(structured({ anna: 3, bert: 5 })), inputSchema: { type: "object" } };
    folder.configure({ shop: folder.offering("shop", { balances }) });
    await using app = await folder.open();
    await run(`await shop.balances({ at: 0, users: ["anna", "bert"] })`, app);
    expect(resultOf(app, "balances")).toBe("Promise<Record<string, number>> /* observed */");
  });
});
