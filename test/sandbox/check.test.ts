/** Calls that are certainly wrong are all reported before anything runs; calls that may be right are not. */
import { afterAll, afterEach, describe, expect, jest, test } from "bun:test";
import type { BindingCall, Bindings, CheckMode } from "../../src/sandbox/contract.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { someLimits } from "./some-limits.ts";

const string = { type: "string" };
const bindings: Bindings = {
  namespaces: [
    {
      name: "shop",
      jsName: "shop",
      functions: [
        {
          name: "list_orders",
          jsName: "list_orders",
          inputSchema: {
            type: "object",
            properties: { status: { enum: ["paid", "open"] }, limit: { type: "integer" }, tags: { type: "array" } },
          },
          signature: "shop.list_orders(args?: { status?: … })",
        },
        {
          name: "get_order",
          jsName: "get_order",
          inputSchema: { type: "object", properties: { order_id: string, "odd-name": string }, required: ["order_id"] },
        },
        {
          name: "export-orders",
          jsName: "export_orders",
          inputSchema: { type: "object", properties: { format: string } },
        },
        {
          name: "open_ended",
          jsName: "open_ended",
          inputSchema: { type: "object", properties: { a: string }, additionalProperties: true },
        },
        {
          name: "either",
          jsName: "either",
          inputSchema: { type: "object", properties: { a: string }, required: ["a"], anyOf: [{}] },
        },
        { name: "schemaless", jsName: "schemaless" },
        {
          name: "odd_types",
          jsName: "odd_types",
          inputSchema: {
            type: "dict",
            properties: {
              a: { type: "any" },
              b: { type: ["string", "int"] },
              c: { type: "array", items: { type: "x" } },
            },
          },
        },
      ],
    },
    {
      name: "my-server",
      jsName: undefined,
      functions: [{ name: "go", jsName: "go", inputSchema: { type: "object", properties: { x: string } } }],
    },
    { name: "unknown", jsName: "unknown", functions: "any" },
    {
      name: "growing",
      jsName: "growing",
      mayGrow: true,
      functions: [{ name: "load_more", jsName: "load_more" }],
    },
  ],
  call: async ({ name }: BindingCall) => ({ json: JSON.stringify(name) }),
};

const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.dispose]());

const run = (source: string, check: CheckMode = "error") =>
  sandbox.run(source, {
    bindings,
    limits: someLimits({ timeoutMs: 50_000 }),
    mounts: { workspace: "/nowhere", registry: "/nowhere" },
    check,
  });

test("the first of many mistakes are listed, and the others counted", async () => {
  const outcome = await run(Array.from({ length: 500 }, (_, n) => `shop.nope${n}({});`).join("\n"));
  const message = outcome.ok ? "" : outcome.error.message;
  expect(message).toStartWith("500 mistakes; nothing was run:\n  1:1 ");
  expect(message.split("\n")).toHaveLength(22);
  expect(message).toEndWith("  and 480 more");
});

test("a check that waits ten seconds for the schema of a tool does not count as parsing", async () => {
  let asked = 0;
  const late = {
    name: "late",
    jsName: "late",
    get inputSchema() {
      asked += 1;
      jest.advanceTimersByTime(10_000);
      return { type: "object" };
    },
  };
  jest.useFakeTimers();
  try {
    const outcome = await sandbox.run("return await shop.late({})", {
      bindings: { ...bindings, namespaces: [{ name: "shop", jsName: "shop", functions: [late] }] },
      limits: someLimits({ timeoutMs: 50_000 }),
      mounts: { workspace: "/nowhere", registry: "/nowhere" },
      check: "error",
    });
    expect([asked, outcome.ok ? outcome.value : outcome.error.message]).toEqual([1, "late"]);
  } finally {
    jest.useRealTimers();
  }
});

