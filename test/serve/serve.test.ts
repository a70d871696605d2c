/** `serve` for a host: two tools, immediate answers, and pings during any execution. */
import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { claudikinsCommand } from "../support/command.ts";
import { processesLeft, processesWith, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary.ts";

setDefaultTimeout(60_000);

let client: Client;
afterEach(() => client.close());

async function connect(folder: TemporaryFolder): Promise<Client> {
  const [command, ...args] = [...claudikinsCommand, "serve"];
  client = new Client({ name: "test", version: "1" });
  // Its own data folder, so that the tools of other tests are unknown.
  const env = testEnvironment({ XDG_DATA_HOME: `${folder.path}/data` });
  await client.connect(new StdioClientTransport({ command, args, cwd: folder.path, env, stderr: "pipe" }));
  return client;
}

async function execute(code: string, more: object = {}): Promise<{ text: string; isError: boolean }> {
  const result = await client.callTool({ name: "execute_code", arguments: { code, ...more } });
  const content = result.content as { type: string; text: string }[];
  const [, ...types] = content;
  expect(types.every(({ text }) => /^(?:O|Changed in o)bserved result types:/.test(text))).toBe(true);
  return { text: content[0]?.text ?? "", isError: result.isError === true };
}

/** Without the time in the receipt, which differs between runs. */
const steady = (text: string) => text.replace(/\d[\d.,]* m?s/, "N ms");

test("serve has two tools, and instructions that name the servers; with the demo, both say how to get the user's own", async () => {
  using folder = temporaryFolder();
  await connect(folder);
  expect(client.getServerVersion()).toMatchObject({ name: "claudikins" });
  // Without a claudikins on the PATH, the command is a path.
  const typed = (text = "") => text.replace(/`[^`]*(init|add NAME)`/g, "`claudikins $1`");
  expect(typed(client.getInstructions())).toMatchInlineSnapshot(`
    "claudikins is not set up yet: its only server is a demo with made-up data. Tell the user to run \`claudikins init\` in a terminal, which imports the MCP servers of their agents, or \`claudikins add NAME\` for a single server, and to restart the agent.
    Find the tools of these MCP servers with search_tools; call them in execute_code as \`await server.tool(args)\`.
    - demo: the made-up back office of a small shop: orders, customers, stock, tickets"
  `);
  const found = await client.callTool({ name: "search_tools", arguments: { query: "refund", detail: "names" } });
  expect(typed((found.content as { text: string }[])[0]?.text)).toMatchInlineSnapshot(`
    "demo.refund_order: Gives a customer the money for an order back, all of it or a part; it cannot be…
    demo.update_order_status: Moves an order on: pending to paid or cancelled, paid to shipped or cancelled,…
    demo.get_customer: Looks up one customer by id.
    demo.sales_report: Adds up revenue and orders of a period by day, month, country or product catego…
    This demo's data is made up. The user imports their own servers with \`claudikins init\`."
  `);
  expect((await client.listTools()).tools).toMatchInlineSnapshot(`
    [
      {
        "_meta": {
          "anthropic/alwaysLoad": true,
          "anthropic/maxResultSizeChars": 50000,
        },
        "annotations": {
          "readOnlyHint": true,
        },
        "description": "Find tools for execute_code by what they do: all that a task needs in one search.",
        "inputSchema": {
          "properties": {
            "detail": {
              "description": "names: a line each; full: whole descriptions and schemas",
              "enum": [
                "names",
                "signatures",
                "full",
              ],
              "type": "string",
            },
            "limit": {
              "description": "Per query",
              "type": "integer",
            },
            "queries": {
              "items": {
                "type": "string",
              },
              "type": "array",
            },
            "query": {
              "type": "string",
            },
            "server": {
              "description": "Alone, lists its tools",
              "type": "string",
            },
          },
          "type": "object",
        },
        "name": "search_tools",
        "title": "Search tools",
      },
      {
        "_meta": {
          "anthropic/alwaysLoad": true,
          "anthropic/maxResultSizeChars": 50000,
        },
        "description": "Run TypeScript that calls tools: \`await server.tool({ ... })\`. Do all you can in one program, calls together. Results are whole; only what is returned or logged is shown, so filter. A failed call throws; only files stay.",
        "inputSchema": {
          "properties": {
            "background": {
              "description": "Returns an id for resume",
              "type": "boolean",
            },
            "code": {
              "type": "string",
            },
            "dry_run": {
              "type": "boolean",
            },
            "resume": {
              "description": "Waits for that id",
              "type": "string",
            },
            "timeout_ms": {
              "default": 30000,
              "type": "integer",
            },
          },
          "type": "object",
        },
        "name": "execute_code",
        "title": "Execute code",
      },
    ]
  `);
});

