/** Customers: listed, searched and looked up. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type DemoClient, startDemoClient } from "./demo-client.ts";
import type { CustomerDetail, CustomerList, OrderList } from "./shapes.ts";

let demo: DemoClient;
beforeAll(async () => {
  demo = await startDemoClient();
});
afterAll(() => demo.client.close());

test("list_customers filters by segment and country, and returns pages", async () => {
  const all = await demo.value<CustomerList>("list_customers");
  expect(Object.keys(all.customers[0]!)).toEqual(["id", "name", "email", "country", "segment", "created_at"]);
  const vips = all.customers.filter(({ segment, country }) => segment === "vip" && country === "DE");
  const first = await demo.value<CustomerList>("list_customers", { segment: "vip", country: "DE", limit: 5 });
  expect(first.total).toBe(vips.length);
  const rest = await demo.value<CustomerList>("list_customers", {
    segment: "vip",
    country: "DE",
    cursor: first.next_cursor,
  });
  expect([...first.customers, ...rest.customers]).toEqual(vips);
  expect(await demo.failure("list_customers", { country: "Germany" })).toStartWith(
    'country is "Germany". It must match {"type":"string","enum":["AT","CH","DE","DK","FR","GB","NL","PL","SE"],',
  );
});

test("get_customer adds the address and the totals of the customer's orders", async () => {
  const { orders } = await demo.value<OrderList>("list_orders");
  const { customer_id } = orders.find((order) => order.status === "refunded")!;
  const theirs = orders.filter((order) => order.customer_id === customer_id);
  const customer = await demo.value<CustomerDetail>("get_customer", { customer_id });
  expect(Object.keys(customer.address)).toEqual(["street", "postal_code", "city", "country"]);
  expect(customer.totals).toEqual({
    orders: theirs.length,
    revenue_cents: theirs
      .filter(({ status }) => status !== "cancelled" && status !== "refunded")
      .reduce((sum, order) => sum + order.total_cents, 0),
    last_order_at: theirs.at(-1)!.created_at,
  });
  expect(await demo.failure("get_customer", { customer_id: "bogus" })).toBe(
    'No customer "bogus". Ids look like cus_0007.',
  );
});

test("search_customers finds parts of names and addresses, ignoring case and accents", async () => {
  const names = async (query: string) =>
    (await demo.value<CustomerList>("search_customers", { query })).customers.map(({ name }) => name);
  const annas = await names("anna");
  expect(annas.length).toBeGreaterThan(5);
  expect(annas.filter((name) => !/anna/i.test(name))).toEqual([]);
  const mullers = await names("Müller");
  expect(mullers.length).toBeGreaterThan(1);
  expect(await names("MULLER")).toEqual(mullers);
  const [name] = mullers;
  expect(await names(name!.split(" ").toReversed().join(" "))).toEqual([name!]);
  expect(await names("lukasz")).not.toEqual([]);
  expect(await names("nobody at all")).toEqual([]);
  expect(await demo.failure("search_customers", { query: " " })).toStartWith("query is blank.");
});
