/** Tasks with the shop: joined lists, many lookups, and a service that sometimes fails. */
import { ask, read, type Task, well } from "./task.ts";

const lastQuarter = { from: "2025-10-01", to: "2025-12-31" };

const waitingCustomers: Task = {
  name: "join 4 tickets with their customers",
  request: "Who is waiting for an answer to an urgent open ticket, and in which country do they live?",
  answer: ["Axel Ekström (SE)", "Markus Vogel (DE)", "Sophie Berger (AT)", "Sophie Wagner (DE)"],
  async direct(agent) {
    const { tickets } = read(await ask(agent, "demo", "list_tickets", { status: "open", priority: "urgent" }));
    const ids = [...new Set<string>(tickets.map((ticket: { customer_id: string }) => ticket.customer_id))];
    const customers = await agent.turn(...ids.map((id) => ["demo", "get_customer", { customer_id: id }] as never));
    return customers
      .map(read)
      .map(({ name, country }) => `${name} (${country})`)
      .sort();
  },
  async code(agent) {
    if (agent.shows("demo.list_tickets", "demo.get_customer")) {
      const found = await agent.execute(`
const { tickets } = await demo.list_tickets({ status: "open", priority: "urgent" });
const who = await Promise.all(tickets.map(async (t: any) => {
  const c: any = await demo.get_customer({ customer_id: t.customer_id });
  return { name: c.name, country: c.country ?? c.address?.country };
}));
return { who, sample: tickets[0] };`);
      const { who } = found as { who: { name: string; country: string }[] };
      return who.map(({ name, country }) => `${name} (${country})`).sort();
    }
    await agent.search(["list support tickets by status and priority", "get customer by id"], "demo");
    return agent.execute(`
const { tickets } = await demo.list_tickets({ status: "open", priority: "urgent" });
const ids = [...new Set(tickets.map((t) => t.customer_id))];
const customers = await Promise.all(ids.map((customer_id) => demo.get_customer({ customer_id })));
return customers.map((c) => \`\${c.name} (\${c.country})\`).sort();`);
  },
};

const revenueBySegment: Task = {
  name: "join 600 customers with 276 orders",
  request: "What was December's revenue by customer segment, without cancelled and refunded orders? In cents.",
  answer: { retail: 17_737_205, wholesale: 19_604_905, vip: 6_805_350 },
  async direct(agent) {
    const [orders, customers] = (
      await agent.turn(
        ["demo", "list_orders", { from: "2025-12-01", to: "2025-12-31" }],
        ["demo", "list_customers", {}],
      )
    ).map(read);
    const segments = new Map(
      customers.customers.map((each: { id: string; segment: string }) => [each.id, each.segment]),
    );
    const sums: Record<string, number> = {};
    for (const { status, customer_id, total_cents } of orders.orders) {
      if (status === "cancelled" || status === "refunded") continue;
      const segment = String(segments.get(customer_id));
      sums[segment] = (sums[segment] ?? 0) + total_cents;
    }
    return sums;
  },
  async code(agent) {
    if (!agent.shows("demo.list_orders", "demo.list_customers"))
      await agent.search(
        ["list orders by date and status", "list customers with segment", "revenue report by customer segment"],
        "demo",
      );
    return agent.execute(`
const [{ orders }, { customers }] = await Promise.all([
  demo.list_orders({ from: "2025-12-01", to: "2025-12-31" }),
  demo.list_customers({}),
]);
const segmentOf = new Map(customers.map((c) => [c.id, c.segment]));
const revenue: Record<string, number> = {};
for (const order of orders) {
  if (order.status === "cancelled" || order.status === "refunded") continue;
  const segment = segmentOf.get(order.customer_id) ?? "unknown";
  revenue[segment] = (revenue[segment] ?? 0) + order.total_cents;
}
return revenue;`);
  },
};

