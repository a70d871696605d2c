/** The demo server: the back office of an invented shop, as an MCP server over stdio. */
import { ProtocolError, ProtocolErrorCode, Server, type ServerContext } from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { getPrompt, listPrompts } from "./prompts.ts";
import { listResources, readResource } from "./resources.ts";
import { openShop, type Shop } from "./shop.ts";
import type { ToolContext } from "./tool.ts";
import { slowAudit } from "./tools/audit.ts";
import { renderChart } from "./tools/charts.ts";
import { CUSTOMER_TOOLS } from "./tools/customers.ts";
import { ORDER_TOOLS } from "./tools/orders.ts";
import { PRODUCT_TOOLS } from "./tools/products.ts";
import { getExchangeRate } from "./tools/rates.ts";
import { REPORT_TOOLS } from "./tools/reports.ts";
import { TICKET_TOOLS } from "./tools/tickets.ts";

const INFO = { name: "claudikins-demo", title: "Demo shop", version: "1.0.0" };
const INSTRUCTIONS =
  "The back office of an invented shop: 2,400 orders of 2025, 600 customers, 140 products, 320 support tickets. " +
  "Today is 2025-12-31. Amounts are in cents, times in UTC. Changes last until the server ends.";

/** In the order of `tools/list`. */
const TOOLS = [
  ...ORDER_TOOLS,
  ...CUSTOMER_TOOLS,
  ...PRODUCT_TOOLS,
  ...TICKET_TOOLS,
  ...REPORT_TOOLS,
  renderChart,
  getExchangeRate,
  slowAudit,
];

/** Serves the demo on stdin and stdout. Resolves when the client has closed the connection. */
export async function startDemo(): Promise<void> {
  const server = createServer();
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  server.onclose = resolve;
  await server.connect(new StdioServerTransport());
  await closed;
}

function createServer(): Server {
  const server = new Server(INFO, {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: INSTRUCTIONS,
  });
  let shop: Shop | undefined;
  server.setRequestHandler("tools/list", () => ({ tools: TOOLS.map((tool) => tool.definition) }));
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
    const tool = TOOLS.find(({ definition }) => definition.name === params.name);
    if (tool === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Unknown tool "${params.name}".`);
    shop ??= openShop();
    return await tool.call(params.arguments ?? {}, toolContext(shop, mcpReq));
  });
  server.setRequestHandler("resources/list", () => ({ resources: listResources() }));
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates: [] }));
  server.setRequestHandler("resources/read", ({ params }) => readResource(params.uri));
  server.setRequestHandler("prompts/list", () => ({ prompts: listPrompts() }));
  server.setRequestHandler("prompts/get", ({ params }) => getPrompt(params.name, params.arguments ?? {}));
  return server;
}

function toolContext(shop: Shop, { _meta, signal, notify }: ServerContext["mcpReq"]): ToolContext {
  const progressToken = _meta?.progressToken;
  return {
    shop,
    signal,
    async progress(done, total, message) {
      if (progressToken === undefined) return;
      const params = { progressToken, progress: done, total, message };
      await notify({ method: "notifications/progress", params });
    },
  };
}
