/** Calls of the built-in demo server. */
import { join } from "node:path";
import { version } from "../../../src/base/version.ts";
import { root } from "../../../test/support/claudikins.ts";
import type { Plan } from "../plan.ts";

const december = { from: "2025-12-01", to: "2025-12-31" };

const exported = {
  says: "csv: a line of column names, then one order per line; json: an array of the orders",
  pattern: /^(?:\w+(?:,\w+)+\n|\[\{)/,
};

export const demo: Plan = {
  server: "testing/demo",
  package: `claudikins@${version}`,
  starts: { command: process.execPath, args: [join(root, "src/main.ts"), "demo"] },
  calls: [
    { tool: "list_orders", args: () => ({ ...december, limit: 3 }) },
    { tool: "list_orders", args: () => december },
    { tool: "get_order", args: () => ({ order_id: "ord_00042" }) },
    { tool: "update_order_status", args: () => ({ order_id: "ord_02400", status: "cancelled" }) },
    { tool: "list_customers", args: () => ({ limit: 2 }) },
    { tool: "list_customers" },
    { tool: "get_customer", args: () => ({ customer_id: "cus_0007" }) },
    { tool: "search_customers", args: () => ({ query: "anna" }) },
    { tool: "list_tickets" },
    ...["tkt_0101", "tkt_0102", "tkt_0103", "tkt_0104"].map((ticket_id) => ({
      tool: "get_ticket",
      args: () => ({ ticket_id }),
    })),
    { tool: "refund_order", args: () => ({ order_id: "ord_02329", reason: "broken" }) },
    ...["tkt_0101", "tkt_0102", "tkt_0103", "tkt_0310"].map((ticket_id) => ({
      tool: "reply_ticket",
      args: () => ({ ticket_id, body: "Done.", close: true }),
    })),
    { tool: "send_email", args: () => ({ to: "new.customer@example.com", subject: "Hello", body: "Hello" }) },
    { tool: "export-orders", args: () => ({ format: "csv" }), text: exported },
    { tool: "export-orders", args: () => ({ format: "json" }), text: exported },
    { tool: "list_products" },
    { tool: "get_stock", args: () => ({ sku: "LAMP-0003" }) },
    { tool: "adjust_stock", args: () => ({ sku: "LAMP-0003", warehouse: "berlin", delta: 1, reason: "counted" }) },
    { tool: "sales_report", args: () => ({ ...december, group_by: "month" }) },
    {
      tool: "render_chart",
      args: () => ({ title: "Orders", points: [{ label: "lamps", value: 3 }] }),
      text: {
        says: "an image block with the PNG in base64, then a text block with a sentence",
        pattern: /^\[image\]\n.+$/,
      },
    },
    { tool: "get_exchange_rate", args: () => ({ from: "EUR", to: "USD" }), tries: 4 },
    { tool: "slow_audit", args: () => ({ seconds: 0 }) },
  ],
};
