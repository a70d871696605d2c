/** The costs and savings of a session, counted by hand and by the ledger; the texts that led to claudikins; and no stored contents. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { CallToolResult, Tool } from "@modelcontextprotocol/sdk/types.js";
import { callOnce } from "../../src/programs/call.ts";
import { claudikinsCommand } from "../support/command.ts";
import { eventually } from "../support/eventually.ts";
import { ownFolder } from "../support/own-folder.ts";
import { runProgram, testEnvironment } from "../support/process.ts";
import { fixture } from "../support/servers.ts";
import { inSession, ledgerOf } from "../support/session.ts";
import { inStore } from "../support/stored.ts";

setDefaultTimeout(60_000);

const folder = ownFolder();

/** The rows of the ledger. */
const ledgerText = () =>
  inStore(folder.path, async (store) => JSON.stringify((await store.counts.all()).map(({ json }) => JSON.parse(json))));

const demo = { mcpServers: { demo: { command: claudikinsCommand[0], args: [...claudikinsCommand.slice(1), "demo"] } } };

async function call(client: Client, name: string, args: object): Promise<{ text: string; meta: unknown }> {
  const result = (await client.callTool({ name, arguments: { ...args } })) as CallToolResult;
  const text = result.content.map((block) => (block.type === "text" ? block.text : "")).join("");
  return { text, meta: result._meta?.["claudikins/receipt"] };
}

/** Runs work with the server itself, without claudikins. */
async function directly<T>(work: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: "test", version: "1" });
  const [command, ...args] = [...claudikinsCommand, "demo"];
  await client.connect(new StdioClientTransport({ command, args, env: testEnvironment(), stderr: "pipe" }));
  const result = await work(client);
  await client.close();
  return result;
}

const charsOf = (tools: Tool[]) =>
  tools.reduce(
    (sum, { name, description, inputSchema }) => sum + JSON.stringify({ name, description, inputSchema }).length,
    0,
  );

