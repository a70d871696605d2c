/** A program that reads the pages of a list, and a recording of it. Tests change one of them. */
import type { Recording } from "../../../src/programs/recordings/format.ts";
import type { TestedProgram } from "../../../src/programs/recordings/test-program.ts";

export const report: TestedProgram = {
  name: "report",
  code: `
const orders = [];
let cursor;
do {
  const page = await shop.list_orders({ month: input.month, ...(cursor ? { cursor } : {}) });
  orders.push(...page.orders);
  cursor = page.next_cursor;
} while (cursor);
const customers = await Promise.all(orders.map(({ customer_id }) => shop.get_customer({ id: customer_id })));
const total = orders.reduce((sum, { cents }) => sum + cents, 0);
await shop.post_report({ month: input.month, total });
return { total, first: orders[0].note.toUpperCase(), names: customers.map(({ name }) => name) };
`,
  input: { type: "object", properties: { month: { type: "string" } }, required: ["month"] },
  calls: ["shop.get_customer", "shop.list_orders", "shop.post_report"],
};

const schema = { inputSchema: { type: "object" } };

/** Returns a new object, so that a test can change it. */
export function recorded(): Recording {
  const month = "2026-10";
  const order = (customer: string, cents: number) => ({ customer_id: customer, cents, note: "gift" });
  return {
    version: 1,
    program: "report",
    startsAt: "2026-11-29T21:00:00.000Z",
    seed: "0123456789abcdef0123456789abcdef",
    input: { month },
    servers: { shop: { name: "shop", tools: { list_orders: schema, get_customer: schema, post_report: schema } } },
    calls: [
      {
        ...{ server: "shop", tool: "list_orders", arguments: { month }, ms: 10 },
        result: { orders: [order("ann", 100)], next_cursor: "two" },
      },
      {
        ...{ server: "shop", tool: "list_orders", arguments: { month, cursor: "two" }, ms: 20 },
        result: { orders: [order("bob", 250)] },
      },
      { server: "shop", tool: "get_customer", arguments: { id: "ann" }, result: { name: "Ann" }, ms: 40, answer: 4 },
      {
        ...{ server: "shop", tool: "get_customer", arguments: { id: "bob" }, result: { name: "Bob" }, ms: 30 },
        ...{ after: 2, answer: 3 },
      },
      { server: "shop", tool: "post_report", arguments: { month, total: 350 }, result: { ok: true }, ms: 50 },
    ],
    output: { total: 350, first: "GIFT", names: ["Ann", "Bob"] },
  };
}