const stockOfFifty: Task = {
  name: "fan out over 50 products",
  request: "Of the 50 dearest products, which three have the fewest available pieces (on hand and not reserved)?",
  answer: [
    ["SHELF-0013", 0],
    ["TABLE-0005", 1],
    ["TABLE-0004", 2],
  ],
  async direct(agent) {
    const { products } = read(await ask(agent, "demo", "list_products", {}));
    type Product = { sku: string; price_cents: number };
    const dearest = (products as Product[])
      .sort((a, b) => b.price_cents - a.price_cents || a.sku.localeCompare(b.sku))
      .slice(0, 50);
    const stock = await agent.turn(...dearest.map(({ sku }) => ["demo", "get_stock", { sku }] as never));
    type Level = { on_hand: number; reserved: number };
    return stock
      .map(read)
      .map(({ sku, levels }): [string, number] => [
        sku,
        (levels as Level[]).reduce((sum, level) => sum + level.on_hand - level.reserved, 0),
      ])
      .sort((a, b) => a[1] - b[1] || a[0].localeCompare(b[0]))
      .slice(0, 3);
  },
  async code(agent) {
    if (agent.shows("demo.list_products", "demo.get_stock")) {
      const found = await agent.execute(`
const { products } = await demo.list_products({});
const price = (p: any) => p.price_cents ?? p.price;
const dearest = products.sort((a, b) => price(b) - price(a) || a.sku.localeCompare(b.sku)).slice(0, 50);
let sample: any;
const rows = await Promise.all(dearest.map(async (p: any) => {
  const stock: any = await demo.get_stock({ sku: p.sku });
  sample ??= stock;
  const levels = Object.values(stock).find(Array.isArray) as any[] ?? [stock];
  return [p.sku, levels.reduce((sum, l) => sum + l.on_hand - (l.reserved ?? 0), 0)];
}));
rows.sort((a, b) => a[1] - b[1]);
return { fewest: rows.slice(0, 3), product: products[0], sample };`);
      return (found as { fewest: unknown[] }).fewest;
    }
    await agent.search(["list products sorted by price", "stock level on hand and reserved of a product"], "demo");
    return agent.execute(`
const { products } = await demo.list_products({});
const dearest = products
  .sort((a, b) => b.price_cents - a.price_cents || a.sku.localeCompare(b.sku))
  .slice(0, 50);
const available = await Promise.all(
  dearest.map(async ({ sku }) => {
    const { levels } = await demo.get_stock({ sku });
    return [sku, levels.reduce((sum, l) => sum + l.on_hand - l.reserved, 0)] as const;
  }),
);
return available.sort((a, b) => a[1] - b[1] || a[0].localeCompare(b[0])).slice(0, 3);`);
  },
};

const currencies = ["USD", "GBP", "CHF", "SEK"];

const retriedRates: Task = {
  name: "convert with a service that fails",
  request:
    "What was December's revenue in USD, GBP, CHF and SEK? Whole units. The rate service fails at times: try again.",
  answer: { USD: 512_111, GBP: 379_668, CHF: 414_986, SEK: 4_878_294 },
  async direct(agent) {
    const [report, ...replies] = await agent.turn(
      ["demo", "sales_report", { from: "2025-12-01", to: "2025-12-31", group_by: "month" }],
      ...currencies.map((to) => ["demo", "get_exchange_rate", { from: "EUR", to }] as never),
    );
    const rates = new Map<string, number>();
    let open = currencies;
    for (let answers = replies; ; ) {
      for (const [index, reply] of answers.entries()) if (!reply.failed) rates.set(open[index]!, read(reply).rate);
      open = open.filter((currency) => !rates.has(currency));
      if (open.length === 0) break;
      answers = await agent.turn(...open.map((to) => ["demo", "get_exchange_rate", { from: "EUR", to }] as never));
    }
    const cents = read(report).rows[0].revenue_cents;
    return Object.fromEntries(currencies.map((to) => [to, Math.round((cents / 100) * rates.get(to)!)]));
  },
  async code(agent) {
    if (!agent.shows("demo.sales_report", "demo.get_exchange_rate"))
      await agent.search(["revenue report for a month", "list orders", "currency exchange rate"], "demo");
    return agent.execute(`
async function withRetry<T>(fn: () => Promise<T>, attempts = 4): Promise<T> {
  for (let i = 1; ; i++) {
    try {
      return await fn();
    } catch (err) {
      if (i === attempts) throw err;
    }
  }
}
const { rows } = await demo.sales_report({ from: "2025-12-01", to: "2025-12-31", group_by: "month" });
const euros = rows[0].revenue_cents / 100;
const result: Record<string, number> = {};
for (const to of ["USD", "GBP", "CHF", "SEK"] as const) {
  const { rate } = await withRetry(() => demo.get_exchange_rate({ from: "EUR", to }));
  result[to] = Math.round(euros * rate);
}
return result;`);
  },
};