describe("figures", () => {
  test("equal a count by hand: definitions, search, code, results, failures", async () => {
    folder.write("claudikins.json", demo);
    const query = "list orders by their state";
    const code = `const all = await Promise.all([demo.list_orders({ limit: 3 }), demo.list_orders({ limit: 5 })]);
      await demo.get_order({ order_id: "ORD-99999" }).catch(() => {});
      return all.map(({ orders }) => orders.length);`;
    const seen = await inSession(folder.path, async (client) => {
      const { tools } = await client.listTools();
      const found = await call(client, "search_tools", { query });
      const executed = await call(client, "execute_code", { code });
      return { surface: charsOf(tools) + (client.getInstructions() ?? "").length, found, executed };
    });
    const direct = await directly(async (client) => {
      const texts = async (limit: number) => {
        const result = (await client.callTool({ name: "list_orders", arguments: { limit } })) as CallToolResult;
        return result.content.map((block) => (block.type === "text" ? block.text : ""));
      };
      const results = [...(await texts(3)), ...(await texts(5))];
      const chars = results.join("").length;
      // The server indents its JSON. Programs return it without that.
      const withoutSpace = results.map((text) => JSON.stringify(JSON.parse(text))).join("").length;
      return { definitions: charsOf((await client.listTools()).tools), chars, results: withoutSpace };
    });
    const counts = await ledgerOf(folder.path);
    expect(counts?.sums).toEqual({
      sessions: 1,
      definitionChars: direct.definitions,
      surfaceChars: seen.surface,
      executions: 1,
      shellExecutions: 0,
      codeChars: code.length,
      returnedChars: seen.executed.text.length,
      searches: 1,
      queryChars: query.length,
      foundChars: seen.found.text.length,
    });
    const use = { durationMs: expect.any(Number), resultChars: direct.chars, takenChars: direct.results };
    expect(counts?.uses()).toEqual([
      [
        "demo",
        "get_order",
        {
          calls: 1,
          failures: 1,
          denied: 0,
          durationMs: expect.any(Number),
          resultChars: 0,
          takenChars: 0,
          argumentChars: '{"order_id":"ORD-99999"}'.length,
        },
      ],
      ["demo", "list_orders", { ...use, calls: 2, failures: 0, denied: 0, argumentChars: 2 * '{"limit":3}'.length }],
    ]);
    // The receipt does not count itself.
    const [shown = ""] = seen.executed.text.split("\n\n[");
    expect(seen.executed.meta).toEqual({
      id: expect.any(String),
      calls: 3,
      failures: 1,
      durationMs: expect.any(Number),
      charsIn: direct.results,
      charsOut: shown.length,
      charsReturned: expect.any(Number),
      charsKept: direct.results - shown.length,
    });
    expect(seen.found.meta).toEqual({ durationMs: expect.any(Number), charsOut: seen.found.text.length });
  });

  test("a session without calls is only a cost, and a session that did not list our tools is not counted", async () => {
    folder.write("claudikins.json", demo);
    await inSession(folder.path, async () => {});
    expect(await ledgerOf(folder.path)).toBeUndefined();
    const surface = await inSession(folder.path, async (client) => {
      const { tools } = await client.listTools();
      await client.listTools();
      return charsOf(tools) + (client.getInstructions() ?? "").length;
    });
    const { sums } = (await ledgerOf(folder.path))!;
    expect(sums).toMatchObject({ sessions: 1, surfaceChars: surface, definitionChars: 0, executions: 0 });
  });

  test("long results and images count only as much as a host would have shown", async () => {
    folder.write("claudikins.json", demo);
    await inSession(folder.path, (client) =>
      call(client, "execute_code", {
        code: `const { orders } = await demo.list_orders({});
          await demo.render_chart.raw({ title: "t", points: [{ label: "a", value: 1 }] });
          return orders.length`,
      }),
    );
    const tools = (await ledgerOf(folder.path))?.tools.get("demo");
    expect(tools?.get("list_orders")?.resultChars).toBeGreaterThan(900_000);
    expect(tools?.get("list_orders")?.takenChars).toBe(100_000);
    const chart = tools?.get("render_chart");
    expect(chart?.takenChars).toBeGreaterThanOrEqual(6_000);
    expect(chart?.takenChars).toBeLessThan(8_000);
  });

  test("direct mode counts definitions and results in full, and nothing as kept out", async () => {
    folder.write("claudikins.json", { ...demo, mode: "direct", prefix: "never" });
    const seen = await inSession(folder.path, async (client) => {
      const { tools } = await client.listTools();
      const orders = await client.callTool({ name: "list_orders", arguments: { limit: 3 } });
      const failed = await client.callTool({ name: "get_order", arguments: { order_id: "ORD-99999" } });
      expect(failed.isError).toBe(true);
      const [resource] = (await client.listResources()).resources;
      await client.readResource({ uri: resource?.uri ?? "" });
      await client.callTool({ name: "no_such_tool", arguments: {} }).catch(() => {});
      const chars = (orders as CallToolResult).content.map((block) => (block.type === "text" ? block.text.length : 0));
      return { definitions: charsOf(tools), instructions: (client.getInstructions() ?? "").length, chars };
    });
    const counts = await ledgerOf(folder.path);
    expect(counts?.sums).toMatchObject({
      sessions: 1,
      definitionChars: seen.definitions,
      surfaceChars: seen.definitions + seen.instructions,
      executions: 0,
    });
    const rows = counts?.uses().map(([, tool, { calls, failures, takenChars }]) => [tool, calls, failures, takenChars]);
    expect(rows).toEqual([
      ["get_order", 1, 1, 0],
      ["list_orders", 1, 0, 0],
      ["resources.read", 1, 0, 0],
    ]);
    const [chars] = seen.chars;
    expect(counts?.tools.get("demo")?.get("list_orders")?.resultChars).toBe(chars);
  });

  test("the ledger contains no contents of calls", async () => {
    folder.write("claudikins.json", demo);
    await inSession(folder.path, async (client, app) => {
      const { signal } = new AbortController();
      for (const server of ["demo", "whispered-server"])
        await callOnce({ server, tool: "whispered-tool", args: {} }, app, signal).catch(() => {});
      await call(client, "search_tools", { query: "whispered-query" });
      await call(client, "execute_code", {
        code: `const order_id = ["whispered", "argument"].join("-");
          await demo.get_order({ order_id }).catch(() => {});
          console.log("whispered-log");
          return "whispered-value";`,
      });
    });
    expect(await ledgerText()).toContain("get_order");
    expect(await ledgerText()).toContain('["(unknown)","(unknown)",1,1');
    expect(await ledgerText()).toContain('["demo","(unknown)",1,1');
    expect(await ledgerText()).not.toContain("whispered");
  });

  test("with stats: false, no ledger is written", async () => {
    folder.write("claudikins.json", { ...demo, stats: false });
    await inSession(folder.path, async (client) => {
      await client.listTools();
      await call(client, "search_tools", { query: "orders via:skill" });
      await call(client, "execute_code", { code: "return demo.list_orders({ limit: 1 })" });
    });
    expect(await ledgerOf(folder.path)).toBeUndefined();
  });

  test("an execution from a shell counts, but not in the comparison of tokens", async () => {
    const env = { HOME: folder.path, XDG_DATA_HOME: "" };
    const code = "return (await demo.list_orders({ limit: 2 })).orders.length";
    const { stdout } = await runProgram([...claudikinsCommand, "exec", "-e", code], { cwd: folder.path, env });
    expect(stdout).toBe("2\n");
    const counts = await ledgerOf(folder.path);
    const nothing = { sessions: 0, executions: 0, codeChars: 0, returnedChars: 0 };
    expect(counts?.sums).toMatchObject({ ...nothing, shellExecutions: 1 });
    expect(counts?.tools.get("demo")?.get("list_orders")).toMatchObject({ calls: 1, takenChars: 0, argumentChars: 0 });
  });
});

