/** The tools for the sales report and the export of all orders. */
import { DAY_MS, isoTime, YEAR_END_MS, YEAR_START_MS } from "../data/calendar.ts";
import { FROM, isInPeriod, type Period, period, TO } from "../dates.ts";
import { objectSchema } from "../json-schema.ts";
import { countsAsRevenue, listedOrder, type Order, type Product } from "../model.ts";
import { defineTool, READS, structuredResult, textResult } from "../tool.ts";

const GROUPINGS = ["day", "month", "country", "category"] as const;
type Grouping = (typeof GROUPINGS)[number];

const salesReport = defineTool({
  name: "sales_report",
  title: "Sales report",
  description:
    "Adds up revenue and orders of a period by day, month, country or product category. Counts every order created in it but the " +
    "cancelled and refunded ones. Gives { rows } with key, orders and revenue_cents, sorted by key; each day or month of 2025 has a row.",
  annotations: READS,
  inputSchema: objectSchema({
    from: FROM,
    to: TO,
    group_by: {
      type: "string",
      enum: GROUPINGS,
      description: "What a row stands for. By category an order counts once in each category it has lines of.",
    },
  }),
  outputSchema: objectSchema({
    rows: {
      type: "array",
      items: objectSchema({
        key: { type: "string", description: "2025-03-31, 2025-03, a country code or a category." },
        orders: { type: "integer", description: "How many orders." },
        revenue_cents: { type: "integer", description: "Their revenue, in cents of EUR." },
      }),
    },
  }),
  run({ from, to, group_by }, { shop }) {
    const asked = period(from, to);
    const orders = shop.orders.filter((order) => isInPeriod(order.created_at, asked));
    const year = { fromMs: Math.max(asked.fromMs, YEAR_START_MS), toMs: Math.min(asked.toMs, YEAR_END_MS) };
    return structuredResult({ rows: salesRows(orders, shop.products, group_by, year) });
  },
});

/** Returns one row per key, sorted by key. Every day or month of `calendar` has a row, even without sales. */
function salesRows(orders: readonly Order[], products: readonly Product[], grouping: Grouping, calendar: Period) {
  const rows = new Map<string, { key: string; orders: number; revenue_cents: number }>();
  function add(key: string, count: number, cents: number): void {
    const row = rows.get(key) ?? { key, orders: 0, revenue_cents: 0 };
    rows.set(key, { key, orders: row.orders + count, revenue_cents: row.revenue_cents + cents });
  }

  const keyOf = (time: string) => time.slice(0, grouping === "day" ? "2025-01-31".length : "2025-01".length);
  if (grouping === "day" || grouping === "month") {
    const firstDayMs = Math.floor(calendar.fromMs / DAY_MS) * DAY_MS;
    for (let ms = firstDayMs; ms <= calendar.toMs; ms += DAY_MS) add(keyOf(isoTime(ms)), 0, 0);
  }
  const categories = new Map(products.map((product) => [product.sku, product.category]));
  for (const order of orders.filter(countsAsRevenue)) {
    if (grouping === "category") {
      for (const [category, lines] of Map.groupBy(order.lines, ({ sku }) => categories.get(sku)!)) {
        add(
          category,
          1,
          lines.reduce((sum, { quantity, unit_cents }) => sum + quantity * unit_cents, 0),
        );
      }
    } else add(grouping === "country" ? order.country : keyOf(order.created_at), 1, order.total_cents);
  }
  return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

const exportOrders = defineTool({
  name: "export-orders",
  title: "Export all orders",
  description:
    "Gives all orders as one large text: CSV with a header line, or a JSON array of orders. Amounts are in cents.",
  annotations: READS,
  inputSchema: objectSchema({ format: { type: "string", enum: ["csv", "json"], description: "csv or json." } }),
  run({ format }, { shop }) {
    const orders = shop.orders.map(listedOrder);
    if (format === "json") return textResult(JSON.stringify(orders));
    // The values need no quotes in CSV: they are IDs, codes, numbers and times.
    const rows = [Object.keys(orders[0]!), ...orders.map(Object.values)];
    return textResult(`${rows.map((row) => row.join(",")).join("\n")}\n`);
  },
});

export const REPORT_TOOLS = [salesReport, exportOrders];
