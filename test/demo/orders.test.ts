/** Orders are found, paged, updated and refunded. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type DemoClient, startDemoClient } from "./demo-client.ts";
import type { OrderDetail, OrderList } from "./shapes.ts";

let demo: DemoClient;
beforeAll(async () => {
  demo = await startDemoClient();
});
afterAll(() => demo.client.close());

describe("list_orders", () => {
  test("returns all orders as about 1 MB of JSON", async () => {
    const text = await demo.text("list_orders");
    const { orders, total, next_cursor } = JSON.parse(text) as OrderList;
    expect(Buffer.byteLength(text)).toBeWithin(900_000, 1_100_000);
    expect([orders.length, total, next_cursor]).toEqual([2400, 2400, null]);
    expect(Object.keys(orders[0]!)).toEqual(
      "id customer_id status created_at country total_cents currency items".split(" "),
    );
  });

  test("filters by status, customer and date, the last day included", async () => {
    const all = (await demo.value<OrderList>("list_orders")).orders;
    const may = all.filter(({ created_at }) => created_at.startsWith("2025-05"));
    const inMay = await demo.value<OrderList>("list_orders", { from: "2025-05-01", to: "2025-05-31" });
    expect(inMay.orders).toEqual(may);
    const { customer_id } = may[0]!;
    const theirs = await demo.value<OrderList>("list_orders", { customer_id, status: "delivered" });
    expect(theirs.orders).toEqual(all.filter((o) => o.customer_id === customer_id && o.status === "delivered"));
    const moment = may[0]!.created_at;
    const exactly = await demo.value<OrderList>("list_orders", { from: moment, to: moment });
    expect(exactly.orders).toEqual([may[0]!]);
  });

  test("returns pages without overlaps and gaps, even when orders leave the list", async () => {
    await using own = await startDemoClient();
    const paid = await own.value<OrderList>("list_orders", { status: "paid" });
    const seen: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page: OrderList = await own.value("list_orders", { status: "paid", limit: 10, ...(cursor && { cursor }) });
      expect(page.orders.length).toBeLessThanOrEqual(10);
      seen.push(...page.orders.map(({ id }) => id));
      await own.value("update_order_status", { order_id: page.orders[0]!.id, status: "shipped" });
      cursor = page.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(paid.orders.map(({ id }) => id));
  });

  test("ends with a null cursor when the last page is full", async () => {
    const { total } = await demo.value<OrderList>("list_orders", { status: "paid" });
    const page = await demo.value<OrderList>("list_orders", { status: "paid", limit: total });
    expect([page.orders.length, page.next_cursor]).toEqual([total, null]);
  });

  test("names every wrong argument with what is allowed", async () => {
    expect(await demo.failure("list_orders", { status: "complete", limit: 0, cursor: null, page: 2 })).toBe(
      [
        'status is "complete". It must match {"type":"string","enum":["pending","paid","shipped","delivered",' +
          '"cancelled","refunded"],"description":"Only orders in this status."}',
        'limit is 0. It must match {"type":"integer","minimum":1,' +
          '"description":"How many to give at most. Without it all are given."}',
        'cursor is null. It must match {"type":"string","description":"The next_cursor of the last answer, to go on after ' +
          'it. Leave it out when next_cursor was null: that was the end."}',
        'list_orders has no "page". It takes: status, customer_id, from, to, limit, cursor.',
      ].join("\n"),
    );
    expect(await demo.failure("list_orders", { from: "2025-02-30" })).toBe(
      'from is "2025-02-30". Must be a date such as 2025-03-31 or a time such as 2025-03-31T20:00:00Z.',
    );
    expect(await demo.failure("list_orders", { from: "2025-03-01", to: "2025-02-01" })).toBe(
      'from is "2025-03-01", which is after to, "2025-02-01".',
    );
    expect(await demo.failure("list_orders", { cursor: "2" })).toStartWith('cursor is "2". Must be the next_cursor');
    expect(await demo.failure("list_orders", { customer_id: "cus_9999" })).toBe(
      'No customer "cus_9999". Ids look like cus_0007.',
    );
  });
});

describe("get_order", () => {
  test("returns the order with its lines and history", async () => {
    const { orders } = await demo.value<OrderList>("list_orders", { limit: 42 });
    const { lines, history, ...order } = await demo.value<OrderDetail>("get_order", { order_id: "ord_00042" });
    expect(order).toEqual(orders[41]!);
    expect(lines.reduce((sum, line) => sum + line.quantity * line.unit_cents, 0)).toBe(order.total_cents);
    expect(lines.reduce((sum, line) => sum + line.quantity, 0)).toBe(order.items);
    expect(history[0]).toEqual({ status: "pending", at: order.created_at });
    expect(history.at(-1)!.status).toBe(order.status);
  });

  test("refuses an unknown id", async () => {
    expect(await demo.failure("get_order", { order_id: "ord_99999" })).toBe(
      'No order "ord_99999". Ids look like ord_00042.',
    );
  });
});

describe("update_order_status", () => {
  test("changes the status, keeps the note, and does nothing a second time", async () => {
    await using own = await startDemoClient();
    const [order] = (await own.value<OrderList>("list_orders", { status: "shipped", limit: 1 })).orders;
    const change = { order_id: order!.id, status: "delivered", note: "Left with a neighbour." };
    const changed = await own.value<OrderDetail>("update_order_status", change);
    expect(changed.history.at(-1)).toEqual({
      status: "delivered",
      at: "2025-12-31T18:00:01Z",
      note: "Left with a neighbour.",
    });
    expect(await own.value<OrderDetail>("update_order_status", change)).toEqual(changed);
    expect(await own.value<OrderDetail>("get_order", { order_id: order!.id })).toEqual(changed);
  });

  test("refuses an impossible change and names the possible ones", async () => {
    const first = async (status: string) =>
      (await demo.value<OrderList>("list_orders", { status, limit: 1 })).orders[0]!.id;
    const paid = await first("paid");
    expect(await demo.failure("update_order_status", { order_id: paid, status: "pending" })).toBe(
      `Order ${paid} is paid and cannot become pending. From paid it can become: shipped or cancelled. ` +
        "To refund it, use refund_order.",
    );
    const cancelled = await first("cancelled");
    expect(await demo.failure("update_order_status", { order_id: cancelled, status: "paid" })).toBe(
      `Order ${cancelled} is cancelled and cannot become paid. From cancelled it can become: no other status.`,
    );
  });
});

describe("refund_order", () => {
  test("refunds a part and then the rest, after which the order is refunded", async () => {
    await using own = await startDemoClient();
    const [order] = (await own.value<OrderList>("list_orders", { status: "delivered", limit: 1 })).orders;
    const { id: order_id, total_cents } = order!;
    const part = { order_id, amount_cents: 100, reason: "scratched" };
    expect(await own.value<object>("refund_order", part)).toEqual({
      refund_id: "ref_0001",
      order_id,
      amount_cents: 100,
    });
    const between = await own.value<OrderDetail>("get_order", { order_id });
    expect(between.history.at(-1)).toMatchObject({ status: "delivered", note: "Refunded 100 cents: scratched" });

    expect(await own.failure("refund_order", { ...part, amount_cents: total_cents })).toBe(
      `amount_cents is ${total_cents}. At most ${total_cents - 100} can be refunded: the total of order ${order_id} is ` +
        `${total_cents}, and 100 have already been refunded.`,
    );
    const rest = await own.value<object>("refund_order", { order_id, reason: "returned" });
    expect(rest).toEqual({ refund_id: "ref_0002", order_id, amount_cents: total_cents - 100 });
    expect((await own.value<OrderDetail>("get_order", { order_id })).status).toBe("refunded");
    expect(await own.failure("refund_order", part)).toBe(
      `Order ${order_id} is refunded. Only orders that are paid, shipped, delivered can be refunded.`,
    );
  });
});
