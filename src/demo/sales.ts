/** Sums revenue by day, month, country or category. */
import { DAY_MS } from "./data/calendar.ts";
import type { Period } from "./dates.ts";
import { countsAsRevenue, type OrderRecord, type ProductRecord } from "./model.ts";
import { isoTime } from "./views.ts";

export const GROUPINGS = ["day", "month", "country", "category"] as const;
export type Grouping = (typeof GROUPINGS)[number];

interface SalesRow {
  key: string;
  orders: number;
  revenue_cents: number;
}

/** Returns one row per key, sorted by key. Every day or month of `calendar` has a row, even without sales. */
export function salesRows(
  orders: readonly OrderRecord[],
  products: readonly ProductRecord[],
  grouping: Grouping,
  calendar: Period,
): SalesRow[] {
  const rows = new Map<string, SalesRow>();
  function add(key: string, count: number, cents: number): void {
    const row = rows.get(key) ?? { key, orders: 0, revenue_cents: 0 };
    rows.set(key, { key, orders: row.orders + count, revenue_cents: row.revenue_cents + cents });
  }

  if (grouping === "day" || grouping === "month") {
    for (let ms = startOfDay(calendar.fromMs); ms <= calendar.toMs; ms += DAY_MS) add(dateKey(ms, grouping), 0, 0);
  }
  const categories = new Map(products.map((product) => [product.sku, product.category]));
  for (const order of orders.filter(countsAsRevenue)) {
    if (grouping === "category") {
      for (const [category, cents] of centsByCategory(order, categories)) add(category, 1, cents);
    } else {
      add(grouping === "country" ? order.country : dateKey(order.createdAtMs, grouping), 1, order.totalCents);
    }
  }
  return [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

function centsByCategory(order: OrderRecord, categories: ReadonlyMap<string, string>): Map<string, number> {
  const cents = new Map<string, number>();
  for (const { sku, quantity, unit_cents } of order.lines) {
    const category = categories.get(sku)!;
    cents.set(category, (cents.get(category) ?? 0) + quantity * unit_cents);
  }
  return cents;
}

function startOfDay(ms: number): number {
  return Math.floor(ms / DAY_MS) * DAY_MS;
}

function dateKey(ms: number, grouping: "day" | "month"): string {
  return isoTime(ms).slice(0, grouping === "day" ? 10 : 7);
}