test("no server is started for initialize, tools/list and code without calls", async () => {
  using folder = temporaryFolder();
  folder.write("claudikins.json", {
    mcpServers: { one: fixture("odd", folder.path), two: fixture("never-starts", folder.path) },
  });
  await connect(folder);
  await client.listTools();
  expect(await execute("return 1")).toMatchObject({ isError: false });
  expect(processesWith(folder.path)).toEqual([]);
  await execute("return one.structured()");
  expect(processesWith(folder.path).length).toBe(1);
  await client.close();
  expect(await processesLeft(folder.path)).toEqual([]);
});

test("a result has the value, logs and a receipt, and a failure has its place and a hint", async () => {
  using folder = temporaryFolder();
  await connect(folder);
  const { text } = await execute(
    "console.log('looking'); const { total } = await demo.list_orders(); return { total }",
  );
  expect(steady(text)).toMatchInlineSnapshot(`
    "{"total": 2400}

    Logs:
    looking

    [1 call · N ms · 392,094 characters kept out]"
  `);
  const failed = await execute("const r = await demo.list_orders({ limit: 1 });\nreturn r.content[0].text;");
  expect(failed.isError).toBe(true);
  expect(steady(failed.text)).toMatchInlineSnapshot(`
    "Failed (threw): TypeError: r.content is undefined, so [0] cannot be read
      --> main.ts:2:17
      2 | return r.content[0].text;
        |                 ^
    Hint: r is the value of demo.list_orders itself, without an envelope: { orders, total, next_cursor }. Write r.orders, or destructure it: const { orders } = await demo.list_orders(…). (demo.list_orders.raw(…) returns the MCP result.)

    [1 call · N ms]"
  `);
  const wrong = await execute("return demo.listOrders({});");
  expect(steady(wrong.text)).toMatchInlineSnapshot(`
    "Failed (check): CheckError: demo has no tool "listOrders". Did you mean list_orders?
      --> main.ts:1:8
      1 | return demo.listOrders({});
        |        ^
    Hint: Write: await demo.list_orders({})
    demo.list_orders(args?: { status?: "pending" | "paid" | "shipped" | "delivered" | "cancelled" | "refunded"; customer_id?: string; from?: string; to?: string; limit?: number; cursor?: string }): Promise<{ orders: { id: string; customer_id: string; status: string; created_at: string; country: string; total_cents: number; currency: string; items: number }[]; total: number; next_cursor: string | null }> /* observed */

    [0 calls · N ms]"
  `);
});

test("search_tools finds tools on the first call, names what cannot be searched, and refuses invalid arguments", async () => {
  using folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { odd: fixture("odd"), broken: fixture("crash-on-start") } });
  await connect(folder);
  const search = async (args: object) => {
    const result = await client.callTool({ name: "search_tools", arguments: { ...args } });
    return (result.content as { text: string }[])[0]?.text;
  };
  expect(await search({ query: "structured", limit: 1 })).toMatchInlineSnapshot(`
    "Down: broken did not start: its process exited with code 3: "fatal: no database at db://nowhere". A call tries again. If it fails, tell the user: Run its command from the config by hand to see more.
    odd.structured(args?: { size?: number }): Promise<unknown>
      Tool structured */ \`\${x}\` $& ends"
  `);
  expect(await search({})).toMatchInlineSnapshot(
    `"search_tools needs "query", a few words such as "list open issues"; or "queries", a list of them; or "server", to list the tools of one server"`,
  );
  expect(await search({ query: "x", limit: 0 })).toMatchInlineSnapshot(`""limit" must be a whole number from 1 to 50"`);
});

