/** The demo server: the back office of an invented shop, as an MCP server over stdio. */
import {
  type GetPromptResult,
  type Prompt,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { DAY_MS, isoTime, YEAR_START_MS } from "./data/calendar.ts";
import { objectSchema } from "./json-schema.ts";
import { COUNTRIES, ORDER_STATUSES } from "./model.ts";
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

/** The prompts of the demo. There is one: a review of one week of the shop. */
const WEEKLY_REVIEW: Prompt = {
  name: "weekly_review",
  title: "Review a week",
  description: "Reviews one week of the shop: sales, orders that are stuck, stock to reorder, open tickets.",
  arguments: [{ name: "week", description: "ISO week of 2025, such as 2025-W48 or 48.", required: true }],
};

export function listPrompts(): Prompt[] {
  return [WEEKLY_REVIEW];
}

export function getPrompt(name: string, args: Readonly<Record<string, string>>): GetPromptResult {
  if (name !== WEEKLY_REVIEW.name) {
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `Unknown prompt "${name}". Available: ${WEEKLY_REVIEW.name}.`,
    );
  }
  const { label, from, to } = parseWeek(args["week"]);
  const text = `Review the shop's week ${label}, from ${from} to ${to} (UTC).

1. Sales: sales_report by day for the week and for the week before. What changed, and in which countries and categories?
2. Orders: list_orders of the week. Which are still pending, and which were cancelled or refunded?
3. Stock: list_products with low_stock. Which of them sold in this week?
4. Tickets: list_tickets that are open or waiting. Which have waited longest, and which are urgent?

Answer in at most ten sentences, the most important first, and end with up to three things to do.`;
  return { description: `Review of ${label}`, messages: [{ role: "user", content: { type: "text", text } }] };
}

const FIRST_THURSDAY_MS = YEAR_START_MS + DAY_MS;
const WEEKS = 52;

/** Parses an ISO week. It has the year and number of its Thursday, and begins on the Monday before (ISO 8601, 2.2.10). */
function parseWeek(text: string | undefined): { label: string; from: string; to: string } {
  const number = Number(/^(?:2025-)?W?(\d{1,2})$/i.exec(text ?? "")?.[1]);
  if (!(number >= 1 && number <= WEEKS)) {
    const given = text === undefined ? "is missing" : `is "${text}"`;
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `week ${given}. Must be an ISO week of 2025, 2025-W01 to 2025-W${WEEKS}.`,
    );
  }
  const thursdayMs = FIRST_THURSDAY_MS + (number - 1) * 7 * DAY_MS;
  return {
    label: `2025-W${String(number).padStart(2, "0")}`,
    from: isoTime(thursdayMs - 3 * DAY_MS).slice(0, 10),
    to: isoTime(thursdayMs + 3 * DAY_MS).slice(0, 10),
  };
}

/** The resources of the demo: the returns policy, and the schema of an order. */
const RETURNS_POLICY = `# Returns policy

## How long
Customers can return an item within 30 days of delivery. VIP customers have 60 days.
Wholesale orders can be returned within 14 days, and only in unopened boxes.

## What can be returned
- Anything unused, in its original packaging.
- Damaged or wrong items, whatever their state. They have to be reported within 7 days of delivery.
- Rugs, cushions and throws only if the seal has not been broken.

## What it costs
Returns of damaged or wrong items are free. For all others the customer pays the postage.

## Refunds
The money is refunded within 5 days of the parcel's arrival at our warehouse.
Refunds above 50,000 cents (500 EUR) need the approval of a second person.
`;

const ORDER_SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  $id: "demo://schema/orders",
  title: "Order",
  description: "An order as list_orders returns it. Times are ISO 8601 in UTC.",
  ...objectSchema({
    id: { type: "string", description: "Such as ord_00042." },
    customer_id: { type: "string", description: "Such as cus_0007." },
    status: { type: "string", enum: ORDER_STATUSES, description: "The stage that the order has reached." },
    created_at: { type: "string", description: "When it was placed, such as 2025-03-04T10:11:12Z." },
    country: { type: "string", enum: COUNTRIES, description: "Where it goes, as an ISO 3166 code." },
    total_cents: { type: "integer", minimum: 0, description: "The sum of its lines, in cents." },
    currency: { type: "string", enum: ["EUR"], description: "The currency of all amounts." },
    items: { type: "integer", minimum: 1, description: "How many pieces: the quantities of its lines added up." },
  }),
};

interface DemoResource extends Resource {
  mimeType: string;
  text: string;
}

const RESOURCES: readonly DemoResource[] = [
  {
    uri: "demo://policy/returns",
    name: "returns-policy",
    title: "Returns policy",
    description: "What customers may return, how long they have, and when they get their money back.",
    mimeType: "text/markdown",
    text: RETURNS_POLICY,
  },
  {
    uri: "demo://schema/orders",
    name: "order-schema",
    title: "Schema of an order",
    description: "JSON Schema of the orders that list_orders returns.",
    mimeType: "application/json",
    text: JSON.stringify(ORDER_SCHEMA, null, 2),
  },
];

export function listResources(): Resource[] {
  return RESOURCES.map(({ text: _, ...resource }) => resource);
}

export function readResource(uri: string): ReadResourceResult {
  const resource = RESOURCES.find((each) => each.uri === uri);
  if (resource === undefined) {
    const known = RESOURCES.map((each) => each.uri).join(", ");
    throw new ResourceNotFoundError(uri, `Unknown resource "${uri}". Available: ${known}.`);
  }
  return { contents: [{ uri, mimeType: resource.mimeType, text: resource.text }] };
}