test("a ledger that cannot be written has no effect on calls, and no message", async () => {
  const env = { HOME: folder.path, XDG_DATA_HOME: folder.write("a-file", "") };
  folder.write("claudikins.json", { mcpServers: {} });
  const ended = await runProgram([...claudikinsCommand, "exec", "-e", "return 6 * 7"], { cwd: folder.path, env });
  expect({ ...ended, stderr: ended.stderr.replace(/\d[\d.,]* m?s/, "N ms") }).toEqual({
    exitCode: 0,
    stdout: "42\n",
    stderr: "[0 calls · N ms]\n",
  });
});

describe("sessions", () => {
  async function serve(): Promise<{ client: Client; pid: number }> {
    const client = new Client({ name: "test", version: "1" });
    const env = testEnvironment({ HOME: folder.path, XDG_DATA_HOME: "" });
    const [command, ...args] = [...claudikinsCommand, "serve"];
    const transport = new StdioClientTransport({ command, args, cwd: folder.path, env, stderr: "pipe" });
    await client.connect(transport);
    await client.listTools();
    return { client, pid: transport.pid ?? 0 };
  }

  const order = { code: "return (await demo.list_orders({ limit: 1 })).total" };

  test("a host that lists tools counts as a session, and a host that only initializes does not", async () => {
    const { client } = await serve();
    await client.close();
    const env = { HOME: folder.path, XDG_DATA_HOME: "" };
    const clientInfo = { name: "test", version: "1" };
    const params = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo };
    const stdin = `${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`;
    expect((await runProgram([...claudikinsCommand, "serve"], { cwd: folder.path, env, stdin })).exitCode).toBe(0);
    expect((await ledgerOf(folder.path))?.sums).toMatchObject({ sessions: 1, executions: 0, searches: 0 });
  });

  test("two concurrent hosts are counted exactly, even if one is killed", async () => {
    const [killed, whole] = [await serve(), await serve()];
    await Promise.all([call(killed.client, "execute_code", order), call(whole.client, "execute_code", order)]);
    await eventually(async () => (await ledgerOf(folder.path))?.sums.executions === 2, { everyMs: 50 });
    await call(whole.client, "execute_code", order);
    process.kill(killed.pid, "SIGKILL");
    await Promise.all([killed.client.close(), whole.client.close()]);
    const counts = await ledgerOf(folder.path);
    expect(counts?.sums).toMatchObject({ sessions: 2, executions: 3 });
    expect(counts?.tools.get("demo")?.get("list_orders")?.calls).toBe(3);
  });
});

describe("marks of the texts that led to claudikins", () => {
  const search = (query: string) => (client: Client) => call(client, "search_tools", { query });
  const execute = (code: string) => (client: Client) => call(client, "execute_code", { code });

  const cases: [name: string, hooks: [string, number][], ...steps: ((client: Client) => Promise<unknown>)[]][] = [
    ["a search without a mark counts for the description", [["serve description", 1]], search("list orders")],
    ["a mark in a query counts", [["serve claude-md", 1]], search("list orders via:claude-md")],
    ["a mark in code counts", [["serve skill", 1]], execute("// via:skill\nreturn demo.list_orders({ limit: 1 })")],
    [
      "tools.search in code counts for the description",
      [["serve description", 1]],
      execute('return tools.search("refund")'),
    ],
    [
      "a mark in a query of tools.search counts",
      [["serve readme", 1]],
      execute('return tools.search("refund via:readme")'),
    ],
    [
      "reading the README in code counts for the README",
      [["serve readme", 1]],
      execute('return fs.readFile("./workspace/../registry/README.md", "utf8").catch(() => 0)'),
    ],
    [
      "reading the registry in code counts without a mark",
      [["serve none", 1]],
      execute('return fs.readdir("./registry")'),
    ],
    ["code that only computes does not count", [], execute("return 1")],
    [
      "only the first access of a session counts",
      [["serve skill", 1]],
      execute("return 1"),
      search("a via:skill"),
      search("b via:readme"),
    ],
  ];
  test.each(cases)("%s", async (_, hooks, ...steps) => {
    await inSession(folder.path, async (client) => {
      await client.listTools();
      for (const step of steps) await step(client);
    });
    expect([...((await ledgerOf(folder.path))?.hooks ?? [])]).toEqual(hooks);
  });

  test("marks are removed from the query", async () => {
    const tools = ["refund_order", "add_skill"].map((name) => ({ name, inputSchema: { type: "object" } }));
    folder.write("claudikins.json", { mcpServers: { own: fixture("from-file", folder.write("tools.json", tools)) } });
    const [plain, marked] = await inSession(folder.path, async (client) => [
      (await call(client, "search_tools", { query: "refund an order" })).text,
      (await call(client, "search_tools", { query: "refund via:skill an order" })).text,
    ]);
    expect(plain).not.toContain("add_skill");
    expect(marked).toBe(plain);
  });

  test("with hooks: false, calls are counted and marks are not", async () => {
    folder.write("claudikins.json", { ...demo, hooks: false });
    await inSession(folder.path, search("orders via:skill"));
    const counts = await ledgerOf(folder.path);
    expect(counts?.sums.searches).toBe(1);
    expect(counts?.hooks.size).toBe(0);
  });
});