const endings: [string, string, string, number?][] = [
  ["an endless loop", "while (true) {}", "Failed (timeout)", 1_000],
  ["a memory bomb", "const a = []; for (;;) a.push(new Uint8Array(1e6).fill(1))", "Failed (memory)"],
  ["a thrown text", 'throw "x"', 'Failed (threw): the code threw "x"'],
  ["a thrown object", "throw { a: 1 }", 'Failed (threw): the code threw {"a":1}'],
  ["a thrown undefined", "throw undefined", "Failed (threw): the code threw undefined"],
  ["an unhandled rejection", "Promise.reject(new Error('lost')); return 1", "Failed (threw): lost"],
  ["a promise that never settles", "await new Promise(() => {})", "can never settle"],
];

test.each(endings)(
  "%s has its own outcome, and pings are answered meanwhile",
  async (_, code, expected, timeout_ms = 60_000) => {
    using folder = temporaryFolder();
    await connect(folder);
    await execute("return 'warm'");
    let running = true;
    const result = execute(code, { timeout_ms }).finally(() => {
      running = false;
    });
    let pings = 0;
    do {
      await client.ping();
      if (running) pings += 1;
      await Bun.sleep(5);
    } while (running);
    const { text, isError } = await result;
    expect(isError).toBe(true);
    expect(text).toContain(expected);
    // Executions that run for a second would have delayed the first one until their end.
    if (text.includes("timeout")) expect(pings).toBeGreaterThan(1);
    expect((await execute("return 'works'")).text).toStartWith("works");
  },
);

test("cancelling the request stops the program", async () => {
  using folder = temporaryFolder();
  await connect(folder);
  const controller = new AbortController();
  const call = client.callTool(
    { name: "execute_code", arguments: { code: "for (;;);", timeout_ms: 60_000 } },
    undefined,
    {
      signal: controller.signal,
    },
  );
  await client.ping();
  controller.abort();
  await expect(call).rejects.toThrow();
  expect((await execute("return 'free again'")).text).toStartWith("free again");
});

test("executions run concurrently", async () => {
  using folder = temporaryFolder();
  await connect(folder);
  const slow = execute("for (;;);", { timeout_ms: 3_000 });
  const quick = await Promise.all([1, 2, 3].map((n) => execute(`return ${n} * 2`)));
  expect(quick.map(({ text }) => text.split("\n")[0])).toEqual(["2", "4", "6"]);
  expect((await slow).isError).toBe(true);
});

test("invalid calls are errors that say why", async () => {
  using folder = temporaryFolder();
  await connect(folder);
  expect(await client.callTool({ name: "execute_code", arguments: {} })).toMatchObject({ isError: true });
  expect(await execute("return 1", { timeout_ms: 0 })).toMatchObject({ isError: true });
  await expect(client.callTool({ name: "list_orders", arguments: {} })).rejects.toThrow(
    "search_tools and execute_code",
  );
});

test("a value that is too long is written to the workspace, with its path in the answer; images have their own blocks", async () => {
  using folder = temporaryFolder();
  folder.write("claudikins.json", { mcpServers: { odd: fixture("odd") }, limits: { outputChars: 1_000 } });
  await connect(folder);
  const { text } = await execute("return 'a'.repeat(3_000) + 'z'.repeat(2_000)");
  const [shown, where] = text.split("\n\n");
  expect(shown).toBe(`${"a".repeat(700)}\n… 4000 of 5000 characters are not shown …\n${"z".repeat(300)}`);
  const file = /\.\/workspace\/(outputs\/[0-9a-z]{28}\.txt)/.exec(where ?? "")?.[1];
  expect(await Bun.file(`${folder.path}/.claudikins/workspace/${file}`).text()).toBe(
    "a".repeat(3_000) + "z".repeat(2_000),
  );

  const code =
    "display(await odd.image.raw()); display({ type: 'image', data: 'not base64!', mimeType: 'x' }); display('text'); return 1";
  const { content } = await client.callTool({ name: "execute_code", arguments: { code } });
  expect((content as object[]).slice(1, 4)).toEqual([
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "text", text: '{"type":"image","data":"not base64!","mimeType":"x"}' },
    { type: "text", text: "text" },
  ]);
});
