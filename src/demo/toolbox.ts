/** All tools of the demo, in the order of `tools/list`. */
import type { DemoTool } from "./tool.ts";
import { AUDIT_TOOLS } from "./tools/audit.ts";
import { CHART_TOOLS } from "./tools/charts.ts";
import { CUSTOMER_TOOLS } from "./tools/customers.ts";
import { ORDER_CHANGE_TOOLS } from "./tools/order-changes.ts";
import { ORDER_TOOLS } from "./tools/orders.ts";
import { PRODUCT_TOOLS } from "./tools/products.ts";
import { RATE_TOOLS } from "./tools/rates.ts";
import { REPORT_TOOLS } from "./tools/reports.ts";
import { TICKET_TOOLS } from "./tools/tickets.ts";

export const TOOLS: ReadonlyMap<string, DemoTool> = new Map(
  [
    ...ORDER_TOOLS,
    ...ORDER_CHANGE_TOOLS,
    ...CUSTOMER_TOOLS,
    ...PRODUCT_TOOLS,
    ...TICKET_TOOLS,
    ...REPORT_TOOLS,
    ...CHART_TOOLS,
    ...RATE_TOOLS,
    ...AUDIT_TOOLS,
  ].map((tool) => [tool.definition.name, tool]),
);
