/** The generated data has the documented amounts, and does not contradict itself. */
import { expect, test } from "bun:test";
import { isoTime, NOW_MS } from "../../src/demo/data/calendar.ts";
import { COUNTRIES, ORDER_STATUSES, type Order, SEGMENTS } from "../../src/demo/model.ts";
import { openShop } from "../../src/demo/shop.ts";

const shop = openShop();
const statusOf = ({ status }: Order) => status;

function countBy<T>(list: readonly T[], key: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of list) counts[key(item)] = (counts[key(item)] ?? 0) + 1;
  return counts;
}

test("the shop has the documented numbers of orders, customers, products and tickets", () => {
  expect([shop.orders.length, shop.customers.length, shop.products.length, shop.tickets.length]).toEqual([
    2400, 600, 140, 320,
  ]);
  expect(Object.keys(countBy(shop.customers, (customer) => customer.country)).sort()).toEqual([...COUNTRIES]);
  expect(Object.keys(countBy(shop.customers, (customer) => customer.segment)).sort()).toEqual([...SEGMENTS].sort());
  expect(Object.values(countBy(shop.products, (product) => product.category))).toEqual([24, 24, 23, 23, 23, 23]);
  expect(new Set(shop.products.flatMap((product) => product.levels.map((level) => level.warehouse))).size).toBe(3);
});

test("ids are numbered without gaps, oldest first", () => {
  expect([shop.orders[0]!.id, shop.orders[41]!.id, shop.orders[2399]!.id]).toEqual([
    "ord_00001",
    "ord_00042",
    "ord_02400",
  ]);
  expect([shop.customers[0]!.id, shop.customers[599]!.id]).toEqual(["cus_0001", "cus_0600"]);
  expect([shop.tickets[0]!.id, shop.tickets[319]!.id]).toEqual(["tkt_0001", "tkt_0320"]);
  for (const list of [shop.orders, shop.customers, shop.tickets]) {
    const times = list.map((item) => item.created_at);
    expect(times).toEqual(times.toSorted());
  }
});

test("names, addresses and SKUs are unique", () => {
  expect(new Set(shop.customers.map((customer) => customer.name)).size).toBe(600);
  expect(new Set(shop.customers.map((customer) => customer.email)).size).toBe(600);
  expect(shop.customers.filter((customer) => !/^[a-z.]+@example\.com$/.test(customer.email))).toEqual([]);
  expect(new Set(shop.products.map((product) => product.sku)).size).toBe(140);
  expect(shop.products.some((product) => product.sku === "LAMP-0003")).toBe(true);
});

test("an order belongs to a customer who existed then, and its total is the sum of its lines", () => {
  const customers = new Map(shop.customers.map((customer) => [customer.id, customer]));
  const products = new Map(shop.products.map((product) => [product.sku, product]));
  for (const order of shop.orders) {
    const customer = customers.get(order.customer_id)!;
    expect(customer.created_at <= order.created_at).toBe(true);
    expect(customer.country).toBe(order.country);
    expect(order.created_at).toStartWith("2025-");
    expect(order.lines.reduce((sum, line) => sum + line.quantity * line.unit_cents, 0)).toBe(order.total_cents);
    for (const line of order.lines) expect(products.get(line.sku)!.name).toBe(line.name);
  }
});

test("a history begins with the order, goes forward and ends before the present", () => {
  for (const order of shop.orders) {
    const times = order.history.map((entry) => entry.at);
    expect(order.history[0]!.status).toBe("pending");
    expect(order.history.at(-1)!.status).toBe(order.status);
    expect(times[0]).toBe(order.created_at);
    expect(times).toEqual(times.toSorted());
    expect(times.at(-1)! <= isoTime(NOW_MS)).toBe(true);
  }
});

test("old orders are completed, and the newest are still open", () => {
  const spring = countBy(
    shop.orders.filter((order) => order.created_at < "2025-07-01"),
    statusOf,
  );
  expect(Object.keys(spring).sort()).toEqual(["cancelled", "delivered", "refunded"]);
  const lastWeek = countBy(
    shop.orders.filter((order) => order.created_at > "2025-12-28"),
    statusOf,
  );
  expect(lastWeek["pending"]! + lastWeek["paid"]! + lastWeek["shipped"]!).toBeGreaterThan(20);
  expect(Object.keys(countBy(shop.orders, statusOf)).sort()).toEqual([...ORDER_STATUSES].sort());
});

test("the data contains the cases that agents are asked about", () => {
  const buyers = new Set(shop.orders.map((order) => order.customer_id));
  const never = countBy(
    shop.customers.filter((customer) => !buyers.has(customer.id)),
    (customer) => customer.segment,
  );
  expect(Object.keys(never).sort()).toEqual([...SEGMENTS].sort());
  expect(shop.customers.some((customer) => customer.segment === "vip" && customer.country === "DE")).toBe(true);
  expect(shop.products.filter((product) => product.stock <= product.reorder_at).length).toBeGreaterThan(10);
  const waiting = shop.tickets.filter((ticket) => ticket.status === "waiting");
  expect(waiting.length).toBeGreaterThan(12);
  expect(waiting.some((ticket) => ticket.priority === "high")).toBe(true);
  expect(shop.tickets.some((ticket) => ticket.status === "open" && ticket.priority === "urgent")).toBe(true);
});

test("a ticket is about an order of its customer, and its messages go forward", () => {
  const orders = new Map(shop.orders.map((order) => [order.id, order]));
  for (const ticket of shop.tickets) {
    const order = ticket.order_id === undefined ? undefined : orders.get(ticket.order_id)!;
    if (order !== undefined) {
      expect(order.customer_id).toBe(ticket.customer_id);
      expect(order.created_at <= ticket.created_at).toBe(true);
    }
    const times = ticket.messages.map((message) => message.created_at);
    expect(times[0]).toBe(ticket.created_at);
    expect(times).toEqual(times.toSorted());
    expect(times.at(-1)! <= isoTime(NOW_MS)).toBe(true);
  }
});
