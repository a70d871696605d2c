/** The server around the tools: its lists, resources and prompt, its start and its end. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { ErrorCode } from "@modelcontextprotocol/sdk/types.js";
import { AjvJsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/ajv-provider.js";
import { DEMO_COMMAND, type DemoClient, startDemoClient } from "./demo-client.ts";
import type { OrderList } from "./shapes.ts";

let demo: DemoClient;
beforeAll(async () => {
  demo = await startDemoClient();
});
afterAll(() => demo.client.close());

const READS =
  "list_orders get_order list_customers get_customer search_customers list_products get_stock list_tickets get_ticket";
const REPORTS = "sales_report export-orders render_chart get_exchange_rate slow_audit";

test("the server lists nineteen tools with correct annotations", async () => {
  const { tools } = await demo.client.listTools();
  expect(tools.length).toBe(19);
  const by = (hint: "readOnlyHint" | "destructiveHint" | "idempotentHint" | "openWorldHint") =>
    tools.filter((tool) => tool.annotations?.[hint] === true).map((tool) => tool.name);
  expect(by("readOnlyHint").sort()).toEqual(`${READS} ${REPORTS}`.split(" ").sort());
  expect(by("destructiveHint").sort()).toEqual(["adjust_stock", "refund_order"]);
  expect(by("idempotentHint").sort()).toEqual(`${READS} ${REPORTS} update_order_status`.split(" ").sort());
  expect(by("openWorldHint")).toEqual([]);
  const structured = tools.filter((tool) => tool.outputSchema !== undefined).map((tool) => tool.name);
  expect(structured.sort()).toEqual(["get_stock", "list_products", "sales_report"]);
});

test("every tool has a title, and every argument a description", async () => {
  const { tools } = await demo.client.listTools();
  for (const tool of tools) {
    expect(tool.title).toBeString();
    expect(tool.inputSchema["additionalProperties"]).toBe(false);
    for (const property of Object.values(tool.inputSchema.properties ?? {})) {
      expect(property).toHaveProperty("description");
    }
  }
});

test("the resources are the returns policy and the schema of orders", async () => {
  const { resources } = await demo.client.listResources();
  expect(resources.map(({ uri, mimeType }) => [uri, mimeType])).toEqual([
    ["demo://policy/returns", "text/markdown"],
    ["demo://schema/orders", "application/json"],
  ]);
  expect((await demo.client.listResourceTemplates()).resourceTemplates).toEqual([]);
  const policy = (await demo.client.readResource({ uri: "demo://policy/returns" })).contents[0]!;
  expect("text" in policy && policy.text).toContain("within 30 days of delivery.");

  const schema = (await demo.client.readResource({ uri: "demo://schema/orders" })).contents[0]!;
  const validate = new AjvJsonSchemaValidator().getValidator(JSON.parse("text" in schema ? schema.text : ""));
  const { orders } = await demo.value<OrderList>("list_orders");
  expect(orders.map((order) => validate(order).errorMessage).filter((message) => message !== undefined)).toEqual([]);
  expect(validate({ ...orders[0], items: "3" }).valid).toBe(false);
});

test("an unknown resource, prompt, week or tool is a protocol error that lists what exists", async () => {
  const { client } = demo;
  for (const [request, code, text] of [
    [() => client.readResource({ uri: "demo://policy" }), ErrorCode.InvalidParams, "demo://policy/returns"],
    [() => client.getPrompt({ name: "review" }), ErrorCode.InvalidParams, "weekly_review"],
    [
      () => client.getPrompt({ name: "weekly_review", arguments: { week: "2025-W53" } }),
      ErrorCode.InvalidParams,
      '"2025-W53"',
    ],
    [() => client.getPrompt({ name: "weekly_review" }), ErrorCode.InvalidParams, "week is missing"],
    [() => demo.call("listOrders"), ErrorCode.InvalidParams, '"listOrders"'],
  ] as const) {
    expect(await request().catch((error) => error)).toMatchObject({ code, message: expect.stringContaining(text) });
  }
});

test("the weekly review contains the days of its week", async () => {
  const { prompts } = await demo.client.listPrompts();
  expect(prompts.map((prompt) => [prompt.name, prompt.arguments?.map((argument) => argument.name)])).toEqual([
    ["weekly_review", ["week"]],
  ]);
  for (const [week, text] of [
    ["48", "week 2025-W48, from 2025-11-24 to 2025-11-30"],
    ["2025-W01", "week 2025-W01, from 2024-12-30 to 2025-01-05"],
  ] as const) {
    const { messages } = await demo.client.getPrompt({ name: "weekly_review", arguments: { week } });
    expect(messages[0]!.content).toMatchObject({ type: "text", text: expect.stringContaining(text) });
  }
});

test("two processes give the same answers", async () => {
  await using other = await startDemoClient();
  for (const [name, args] of [
    ["list_orders", {}],
    ["list_customers", {}],
    ["list_products", {}],
    ["list_tickets", {}],
    ["get_order", { order_id: "ord_00042" }],
    ["get_ticket", { ticket_id: "tkt_0101" }],
    ["sales_report", { from: "2025-01-01", to: "2025-12-31", group_by: "day" }],
  ] as const) {
    expect(Bun.hash(await other.text(name, args))).toBe(Bun.hash(await demo.text(name, args)));
  }
});

const INITIALIZE = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
};

/** Writes the messages and the end of the input, and returns the output until the process has ended. */
async function pipe(messages: readonly object[]) {
  const input = messages.map((message) => `${JSON.stringify(message)}\n`).join("");
  const child = Bun.spawn([...DEMO_COMMAND], { stdin: Buffer.from(input), stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
  return {
    answers: stdout
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
    stderr,
    exitCode: child.exitCode,
  };
}

test("the server answers what came before the end of its input, abandons long calls, and exits", async () => {
  const call = (id: number, name: string, args: object) => ({
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name, arguments: args },
  });
  const { answers, stderr, exitCode } = await pipe([
    INITIALIZE,
    { jsonrpc: "2.0", method: "notifications/initialized" },
    call(2, "slow_audit", { seconds: 60 }),
    call(3, "list_orders", {}),
  ]);
  expect({ ids: answers.map(({ id }) => id), stderr, exitCode }).toEqual({ ids: [1, 3], stderr: "", exitCode: 0 });
  expect(answers[1].result.content[0].text).toEndWith("}");
});

test("the server exits at once without any input", async () => {
  expect(await pipe([])).toEqual({ answers: [], stderr: "", exitCode: 0 });
});
