/** Unclear errors of the engine get a hint, from the code, the tools and their results. */
import { afterAll, expect, test } from "bun:test";
import { otherLanguage } from "../../src/sandbox/code/unreadable.ts";
import type { BindingCall, Bindings } from "../../src/sandbox/contract.ts";
import { Sandbox } from "../../src/sandbox/sandbox.ts";
import { someLimits } from "./some-limits.ts";

const tool = (name: string) => ({ name, jsName: name.replace("-", "_"), inputSchema: { type: "object" } });
const bindings: Bindings = {
  namespaces: [
    { name: "shop", jsName: "shop", functions: ["list_orders", "export-orders", "get_stock", "busy"].map(tool) },
    { name: "files", jsName: "files", functions: ["read"].map(tool) },
  ],
  call: async ({ name }: BindingCall) => {
    if (name === "busy") throw Object.assign(new Error("Too many requests"), { code: "TOOL_FAILED" });
    return name === "read" ? { text: "text" } : { json: '{"orders":[1,2],"total":2}' };
  },
};
const sandbox = new Sandbox();
afterAll(() => sandbox[Symbol.dispose]());

const value = "shop.list_orders itself";
const taken = "or destructure it: const { orders } = await shop.list_orders(…).";
const cases: [string, string, string][] = [
  [
    "a value used as a list",
    "const orders = await shop.list_orders({});\norders.filter((o) => o);",
    `orders is the value of ${value}: { orders, total }. Write orders.orders, ${taken}`,
  ],
  [
    "an envelope",
    "const r = await shop.list_orders({});\nconst t = r.content[0].text;",
    `r is the value of ${value}, without an envelope: { orders, total }. Write r.orders, ${taken} (shop.list_orders.raw(…) returns the MCP result.)`,
  ],
  [
    "parsing again",
    "const r = await shop.list_orders({});\nJSON.parse(r);",
    `r is the value of ${value}, already parsed: leave out JSON.parse. It is { orders, total }. Write r.orders.`,
  ],
  [
    "iterating",
    "const r = await shop.list_orders({});\nfor (const o of r) console.log(o);",
    `r is the value of ${value}: { orders, total }. Write r.orders, ${taken}`,
  ],
  [
    "one of several",
    "const [a, b] = await Promise.all([files.read({}), shop.list_orders({})]);\nb.map((x) => x);",
    `b is the value of ${value}: { orders, total }. Write b.orders, ${taken}`,
  ],
  [
    "text used as an object",
    "const t = await files.read({});\nt.lines.map((x) => x);",
    "t is the value of files.read itself: a string, not an object.",
  ],
  [
    "a missing await",
    "const r = shop.list_orders({});\nr.orders.map((x) => x);",
    "r is a promise and has no orders: write await before shop.list_orders(…) on line 1",
  ],
  [
    "a missing await before Promise.all",
    "const [a, b] = Promise.all([shop.list_orders({}), files.read({})]);",
    "Promise.all(…) is a promise and cannot be destructured: write await Promise.all(…)",
  ],
  [
    "a call used at once",
    "const n = shop.list_orders({}).filter((x) => x);",
    "shop.list_orders(…) is a promise and has no filter: write (await shop.list_orders(…))",
  ],
  [
    "a dashed name",
    "const csv = await shop.export-orders({});",
    'The tool\'s name has a dash: write shop.export_orders(…) or shop["export-orders"](…).',
  ],
  [
    "another host's name for a tool",
    "await mcp__shop__get_stock({});",
    "In code, call a tool as server.tool: await shop.get_stock({})",
  ],
  [
    "another host's object for tools",
    "await default_api.shop_list_orders({});",
    "In code, call a tool as server.tool: await shop.list_orders({})",
  ],
  [
    "a global that the engine lacks",
    "const day = Temporal.Now.plainDateISO();",
    "Use Date, and Intl.DateTimeFormat with a timeZone.",
  ],
  [
    "a class for resources",
    "const all = new DisposableStack();",
    "Declare each resource with using or await using, or write try { … } finally { … }.",
  ],
  ["a class for bytes", "const b = new Blob(['a']);", "Keep text in a string, and bytes in a Uint8Array or a Buffer."],
  ["a guessed function that waits", "await wait(5);", "Write await sleep(milliseconds)."],
  [
    "a package that limits calls",
    "import pLimit from 'p-limit';",
    "Concurrent calls are limited already: await Promise.all(list.map(async (each) => …)).",
  ],
  [
    "a package that reads the environment",
    "import 'dotenv/config';",
    "The sandbox has no environment variables. Addresses and keys are in the servers' own config.",
  ],
  [
    "a server's method that calls a tool by its name",
    'await shop.callTool("list-orders", { a: 1 });',
    "Write: await shop.list_orders(…)",
  ],
  [
    "a failed call behind the error of a catch",
    "try { await shop.busy({}) } catch (cause) { throw new Error('lookup failed', { cause }) }",
    "shop.busy failed: Too many requests",
  ],
  [
    "failed calls behind Promise.any",
    "await Promise.any([shop.busy({}), shop.busy({ a: 1 })]);",
    "shop.busy failed: Too many requests",
  ],
  [
    "a missing server",
    "await shops.list_orders({});",
    'No server is called "shops". Servers: shop, files. Write: await shop.list_orders({})',
  ],
  [
    "a guessed function for resources, with the address of a server's resource",
    'const text = await readResource("shop://returns");',
    'Resources and prompts belong to a server: await shop.resources.read("shop://returns")',
  ],
  [
    "another host's function for resources",
    'await read_mcp_resource({ server: "files", uri: "notes://today" });',
    'Resources and prompts belong to a server: await files.resources.read("notes://today")',
  ],
  [
    "a client's method for prompts",
    'await client.getPrompt({ name: "greet", arguments: { who: "Ada" } });',
    'Resources and prompts belong to a server: await server.prompts.get("greet", { who: "Ada" }). Servers: shop, files.',
  ],
  [
    "a global for resources",
    'await resources.list("files");',
    "Resources and prompts belong to a server: await files.resources.list()",
  ],
  [
    "a missing semicolon before [",
    "const a = 1\nconst b = 2\nconst { orders } = await shop.list_orders({})\n[a, b].forEach((x) => x)\nreturn orders",
    "End line 3 with a semicolon: without one, the [ at the beginning of line 4 continues it.",
  ],
  [
    "a missing semicolon before [, which takes a variable apart",
    "let a = 1, b = 2\nconst r = await shop.list_orders({})\n[a, b] = [b, a]\nreturn a",
    "End line 2 with a semicolon: without one, the [ at the beginning of line 3 continues it.",
  ],
  [
    "a missing semicolon before (",
    "const r = await shop.list_orders({})\n(async () => { await files.read({}) })()",
    "End line 1 with a semicolon: without one, the ( at the beginning of line 2 continues it.",
  ],
  [
    "a temporary failure that loses the other results of Promise.all",
    "const [a, b] = await Promise.all([shop.list_orders({}), shop.busy({})]);",
    [
      "Promise.all on line 1 fails with its first failure, and the results of the other calls are lost.",
      "Repeat a call that fails: const retry = async (call, tries = 5) => { for (;;) try { return await call(); } catch (error) { if (--tries <= 0) throw error; } }; then write retry(() => shop.busy({})).",
    ].join("\n"),
  ],
  [
    "a tool call as JSON",
    '{"name": "shop.get_stock", "arguments": {"sku": "A"}}',
    'This is a tool call as JSON, not TypeScript. Write: return await shop.get_stock({ sku: "A" })',
  ],
];

