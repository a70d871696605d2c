/** Twenty programs over the demo server, as agents write them, and a part of a result that each reads. */

export interface DriftingProgram {
  name: string;
  code: string;
  /** The tool whose result it reads. */
  tool: string;
  /** The part that it reads: `orders.*.total_cents`. */
  reads: string;
  /** The type that the part may have, too, and that breaks the program. */
  wider: "string" | "null";
  /** The list that may be empty: `orders`. */
  list?: string;
  /** Two calls that do not depend on each other, in another order. */
  swapped?: (code: string) => string;
  /** Whether it follows `next_cursor`. */
  pages?: true;
}

/** Reads the pages of a list, four at a time. */
const paged = (tool: string, key: string, args: string) => `const all = [];
let cursor;
do {
  const page = await demo.${tool}({ ${args}, limit: 4, ...(cursor ? { cursor } : {}) });
  all.push(...page.${key});
  cursor = page.next_cursor;
} while (cursor);
`;

/** Exchanges two whole lines. */
const lines = (one: number, other: number) => (code: string) => {
  const all = code.split("\n");
  [all[one], all[other]] = [all[other]!, all[one]!];
  return all.join("\n");
};

export const driftingPrograms: DriftingProgram[] = [
  {
    name: "total of orders",
    code: `const { orders } = await demo.list_orders({ customer_id: "cus_0007" });
return { total: orders.reduce((sum, { total_cents }) => sum + total_cents, 0) };`,
    ...{ tool: "list_orders", reads: "orders.*.total_cents", wider: "string", list: "orders" },
  },
  {
    name: "countries of orders",
    code: `const { orders } = await demo.list_orders({ from: "2025-03-01", to: "2025-03-02" });
return [...new Set(orders.map(({ country }) => country.toLowerCase()))].sort();`,
    ...{ tool: "list_orders", reads: "orders.*.country", wider: "null", list: "orders" },
  },
  {
    name: "days of orders",
    code: `const { orders } = await demo.list_orders({ customer_id: "cus_0008" });
return orders.map(({ id, created_at }) => ({ id, day: created_at.slice(0, 10) }));`,
    ...{ tool: "list_orders", reads: "orders.*.created_at", wider: "null", list: "orders" },
  },
  {
    name: "number of orders",
    code: `const { total } = await demo.list_orders({ status: "refunded", limit: 1 });
return \`\${total.toFixed(0)} orders were refunded\`;`,
    ...{ tool: "list_orders", reads: "total", wider: "null" },
  },
  {
    name: "pages of orders",
    code: `${paged("list_orders", "orders", 'customer_id: "cus_0007"')}return { pieces: all.reduce((sum, { items }) => sum + items, 0), count: all.length };`,
    ...{ tool: "list_orders", reads: "orders.*.items", wider: "string", list: "orders", pages: true },
  },
  {
    name: "pages of customers",
    code: `${paged("list_customers", "customers", 'segment: "vip"')}return all.map(({ name }) => name.toUpperCase());`,
    ...{ tool: "list_customers", reads: "customers.*.name", wider: "null", list: "customers", pages: true },
  },
  {
    name: "domains of customers",
    code: `const { customers } = await demo.list_customers({ segment: "wholesale", limit: 5 });
return customers.map(({ email }) => email.split("@")[1]);`,
    ...{ tool: "list_customers", reads: "customers.*.email", wider: "null", list: "customers" },
  },
  {
    name: "revenue of a customer",
    code: `const { name, totals } = await demo.get_customer({ customer_id: "cus_0007" });
return { name, euros: totals.revenue_cents / 100 + 0, orders: totals.orders };`,
    ...{ tool: "get_customer", reads: "totals.orders", wider: "string" },
  },
  {
    name: "address of a customer",
    code: `const { address } = await demo.get_customer({ customer_id: "cus_0003" });
return address.city.trim() + ", " + address.country;`,
    ...{ tool: "get_customer", reads: "address.city", wider: "null" },
  },
  {
    name: "two customers",
    code: `const one = await demo.get_customer({ customer_id: "cus_0001" });
const other = await demo.get_stock({ sku: "LAMP-0003" });
return { email: one.email.length, levels: other.levels.length };`,
    ...{ tool: "get_customer", reads: "email", wider: "null", swapped: lines(0, 1) },
  },
  {
    name: "customers of orders",
    code: `const { orders } = await demo.list_orders({ from: "2025-03-01", limit: 3 });
const customers = await Promise.all(orders.map(({ customer_id }) => demo.get_customer({ customer_id })));
return customers.map(({ name }) => name);`,
    ...{ tool: "list_orders", reads: "orders.*.customer_id", wider: "null", list: "orders" },
  },
  {
    name: "lines of an order",
    code: `const order = await demo.get_order({ order_id: "ord_00042" });
return order.lines.map(({ sku, quantity }) => \`\${quantity} × \${sku.toLowerCase()}\`);`,
    ...{ tool: "get_order", reads: "lines.*.sku", wider: "null", list: "lines" },
  },
  {
    name: "history of an order",
    code: `const { history } = await demo.get_order({ order_id: "ord_00007" });
return history.at(-1).status.length;`,
    ...{ tool: "get_order", reads: "history.*.status", wider: "null", list: "history" },
  },
  {
    name: "free stock",
    code: `const { levels } = await demo.get_stock({ sku: "LAMP-0003" });
return levels.map(({ warehouse, on_hand, reserved }) => ({ warehouse, free: on_hand + reserved }));`,
    ...{ tool: "get_stock", reads: "levels.*.on_hand", wider: "string", list: "levels" },
  },
  {
    name: "products to reorder",
    code: `const { products } = await demo.list_products({ low_stock: true });
return products.map(({ sku, name }) => [sku, name.length]);`,
    ...{ tool: "list_products", reads: "products.*.name", wider: "null", list: "products" },
  },
  {
    name: "dearest product",
    code: `const { products } = await demo.list_products({ category: "lighting" });
return products.toSorted((a, b) => b.price_cents - a.price_cents)[0].price_cents + 1;`,
    ...{ tool: "list_products", reads: "products.*.price_cents", wider: "string", list: "products" },
  },
  {
    name: "urgent tickets",
    code: `const { tickets } = await demo.list_tickets({ priority: "urgent" });
return tickets.map(({ id, subject }) => ({ id, subject: subject.slice(0, 20) }));`,
    ...{ tool: "list_tickets", reads: "tickets.*.subject", wider: "null", list: "tickets" },
  },
  {
    name: "messages of a ticket",
    code: `const { messages } = await demo.get_ticket({ ticket_id: "tkt_0101" });
return messages.reduce((sum, { body }) => sum + body.length, 0);`,
    ...{ tool: "get_ticket", reads: "messages.*.body", wider: "null", list: "messages" },
  },
  {
    name: "report and rate",
    code: `const report = await demo.sales_report({ from: "2025-03-01", to: "2025-03-31", group_by: "country" });
const stock = await demo.get_stock({ sku: "LAMP-0003" });
return { sum: report.rows.reduce((sum, { revenue_cents }) => sum + revenue_cents, 0), sku: stock.sku };`,
    ...{ tool: "sales_report", reads: "rows.*.revenue_cents", wider: "string", list: "rows", swapped: lines(0, 1) },
  },
  {
    name: "found customer",
    code: `const { customers } = await demo.search_customers({ query: "a" });
return customers.slice(0, 3).map(({ segment }) => segment.charAt(0));`,
    ...{ tool: "search_customers", reads: "customers.*.segment", wider: "null", list: "customers" },
  },
];