const checkedReport: Task = {
  name: "check a report against 757 orders",
  request:
    "Does the sales report of the last quarter agree with the list of orders? Give the number of orders of each month in both.",
  answer: { "2025-10": [212, 212], "2025-11": [269, 269], "2025-12": [276, 276] },
  async direct(agent) {
    const [report, list] = (
      await agent.turn(
        ["demo", "sales_report", { ...lastQuarter, group_by: "month" }],
        ["demo", "list_orders", lastQuarter],
      )
    ).map(read);
    const counted = (month: string) =>
      list.orders.filter(
        ({ created_at, status }: { created_at: string; status: string }) =>
          created_at.startsWith(month) && status !== "cancelled" && status !== "refunded",
      ).length;
    return Object.fromEntries(
      report.rows.map(({ key, orders }: { key: string; orders: number }) => [key, [orders, counted(key)]]),
    );
  },
  async code(agent) {
    if (agent.shows("demo.sales_report", "demo.list_orders")) {
      const found = await agent.execute(`
const period = { from: "2025-10-01", to: "2025-12-31" };
const report: any = await demo.sales_report({ ...period, group_by: "month" });
const orders: any[] = [];
let cursor: string | undefined;
do {
  const page: any = await demo.list_orders({ ...period, cursor });
  orders.push(...page.orders);
  cursor = page.next_cursor ?? undefined;
} while (cursor);
const counts: Record<string, any> = {};
for (const o of orders) {
  const month = (counts[o.created_at.slice(0, 7)] ??= {});
  month[o.status] = (month[o.status] ?? 0) + 1;
}
return { report, counts, sample: orders[0] };`);
      const { report, counts } = found as {
        report: { rows: { key: string; orders: number }[] };
        counts: Record<string, Record<string, number>>;
      };
      const valid = (month: string) =>
        Object.entries(counts[month]!).reduce(
          (sum, [status, n]) => sum + (/^(?:cancel|refund)/.test(status) ? 0 : n),
          0,
        );
      return Object.fromEntries(report.rows.map(({ key, orders }) => [key, [orders, valid(key)]]));
    }
    await agent.search(["sales report of a quarter", "list orders by date"], "demo");
    return agent.execute(`
const period = { from: "2025-10-01", to: "2025-12-31" };
const [{ rows }, { orders }] = await Promise.all([
  demo.sales_report({ ...period, group_by: "month" }),
  demo.list_orders(period),
]);
const valid = orders.filter((o) => o.status !== "cancelled" && o.status !== "refunded");
return Object.fromEntries(
  rows.map((row) => [row.key, [row.orders, valid.filter((o) => o.created_at.startsWith(row.key)).length]]),
);`);
  },
};

const reorderMail: Task = {
  name: "mail a list of 16 products",
  request:
    "Mail purchasing@example.com what has to be reordered: a line for each product with its SKU and how many are missing.",
  answer: 16,
  async direct(agent) {
    const { products } = read(await ask(agent, "demo", "list_products", { low_stock: true }));
    type Product = { sku: string; stock: number; reorder_at: number };
    const lines = (products as Product[]).map(({ sku, stock, reorder_at }) => `${sku}: ${reorder_at - stock}`);
    const mail = { to: "purchasing@example.com", subject: "To be reordered", body: lines.join("\n") };
    well(await ask(agent, "demo", "send_email", mail));
    return lines.length;
  },
  async code(agent) {
    // The names of the fields tell what is missing, and nothing is sent before they are known.
    if (!agent.shows("demo.list_products", "demo.send_email") || !agent.tells("reorder_at"))
      await agent.search(["products to reorder low stock", "get product SKU", "send email"], "demo");
    return agent.execute(`
const { products } = await demo.list_products({ low_stock: true });
const lines = products.map((p) => \`\${p.sku}: \${p.reorder_at - p.stock}\`);
await demo.send_email({ to: "purchasing@example.com", subject: "To be reordered", body: lines.join("\\n") });
return lines.length;`);
  },
};

const refundChain: Task = {
  name: "a refund, step by step",
  request:
    "Refund the order of the urgent open ticket that asks for a refund, tell the customer in the ticket, and close it.",
  answer: "tkt_0310 closed",
  async direct(agent) {
    const { tickets } = read(await ask(agent, "demo", "list_tickets", { status: "open", priority: "urgent" }));
    const ticket = tickets.find(({ subject }: { subject: string }) => subject.startsWith("Refund"));
    well(await ask(agent, "demo", "refund_order", { order_id: ticket.order_id, reason: "asked for by the customer" }));
    const reply = { ticket_id: ticket.id, body: "We have refunded your order.", close: true };
    const { status } = read(await ask(agent, "demo", "reply_ticket", reply));
    return `${ticket.id} ${status}`;
  },
  async code(agent) {
    if (!agent.shows("demo.list_tickets", "demo.reply_ticket", "demo.refund_order"))
      await agent.search(["list support tickets", "refund an order", "reply to a ticket", "close a ticket"], "demo");
    const done = await agent.execute(`
const { tickets } = await demo.list_tickets({ status: "open", priority: "urgent" });
const asking = tickets.filter((t) => /refund/i.test(t.subject));
if (asking.length !== 1 || !asking[0].order_id) return { nothingDone: true, tickets };
const [{ id, order_id }] = asking;
const refund = await demo.refund_order({ order_id, reason: "asked for by the customer" });
const ticket = await demo.reply_ticket({ ticket_id: id, body: "We have refunded your order.", close: true });
return { ticket: \`\${id} \${ticket.status}\`, refund };`);
    return (done as { ticket: string }).ticket;
  },
};

export const shopTasks = [
  waitingCustomers,
  revenueBySegment,
  stockOfFifty,
  retriedRates,
  checkedReport,
  reorderMail,
  refundChain,
];