describe("a program is refused", () => {
  const wrong: [string, string, string, object?][] = [
    [
      "an unknown tool of a server that may add some, if no call can add it",
      "return growing.extra({})",
      'growing has no tool "extra". Its tools: load_more',
    ],
    [
      "a promise that is compared",
      "const asked = shop.list_orders({});\nreturn asked > 1",
      "asked is a promise and not a number or string: write await before shop.list_orders(…) on line 1",
    ],
    [
      "a promise as a condition",
      "if (shop.list_orders({})) return 1",
      "shop.list_orders(…) is a promise and is always true: write await shop.list_orders(…)",
    ],
    [
      "a promise in a template",
      "return `total: ${shop.list_orders({})}`",
      'shop.list_orders(…) is a promise and becomes the string "[object Promise]": write await shop.list_orders(…)',
    ],
    [
      "a promise that is spread in a list",
      "return [...shop.list_orders({})]",
      "shop.list_orders(…) is a promise and cannot be spread: write await shop.list_orders(…)",
    ],
    [
      "a promise that is destructured",
      "const { orders } = shop.list_orders({});\nreturn orders",
      "shop.list_orders(…) is a promise and cannot be destructured: write await shop.list_orders(…)",
    ],
    [
      "a promise that is looped over",
      "for (const each of shop.list_orders({})) console.log(each)",
      "shop.list_orders(…) is a promise and cannot be looped over: write await shop.list_orders(…)",
    ],
    [
      "a promise in place of a list of promises",
      "return Promise.all(shop.list_orders({}))",
      "shop.list_orders(…) is a promise but a list is needed here: write await Promise.all([ … ])",
    ],
    [
      "a member of a promise",
      "return shop.list_orders({}).length",
      "shop.list_orders(…) is a promise and has no length: write (await shop.list_orders(…))",
    ],
    [
      "an element of a promise",
      "const orders = shop.list_orders({});\nreturn orders[0]",
      "orders is a promise and has no 0: write await before shop.list_orders(…) on line 1",
    ],
    [
      "an unknown tool",
      "const a = 1;\nawait shop.listOrders({});",
      'shop has no tool "listOrders". Did you mean list_orders?',
      {
        line: 2,
        column: 7,
        code: "TOOL_NOT_FOUND",
        hint: "Write: await shop.list_orders({})\nshop.list_orders(args?: { status?: … })",
      },
    ],
    [
      "a tool through servers",
      "await servers['my-server'].run({})",
      `servers['my-server'] has no tool "run". Its tools: go`,
    ],
    [
      "an imported tool's argument",
      "import { get_order as get } from './servers/shop';\nawait get({ id: 'x', order_id: 'y' })",
      'shop.get_order: there is no argument "id". It takes: order_id, odd-name',
      { line: 2 },
    ],
    [
      "an unknown argument",
      "await shop.get_order({ orderId: 'x', order_id: 'y' })",
      'shop.get_order: there is no argument "orderId". Did you mean order_id?',
      { code: "INVALID_ARGUMENTS" },
    ],
    ["a missing argument", "await shop.get_order({})", 'shop.get_order: the argument "order_id" is missing'],
    ["no arguments at all", "await shop.get_order()", 'shop.get_order: the argument "order_id" is missing'],
    [
      "an argument that is undefined",
      "await shop.get_order({ order_id: undefined })",
      'shop.get_order: the argument "order_id" is missing',
    ],
    [
      "a value outside the choices",
      "await shop.list_orders({ status: 'Paid' })",
      'shop.list_orders: "status" must be one of "paid", "open", got "Paid". Did you mean paid?',
    ],
    [
      "a literal of another type",
      "await shop.list_orders({ limit: '5' })",
      'shop.list_orders: "limit" must be integer, got string. Write limit: 5',
    ],
    [
      "a list instead of an object",
      "await shop.list_orders(['paid'])",
      "shop.list_orders: takes one object with named arguments, got array",
    ],
    [
      "a text instead of an object",
      "await shop.get_order.raw('ord_1')",
      "shop.get_order: takes one object with named arguments, got string",
    ],
  ];
  test.each(wrong)("with an explanation: %s", async (_, source, message, more = {}) => {
    expect(await run(source)).toMatchObject({
      ok: false,
      reason: "check",
      error: { name: "CheckError", message, ...more },
      receipt: { calls: 0 },
    });
  });

  test("with all findings at once, and their places in the TypeScript", async () => {
    const source =
      "interface A { a: string }\nconst a: A = { a: 'x' };\nawait shop.list_order({});\nawait shop.get_order({ id: a.a as string });";
    const outcome = await run(source);
    expect(!outcome.ok && outcome.error).toMatchObject({
      message: `3 mistakes; nothing was run:
  3:7 shop has no tool "list_order". Did you mean list_orders or get_order?
  4:22 shop.get_order: the argument "order_id" is missing
  4:28 shop.get_order: there is no argument "id". It is called order_id`,
      line: 3,
      source: "await shop.list_order({});",
    });
  });
});

