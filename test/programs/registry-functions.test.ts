/** The functions by which code finds tools. */
import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { execute } from "../../src/programs/execute.ts";
import { callSearchTools } from "../../src/serve/tools/search-tools.ts";
import { processesWith } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type Project, project } from "../tools/generation/project.ts";

setDefaultTimeout(60_000);

let folder: Project;
beforeEach(async () => {
  folder = project();
  const refund = {
    description: "Pays an order back. Cannot be undone.",
    inputSchema: { type: "object", properties: { order_id: { type: "string" } }, required: ["order_id"] },
    annotations: { destructiveHint: true },
  };
  folder.configure({
    "my-shop": folder.offering("my-shop", { "refund-order": refund, list: {} }),
    other: folder.offering("other", {}),
  });
  await using app = await folder.open();
  await Promise.all([app.catalog.list("my-shop"), app.catalog.list("other")]);
});
afterEach(() => folder[Symbol.dispose]());

async function run(source: string) {
  await using app = await folder.open();
  const outcome = await execute({ source }, app);
  expect(processesWith(folder.path)).toEqual([]);
  return outcome;
}

test("search, describe and list return tools", async () => {
  const call = "my_shop.refund_order(args: { order_id: string }): Promise<unknown>";
  const example = 'await my_shop.refund_order({ order_id: "order_id" })';
  expect(await run('return tools.search("refund an order", 1)')).toMatchObject({
    ok: true,
    value: [
      { id: "my-shop.refund-order", description: "Pays an order back. Cannot be undone.", signature: call, example },
    ],
    // They are not tool calls.
    receipt: { calls: 0 },
  });
  expect(await run('return tools.describe("my_shop.refund_order")')).toMatchObject({
    value: {
      id: "my-shop.refund-order",
      description: "Pays an order back. Cannot be undone.",
      annotations: { destructiveHint: true },
    },
  });
  expect(await run("return tools.list()")).toMatchObject({
    value: [
      { server: "my-shop", tools: ["list", "refund_order"] },
      { server: "other", tools: [] },
    ],
  });
  expect(await run('return (await tools.list("my-shop")).map(({ id }) => id)')).toMatchObject({
    value: ["my-shop.list", "my-shop.refund-order"],
  });
});

test.each([
  ["tools.search({ query: 'x' })", "INVALID_ARGUMENTS", undefined],
  ["tools.describe('my-shop.refund_orders')", "TOOL_NOT_FOUND", "Did you mean my-shop.refund-order?"],
  ["tools.list('my_shops')", "SERVER_NOT_FOUND", "Did you mean my-shop?"],
])("%s fails with the expected error", async (source, code, hint) => {
  expect(await run(`await ${source}`)).toMatchObject({ ok: false, error: { code, ...(hint ? { hint } : {}) } });
});

test("search asks unknown servers, and names those that do not answer", async () => {
  folder.configure({
    "my-shop": folder.offering("my-shop", { "count-stock": { description: "Counts what lies in the store." } }),
    fresh: folder.offering("fresh", { "count-tickets": { description: "Counts open tickets." } }),
    broken: fixture("crash-on-start"),
  });
  await using app = await folder.open();
  const outcome = await execute(
    { source: 'return [(await tools.search("count tickets")).map(({ id }) => id), await tools.list()]' },
    app,
  );
  expect(outcome).toMatchObject({
    ok: true,
    value: [
      ["fresh.count-tickets"],
      [{ server: "my-shop" }, { server: "fresh", tools: ["count_tickets"] }, { server: "broken", tools: [] }],
    ],
    logs: [{ level: "warn", text: expect.stringContaining("tools.search: broken was not searched: ") }],
  });
  const problem = (outcome as unknown as { value: [unknown, { problem: string }[]] }).value[1][2]?.problem;
  expect(problem).toMatch(
    /^did not start: its process exited with code 3; (?:retried|can be retried) .*\. Run its command from the config/,
  );
});

test("stored servers that cannot be called say why", async () => {
  const entry = { ...folder.offering("my-shop", { "refund-order": {} }), env: { TOKEN: "t" } };
  const gone = folder.offering("gone", { list: {} });
  folder.configure({ "my-shop": entry, gone });
  await using before = await folder.open();
  await Promise.all([before.catalog.list("my-shop"), before.catalog.list("gone")]);

  folder.configure({ "my-shop": { ...entry, env: { TOKEN: `\${NOT_SET}` } }, gone });
  rmSync(join(folder.path, "tools", "gone.json"));
  await using app = await folder.open();
  const look = await execute({ source: "await gone.list().catch(() => {}); return tools.list()" }, app);
  expect(look).toMatchObject({
    value: [
      { server: "my-shop", tools: ["refund_order"], problem: "needs NOT_SET: set this before starting claudikins" },
      {
        server: "gone",
        tools: ["list"],
        problem: expect.stringMatching(/^did not start: .*; (?:retried|can be retried)/),
      },
    ],
  });
  const { content } = await callSearchTools({ query: "refund" }, app, new AbortController().signal);
  expect(content).toEqual([
    {
      type: "text",
      text: `Down: my-shop needs NOT_SET. Retrying will not help. Tell the user: Set NOT_SET before starting claudikins.
Down: gone did not start: its process exited with code 1: "there is no such file". A call tries again. If it fails, tell the user: Run its command from the config by hand to see more.
my_shop.refund_order(): Promise<unknown> // down`,
    },
  ]);
});

test("only calls of read-only or idempotent tools are repeated after the connection was lost", async () => {
  folder.configure({
    reads: fixture("flaky", join(folder.path, "reads")),
    sets: fixture("flaky", join(folder.path, "sets")),
    adds: fixture("flaky", join(folder.path, "adds")),
  });
  const source = `
    const all = await Promise.allSettled([reads.reads(), sets.sets_to(), adds.adds()]);
    return all.map(({ value, reason }) => value ?? reason.code)`;
  await using app = await folder.open();
  expect(await execute({ source }, app)).toMatchObject({ ok: true, value: [2, 2, "SERVER_UNAVAILABLE"] });
});

test("a tool is not described, and not called, for one of another server whose name has the same parts", async () => {
  folder.configure({
    a: folder.offering("a", { "b.c": { description: "Of a" }, b__c: { description: "Of a" }, "b.d": {} }),
    "a.b": folder.offering("a.b", { c: { description: "Of a.b" } }),
    a__b: folder.offering("a__b", { c: { description: "Of a__b" } }),
  });
  {
    await using app = await folder.open();
    await Promise.all(["a", "a.b", "a__b"].map((name) => app.catalog.list(name)));
  }
  expect(await run('return (await tools.describe("a.b.c")).description')).toMatchObject({ value: "Of a.b" });
  expect(await run('return (await tools.describe("a.b.d")).id')).toMatchObject({ value: "a.b.d" });
  await using app = await folder.open();
  const source = 'await __mcp_call("a__b__c", {}); return __mcp_call("a__list", {}).catch(({ code }) => code);';
  const outcome = await execute({ source }, app);
  expect(outcome).toMatchObject({ value: "TOOL_NOT_FOUND" });
  expect(Object.keys(outcome.receipt.tools).toSorted()).toEqual(["a.list", "a__b.c"]);
});
