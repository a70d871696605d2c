/** Reports and exports agree with the list of orders. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DemoClient, startDemoClient } from "./demo-client.ts";
import type { Order, OrderList, SalesReport } from "./shapes.ts";

let demo: DemoClient;
let orders: Order[];
beforeAll(async () => {
  demo = await startDemoClient();
  orders = (await demo.value<OrderList>("list_orders")).orders;
});
afterAll(() => demo.client.close());

const YEAR = { from: "2025-01-01", to: "2025-12-31" };

function sold(key: (order: Order) => string): SalesReport["rows"] {
  const counted = orders.filter(({ status }) => status !== "cancelled" && status !== "refunded");
  return Object.entries(Object.groupBy(counted, key))
    .map(([name, group]) => ({
      key: name,
      orders: group!.length,
      revenue_cents: group!.reduce((sum, order) => sum + order.total_cents, 0),
    }))
    .sort((a, b) => (a.key < b.key ? -1 : 1));
}

test("sales_report sums orders that were neither cancelled nor refunded", async () => {
  const byMonth = await demo.value<SalesReport>("sales_report", { ...YEAR, group_by: "month" });
  expect(byMonth.rows).toEqual(sold((order) => order.created_at.slice(0, 7)));
  expect(byMonth.rows.length).toBe(12);
  const byCountry = await demo.value<SalesReport>("sales_report", { ...YEAR, group_by: "country" });
  expect(byCountry.rows).toEqual(sold((order) => order.country));
});

test("sales_report has a row for each day, with or without sales", async () => {
  const { rows } = await demo.value<SalesReport>("sales_report", { ...YEAR, group_by: "day" });
  expect(rows.length).toBe(365);
  expect(rows.filter((row) => row.orders > 0)).toEqual(sold((order) => order.created_at.slice(0, 10)));
  const week = await demo.value<SalesReport>("sales_report", { from: "2025-12-29", to: "2026-01-04", group_by: "day" });
  expect(week.rows).toEqual(rows.slice(-3));
  const before = await demo.value<SalesReport>("sales_report", {
    from: "2020-01-01",
    to: "2020-12-31",
    group_by: "day",
  });
  expect(before.rows).toEqual([]);
});

test("sales_report by category splits orders by their lines", async () => {
  const { rows } = await demo.value<SalesReport>("sales_report", { ...YEAR, group_by: "category" });
  expect(rows.map(({ key }) => key)).toEqual(["decor", "lighting", "seating", "storage", "tables", "textiles"]);
  const total = sold(() => "all")[0]!.revenue_cents;
  expect(rows.reduce((sum, row) => sum + row.revenue_cents, 0)).toBe(total);
});

test("sales_report names all missing arguments at once", async () => {
  expect(await demo.failure("sales_report", { from: "2025-10-01" })).toBe(
    'to is missing. It must match {"type":"string","description":"Last day, included, YYYY-MM-DD in UTC, or an ISO 8601 ' +
      'time such as 2025-03-31T20:00:00Z."}\ngroup_by is missing. It must match {"type":"string","enum":["day","month",' +
      '"country","category"],"description":"What a row stands for. By category an order counts once in each category it ' +
      'has lines of."}',
  );
});

test("export-orders returns the same orders as CSV and as JSON", async () => {
  expect(await demo.value<Order[]>("export-orders", { format: "json" })).toEqual(orders);
  const lines = (await demo.text("export-orders", { format: "csv" })).split("\n");
  expect(lines[0]).toBe("id,customer_id,status,created_at,country,total_cents,currency,items");
  expect(lines.slice(1)).toEqual([...orders.map((order) => Object.values(order).join(",")), ""]);
  expect(await demo.failure("export-orders", { format: "xlsx" })).toBe(
    'format is "xlsx". It must match {"type":"string","enum":["csv","json"],"description":"csv or json."}',
  );
});
