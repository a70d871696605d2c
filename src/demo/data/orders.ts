/** Generates 2,400 orders of 2025 with their lines, and with the history that fits their age. */
import type { Customer, HistoryEntry, Order, OrderLine, OrderStatus, Product, Segment } from "../model.ts";
import type { Random } from "../random.ts";
import { DAY_MS, HOUR_MS, isoTime, NOW_MS, orderTimes } from "./calendar.ts";

const COUNT = 2400;
/** Share of the customers who never order. */
const SHARE_IDLE = 0.11;
const DAYS_TO_PAY = 45;

const LINES: Readonly<Record<Segment, readonly [min: number, max: number]>> = {
  retail: [1, 3],
  wholesale: [2, 6],
  vip: [1, 5],
};
const QUANTITY: Readonly<Record<Segment, readonly [min: number, max: number]>> = {
  retail: [1, 2],
  wholesale: [3, 12],
  vip: [1, 4],
};

export function generateOrders(random: Random, customers: readonly Customer[], products: readonly Product[]): Order[] {
  const buyers = customers.filter(() => !random.chance(SHARE_IDLE));
  const shelf = products.flatMap((product) => Array.from({ length: random.int(1, 7) }, () => product));
  let signedUp = 0;
  return orderTimes(random, COUNT).map((createdAtMs, index) => {
    const created_at = isoTime(createdAtMs);
    while (signedUp < buyers.length && buyers[signedUp]!.created_at <= created_at) signedUp += 1;
    const { id: customer_id, country, segment } = buyers[random.int(0, signedUp - 1)]!;
    const lines = basket(random, shelf, segment);
    const history = life(random, createdAtMs);
    return {
      id: `ord_${String(index + 1).padStart(5, "0")}`,
      customer_id,
      status: history.at(-1)!.status,
      created_at,
      country,
      total_cents: lines.reduce((sum, line) => sum + line.quantity * line.unit_cents, 0),
      currency: "EUR",
      items: lines.reduce((sum, line) => sum + line.quantity, 0),
      lines,
      history,
    };
  });
}

function basket(random: Random, shelf: readonly Product[], segment: Segment): OrderLine[] {
  const bySku = new Map<string, OrderLine>();
  for (let n = random.int(...LINES[segment]); n > 0; n -= 1) {
    const { sku, name, price_cents } = random.pick(shelf);
    bySku.set(sku, { sku, name, quantity: random.int(...QUANTITY[segment]), unit_cents: price_cents });
  }
  return [...bySku.values()];
}

/** Returns the history of an order up to the present. The last entry has its status. */
function life(random: Random, createdAtMs: number): HistoryEntry[] {
  const history: HistoryEntry[] = [{ status: "pending", at: isoTime(createdAtMs) }];
  let atMs = createdAtMs;
  function then(status: OrderStatus, minHours: number, maxHours: number, note?: string): void {
    atMs += random.int((minHours * HOUR_MS) / 1000, (maxHours * HOUR_MS) / 1000) * 1000;
    if (atMs <= NOW_MS) history.push({ status, at: isoTime(atMs), ...(note !== undefined && { note }) });
  }

  const course = random.weighted({ good: 82, unpaid: 8, withdrawn: 4, returned: 6 });
  if (course === "unpaid") {
    atMs += DAYS_TO_PAY * DAY_MS;
    then("cancelled", 0, 12, `No payment within ${DAYS_TO_PAY} days.`);
  } else {
    then("paid", 0.05, 20);
    if (course === "withdrawn") then("cancelled", 1, 20, "Cancelled by the customer before shipping.");
    else {
      then("shipped", 30, 140);
      then("delivered", 48, 190);
      const reasons = ["Returned: not as expected.", "Returned: damaged.", "Returned: wrong size."];
      if (course === "returned") then("refunded", 100, 600, random.pick(reasons));
    }
  }
  return history;
}
