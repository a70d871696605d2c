/** The tools for the sales report and the export of all orders. */
import { YEAR_END_MS, YEAR_START_MS } from "../data/calendar.ts";
import { FROM, isWithin, period, TO } from "../dates.ts";
import { objectSchema } from "../json-schema.ts";
import { GROUPINGS, salesRows } from "../sales.ts";
import { defineTool, READS, structuredResult, textResult } from "../tool.ts";
import { orderView } from "../views.ts";

const salesReport = defineTool({
  name: "sales_report",
  title: "Sales report",
  description:
    "Adds up revenue and orders of a period by day, month, country or product category. Counts every order created in it but the " +
    "cancelled and refunded ones. Gives { rows } with key, orders and revenue_cents, sorted by key; each day or month of 2025 has a row.",
  annotations: READS,
  inputSchema: objectSchema(
    {
      from: FROM,
      to: TO,
      group_by: {
        type: "string",
        enum: GROUPINGS,
        description: "What a row stands for. By category an order counts once in each category it has lines of.",
      },
    },
    [],
  ),
  outputSchema: objectSchema(
    {
      rows: {
        type: "array",
        items: objectSchema(
          {
            key: { type: "string", description: "2025-03-31, 2025-03, a country code or a category." },
            orders: { type: "integer", description: "How many orders." },
            revenue_cents: { type: "integer", description: "Their revenue, in cents of EUR." },
          },
          [],
        ),
      },
    },
    [],
  ),
  run({ from, to, group_by }, { shop }) {
    const asked = period(from, to);
    const orders = shop.orders.filter((order) => isWithin(order.createdAtMs, asked));
    const year = { fromMs: Math.max(asked.fromMs, YEAR_START_MS), toMs: Math.min(asked.toMs, YEAR_END_MS) };
    return structuredResult({ rows: salesRows(orders, shop.products, group_by, year) });
  },
});

const exportOrders = defineTool({
  name: "export-orders",
  title: "Export all orders",
  description:
    "Gives all orders as one large text: CSV with a header line, or a JSON array of orders. Amounts are in cents.",
  annotations: READS,
  inputSchema: objectSchema({ format: { type: "string", enum: ["csv", "json"], description: "csv or json." } }, []),
  run({ format }, { shop }) {
    const orders = shop.orders.map(orderView);
    if (format === "json") return textResult(JSON.stringify(orders));
    // The values need no quotes in CSV: they are IDs, codes, numbers and times.
    const rows = [Object.keys(orders[0]!), ...orders.map(Object.values)];
    return textResult(`${rows.map((row) => row.join(",")).join("\n")}\n`);
  },
});

export const REPORT_TOOLS = [salesReport, exportOrders];