test.each(cases)("the error of a program has a hint: %s", async (_, source, hint) => {
  const outcome = await sandbox.run(source, {
    bindings,
    limits: someLimits({ timeoutMs: 50_000 }),
    mounts: { workspace: "/nowhere", registry: "/nowhere" },
    check: "error",
  });
  expect(outcome.ok ? "ran" : (outcome.error.hint ?? outcome.error.message)).toBe(hint);
});

test.each([
  ["input", { name: "shop.get_stock", input: { sku: "A" } }],
  ["args, if arguments is null", { name: "shop.get_stock", arguments: null, args: { sku: "A" } }],
  ["params, as JSON", { tool: "get_stock", server: "shop", params: '{"sku":"A"}' }],
])("the arguments of a tool call as JSON may be in %s", (_, call) => {
  expect(otherLanguage(JSON.stringify(call), 1)).toEndWith('Write: return await shop.get_stock({ sku: "A" })');
});

test("forms of another language are named in the order of their lines, at most four", () => {
  const source =
    "# totals\ntotals = {}\nfor o in orders:\n    if o is None:\n        print 'none'\n    elif o:\n        pass";
  expect(otherLanguage(source, 1)).toBe(
    "This is Python; TypeScript is expected. Write on line 1: // for a comment; line 3: for (const each of list) { … }; line 4: if (…) { … }; line 4: === null, !list.includes(…), && and ||.",
  );
});