describe("a program is not refused", () => {
  const right = [
    "return shop.get_order({ order_id: 'x', 'odd-name': 'y' })",
    "const args = { id: 1 }; return shop.get_order({ order_id: 'x', ...args })",
    "const orders = shop.list_orders({});\nconst key = Symbol.toStringTag;\nreturn orders[key]",
    "const key = 'order_id'; return shop.get_order({ [key]: 'x' })",
    "const n: any = 5; return shop.list_orders({ limit: n, status: n })",
    "return shop.list_orders({ status: undefined, limit: 1 })",
    "return shop.open_ended({ b: 1 })",
    "await growing.load_more(); return growing.extra({})",
    "await growing.load_more(); return growing.extra.raw({})",
    "const { extra } = growing; await growing.load_more(); return extra({})",
    "import { extra, load_more } from './servers/growing'; await load_more(); return extra({})",
    "await callTool('growing', 'load_more', {}); return (await servers.growing['extra']({})) || 1",
    "return callTool('growing', 'extra', {})",
    "return shop.odd_types({ a: 1, b: {}, c: [1] })",
    "return shop.either({})",
    "return shop.schemaless({ anything: 1 })",
    "return shop['export-orders']({ format: 'csv' })",
    "return unknown.whatever({ x: 1 })",
    "return shop.nope?.() ?? 'none'",
    "return shop.nope ? shop.nope() : 'none'",
    "if ('nope' in shop) await shop.nope({});",
    "return shop.nope && shop.nope()",
    "const shop = { listOrders: () => 1 }; return shop.listOrders()",
    "function f(shop) { return shop.x() } return f({ x: () => 2 })",
    "return [1].map((shop) => shop.toFixed())",
    "const { list_orders } = { list_orders: (x) => x }; return list_orders(5)",
    "return typeof shop.nope",
    "return (shop.nope ?? shop.list_orders)({})",
    "const asked = shop.list_orders({}); if (asked) await asked;",
    "const asked = shop.list_orders({}); const text = `${asked}`; await asked;",
    "return { ...shop.list_orders({}) }",
    "return shop.list_orders({}).then((each) => each)",
    "const tag = (texts, asked) => asked; return tag`total: ${shop.list_orders({})}`",
    "const asked = shop.list_orders({}); asked.at = 1; return [asked.at, await asked];",
  ];
  test.each(right)("%s", async (source) => {
    const outcome = await run(source);
    expect(outcome.ok ? "ran" : outcome.error).toBe("ran");
  });
});

describe("the check", () => {
  afterEach(async () => expect((await run("return 1")).ok).toBe(true));

  test('runs the code and logs the problems with "warn"', async () => {
    const outcome = await run("await shop.get_order({ id: 'x' });\nreturn 1", "warn");
    expect(outcome).toMatchObject({ ok: true, value: 1 });
    expect(outcome.logs).toEqual([
      { level: "warn", text: 'line 1: shop.get_order: the argument "order_id" is missing' },
      { level: "warn", text: 'line 1: shop.get_order: there is no argument "id". It is called order_id' },
    ]);
  });

  test('reports nothing with "off"', async () => {
    expect(await run("await shop.get_order({ id: 'x' });\nreturn 1", "off")).toMatchObject({
      ok: true,
      value: 1,
      logs: [],
    });
  });
});

describe("a corrected call", () => {
  const hintOf = async (source: string) => {
    const outcome = await run(source);
    return outcome.ok ? undefined : outcome.error.hint;
  };

  test("has the right value in the place of a wrong one beside the mistake", async () => {
    expect(await hintOf('return await shop.list_orders({ status: "opne", max_results: 5 })')).toStartWith(
      'Write: await shop.list_orders({ status: "open", limit: 5 })\n',
    );
    expect(await hintOf('return await shop.list_orders({ max_results: "5" })')).not.toContain('limit: "5"');
  });

  test.each([
    'shop.list_orders({ status: "shipped", max_results: 5 })',
    'shop.list_orders(\'{"status": "shipped"}\')',
    'shop.list_order({ status: "shipped" })',
  ])("never repeats a wrong value whose correction is not certain: %s", async (call) => {
    const hint = await hintOf(`return await ${call}`);
    expect(hint).toBeDefined();
    expect(hint).not.toContain("shipped");
  });
});
