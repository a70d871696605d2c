/** Our own wrong programs, one for each kind of mistake, with phrases that the answer must contain. */

export interface Wrong {
  id: string;
  mistake: string;
  /** The explanation that a reader needs. */
  ideal: string;
  code: string;
  /** It reaches the time limit, which is short in this case. */
  stops?: true;
  /** Phrases that the answer must contain. */
  must: string[];
}

export const own: Wrong[] = [
  {
    id: "args-camel-case",
    mistake: "An argument in camelCase.",
    ideal: "get_order takes order_id; the corrected call.",
    code: `const order = await demo.get_order({ orderId: "ord_00042" });
return order.status;`,
    must: ['there is no argument "orderId"', 'Write: await demo.get_order({ order_id: "ord_00042" })'],
  },
  {
    id: "args-positional",
    mistake: "The argument without its name.",
    ideal: "Tools take one object; the corrected call.",
    code: `const c = await demo.get_customer("cus_0007");
return c.name;`,
    must: ["takes one object with named arguments", 'Write: await demo.get_customer({ customer_id: "cus_0007" })'],
  },
  {
    id: "args-two-positional",
    mistake: "Two arguments without their names.",
    ideal: "The corrected call with both names.",
    code: `return (await demo.get_exchange_rate("EUR", "USD")).rate;`,
    must: ['Write: await demo.get_exchange_rate({ from: "EUR", to: "USD" })'],
  },
  {
    id: "args-python-keywords",
    mistake: "Python's keyword arguments.",
    ideal: "Arguments stand in an object; the corrected call.",
    code: `const result = await demo.list_orders(status="paid", limit=10);
return result.orders.length;`,
    must: ['await demo.list_orders({ status: "paid", limit: 10 })'],
  },
  {
    id: "args-user-words",
    mistake: "A status in the user's words.",
    ideal: "The values that status may have.",
    code: `const { orders } = await demo.list_orders({ status: "open" });
return orders.length;`,
    must: ['"pending", "paid", "shipped", "delivered", "cancelled", "refunded"', 'got "open"'],
  },
  {
    id: "args-number-as-text",
    mistake: "A number as text.",
    ideal: "limit is a number: 5.",
    code: `const { orders } = await demo.list_orders({ limit: "5" });
return orders.map((o) => o.id);`,
    must: ["Write limit: 5"],
  },
  {
    id: "args-page-number",
    mistake: "Pages by number, with names of another interface.",
    ideal: "limit and cursor, and where the cursor comes from.",
    code: `const first = await demo.list_orders({ page: 1, per_page: 50 });
return first.orders.length;`,
    must: ["Perhaps cursor", "next_cursor", "Perhaps limit"],
  },
  {
    id: "args-several-missing",
    mistake: "Most arguments are left out.",
    ideal: "Everything that is missing, at once, with the signature.",
    code: `await demo.adjust_stock({ sku: "LAMP-0003" });`,
    must: ['"warehouse" is missing', '"delta" is missing', '"reason" is missing', "demo.adjust_stock(args:"],
  },
  {
    id: "args-computed-undefined",
    mistake: "An argument from a property that does not exist.",
    ideal: "It was undefined because orders have no orderId: id.",
    code: `const { orders } = await demo.list_orders({ limit: 1 });
const detail = await demo.get_order({ order_id: orders[0].orderId });
return detail.lines;`,
    must: ['"order_id" is missing', "orders[0].orderId", "{ id, customer_id,"],
  },
  {
    id: "args-nested",
    mistake: "A list of texts where each must be an object; computed, so that only the call finds it.",
    ideal: "Which element has what wrong, and the signature.",
    code: `const names = ["refund policy", "returns"];
const entities = names.map((name) => ({ name, type: "decision", observations: "from the meeting" }));
await memory.create_entities({ entities });`,
    must: ['"entityType" is missing in "entities.0"', '"entities.0.observations" must be array', "entityType: string"],
  },
  {
    id: "tool-synonym",
    mistake: "A plausible tool that there is not.",
    ideal: "The tools that do it: update_order_status.",
    code: `await demo.set_order_status({ order_id: "ord_00042", status: "shipped" });`,
    must: ['demo has no tool "set_order_status"', "demo.update_order_status(args: { order_id: string; status:"],
  },
  {
    id: "tool-of-other-server",
    mistake: "A tool on the wrong server.",
    ideal: "search_files is a tool of files.",
    code: `return await filesystem.search_files({ path: "/data", pattern: "*.md" });`,
    must: ['No server is called "filesystem"', 'await files.search_files({ path: "/data", pattern: "*.md" })'],
  },
  {
    id: "tool-without-server",
    mistake: "A tool called as a bare function.",
    ideal: "demo.search_customers.",
    code: `const { customers } = await search_customers({ query: "anna" });
return customers.length;`,
    must: ['await demo.search_customers({ query: "anna" })'],
  },
  {
    id: "tool-as-service",
    mistake: "An invented object for a kind of thing.",
    ideal: "No server `tickets`; demo.list_tickets with its arguments.",
    code: `const open = await tickets.list({ status: "open" });
return open.length;`,
    must: ['No server is called "tickets"', "demo.list_tickets(args?: { status?:"],
  },
  {
    id: "tool-through-client",
    mistake: "The SDK's client.",
    ideal: "await demo.list_tickets(…)",
    code: `const result = await client.callTool({ name: "list_tickets", arguments: { status: "open" } });
return JSON.parse(result.content[0].text).tickets.length;`,
    must: ["await demo.list_tickets("],
  },
  {
    id: "tool-in-tools",
    mistake: "Tools looked for in `tools`.",
    ideal: "tools only searches; demo.list_products.",
    code: `const { products } = await tools.demo.list_products({ low_stock: true });
return products.length;`,
    must: ["tools has search, describe and list", "await demo.tool("],
  },
  {
    id: "tool-computed-name",
    mistake: "A tool's name that is computed, and wrong.",
    ideal: "demo has no tool list_invoices; near ones with signatures.",
    code: `const totals = {};
for (const what of ["orders", "invoices"]) {
  const r = await demo[\`list_\${what}\`]({ limit: 1 });
  totals[what] = r.total;
}
return totals;`,
    must: ['demo has no tool "list_invoices"', "is not a function", "  3 |"],
  },
  {
    id: "tool-read-past",
    mistake: "Read past a name that is no tool.",
    ideal: "demo has no orders: list_orders.",
    code: `const list = demo.orders.list;
return await list({ status: "paid" });`,
    must: ["demo.orders is undefined", 'demo has no tool "orders"', "demo.list_orders(args?:"],
  },
  {
    id: "tool-imported-camel-case",
    mistake: "An import of a tool by a camelCase name.",
    ideal: "The export's real name.",
    code: `import { listProducts } from "./servers/demo";
const { products } = await listProducts({});
return products.length;`,
    must: ["list_products", "demo.list_products(args?:"],
  },
  {
    id: "server-as-package",
    mistake: "A server imported like a package.",
    ideal: "demo is a global.",
    code: `import demo from "@mcp/demo";
return (await demo.list_products({})).products.length;`,
    must: ["demo is a global"],
  },
  {
    id: "shape-data",
    mistake: "The envelope of an HTTP client.",
    ideal: "There is no data; { customers, total, next_cursor }.",
    code: `const res = await demo.list_customers({ segment: "vip" });
return res.data.customers.map((c) => c.email);`,
    must: ["res.data is undefined", "{ customers, total, next_cursor }", "res.customers"],
  },
  {
    id: "shape-destructured",
    mistake: "A wrong key taken out of a result.",
    ideal: "There is no items in { orders, total, next_cursor }.",
    code: `const { items } = await demo.list_orders({ status: "pending" });
return items.slice(0, 3);`,
    must: ["items is undefined", "{ orders, total, next_cursor }", "Its list is orders"],
  },
  {
    id: "shape-loop",
    mistake: "A loop over the result and not over its list.",
    ideal: "result is an object with the list products.",
    code: `const result = await demo.list_products({ category: "lighting" });
for (const p of result) console.log(p.name);`,
    must: ["result is not iterable", "{ products }", "result.products"],
  },
  {
    id: "shape-length",
    mistake: "The length of an object: the loop never runs and the sum is 0.",
    ideal: "A warning: orders has no length, orders.orders has.",
    code: `const orders = await demo.list_orders({ status: "paid" });
let sum = 0;
for (let i = 0; i < orders.length; i++) {
  sum += orders[i].total_cents;
}
return sum;`,
    must: ["line 3", "has no length", "orders.orders.length"],
  },
  {
    id: "shape-text",
    mistake: "A text taken for a list of objects.",
    ideal: "content is text; its lines.",
    code: `const entries = await files.list_directory({ path: "/data" });
return entries.filter((e) => e.name.endsWith(".txt"));`,
    must: ["entries.filter is not a function", "entries.content", 'split("\\n")'],
  },
  {
    id: "shape-csv-parsed",
    mistake: "CSV text given to JSON.parse.",
    ideal: "It is text, no JSON; how it begins.",
    code: `const out = await demo.export_orders({ format: "csv" });
const rows = JSON.parse(out);
return rows.length;`,
    must: ["out is not JSON", "plain text", "id,customer_id"],
  },
  {
    id: "property-camel-case",
    mistake: "A property of a result in camelCase: NaN.",
    ideal: "total_cents in place of totalCents, with the line.",
    code: `const { orders } = await demo.list_orders({ status: "delivered", from: "2025-12-01" });
const revenue = orders.reduce((sum, o) => sum + o.totalCents, 0) / 100;
return { orders: orders.length, revenue };`,
    must: ["line 2", 'o has no "totalCents"', "Did you mean total_cents?"],
  },
  {
    id: "property-in-date",
    mistake: "A date of a property that does not exist.",
    ideal: "createdAt is created_at.",
    code: `const { tickets } = await demo.list_tickets({ status: "open" });
return tickets.slice(0, 3).map((t) => new Date(t.createdAt).toISOString());`,
    must: ['t has no "createdAt"', "Did you mean created_at?"],
  },
  {
    id: "property-of-other-tool",
    mistake: "The lines of an order in the list, where only get_order has them.",
    ideal: "o.lines is undefined; what an order of the list has.",
    code: `const { orders } = await demo.list_orders({ status: "shipped", limit: 5 });
const units = orders.flatMap((o) => o.lines.map((l) => l.quantity));
return units.reduce((a, b) => a + b, 0);`,
    must: ["o.lines is undefined", 'o has no "lines"', "items }"],
  },
  {
    id: "property-in-log",
    mistake: "A property that does not exist in a logged text.",
    ideal: "fullName is name.",
    code: `const { customers } = await demo.list_customers({ segment: "vip", limit: 2 });
for (const customer of customers) console.log(\`\${customer.fullName} <\${customer.email}>\`);`,
    must: ['customer has no "fullName"', "Did you mean name?"],
  },
  {
    id: "status-never",
    mistake: "A comparison with a word that no status is: 0.",
    ideal: "The values that status has.",
    code: `const { orders } = await demo.list_orders({});
const done = orders.filter((o) => o.status === "completed");
return done.length;`,
    must: ['o.status is never "completed"', '"delivered"'],
  },
  {
    id: "status-case",
    mistake: "A switch over statuses in capitals.",
    ideal: "The statuses are in small letters.",
    code: `const { tickets } = await demo.list_tickets({});
let open = 0;
for (const t of tickets) {
  switch (t.status) {
    case "OPEN":
      open++;
      break;
  }
}
return open;`,
    must: ['t.status is never "OPEN"', 'Did you mean "open"?'],
  },
  {
    id: "await-destructured",
    mistake: "No await before a call that is taken apart.",
    ideal: "The await that is missing.",
    code: `const { products } = demo.list_products({ low_stock: true });
return products.length;`,
    must: ["is a promise", "await demo.list_products(…)"],
  },
  {
    id: "await-variable",
    mistake: "No await, and the value is used two lines later.",
    ideal: "The line where await is missing.",
    code: `const report = demo.sales_report({ from: "2025-01-01", to: "2025-12-31", group_by: "month" });
const best = [];
for (const row of report.rows) best.push(row.key);
return best;`,
    must: ["report is a promise", "on line 1"],
  },
  {
    id: "await-in-text",
    mistake: "A promise in a text.",
    ideal: "It would be [object Promise]; await.",
    code: `console.log(\`Rate: \${demo.get_exchange_rate({ from: "EUR", to: "USD" })}\`);`,
    must: ["[object Promise]", "write await demo.get_exchange_rate(…)"],
  },
  {
    id: "await-map",
    mistake: "A list of promises used as a list of values.",
    ideal: "await Promise.all(…).",
    code: `const { orders } = await demo.list_orders({ limit: 5 });
const details = await orders.map(async (o) => demo.get_order({ order_id: o.id }));
return details.filter((d) => d.lines.length > 1).map((d) => d.id);`,
    must: ["list of promises", "await Promise.all(orders.map(…)) on line 2"],
  },
  {
    id: "await-filter",
    mistake: "An async callback for filter keeps everything.",
    ideal: "filter does not wait; compute first, then filter.",
    code: `const { customers } = await demo.list_customers({ segment: "vip" });
const buyers = customers.filter(async (c) => (await demo.list_orders({ customer_id: c.id })).total > 3);
return buyers.length;`,
    must: ["filter does not wait for an async callback", "Promise.all"],
  },
  {
    id: "await-for-each",
    mistake: "forEach with an async callback: the sum is returned before it is made.",
    ideal: "A warning: forEach does not wait; for…of.",
    code: `const { orders } = await demo.list_orders({ limit: 4 });
let units = 0;
orders.forEach(async (o) => {
  const { lines } = await demo.get_order({ order_id: o.id });
  units += lines.length;
});
return { units };`,
    must: ["line 3: forEach does not wait", "units was read before", "for (const … of …)"],
  },
  {
    id: "await-in-callback",
    mistake: "await in a callback that is not async.",
    ideal: "async, and Promise.all around the map.",
    code: `const { orders } = await demo.list_orders({ limit: 3 });
const details = orders.map((o) => await demo.get_order({ order_id: o.id }));
return details.length;`,
    must: ["await Promise.all(list.map(async (o) => …))", "main.ts:2:"],
  },
  {
    id: "await-promise-all-arguments",
    mistake: "Promise.all with calls in place of a list.",
    ideal: "Brackets around the calls.",
    code: `const [a, b] = await Promise.all(demo.list_tickets({}), demo.list_products({}));
return [a.tickets.length, b.products.length];`,
    must: ["a list is needed here", "await Promise.all([ … ])"],
  },
  {
    id: "endless-pages",
    stops: true,
    mistake: "The next page is never asked for.",
    ideal: "How often it was called with the same arguments, from which line; pass the cursor.",
    code: `const all = [];
let more = true;
while (more) {
  const page = await demo.list_orders({ limit: 500 });
  all.push(...page.orders);
  more = page.next_cursor !== null;
}
return all.length;`,
    must: ["demo.list_orders N times (line 4)", "with the same arguments", "cursor is not passed", "page.next_cursor"],
  },
  {
    id: "endless-loop",
    stops: true,
    mistake: "A loop whose counter is never raised.",
    ideal: "The line of the loop.",
    code: `const { orders } = await demo.list_orders({ limit: 10 });
let i = 0;
let sum = 0;
while (i < orders.length) {
  sum += orders[i].total_cents;
}
return sum;`,
    must: ["in the loop on line 4", "Nothing in the loop on line 4 changes i or orders"],
  },
  {
    id: "slow-loop",
    stops: true,
    mistake: "Slow calls one after the other.",
    ideal: "How many were made; run them together.",
    code: `const results = [];
const waits = Array.from({ length: 100 }, () => 0.1);
for (const seconds of waits) {
  results.push(await demo.slow_audit({ seconds }));
}
return results.length;`,
    must: ["demo.slow_audit", "(line 4)", "Promise.all"],
  },
  {
    id: "slow-call",
    stops: true,
    mistake: "A call that takes longer than the limit.",
    ideal: "Which call had no answer yet; ask for more time.",
    code: `return await demo.slow_audit({ seconds: 30 });`,
    must: ["Unanswered when the code was stopped: demo.slow_audit", "more time"],
  },
  {
    id: "swallowed",
    mistake: "Every failure is caught and forgotten.",
    ideal: "The calls failed, with their message, though the run is ok.",
    code: `const found = [];
for (const order_id of ["42", "43"]) {
  try {
    found.push(await demo.get_order({ order_id }));
  } catch {
    // not there
  }
}
return found;`,
    must: ['2 failed: demo.get_order: No order "42"', "Ids look like ord_"],
  },
  {
    id: "swallowed-message",
    mistake: "Only the message of the error is printed.",
    ideal: "The message, and what the tool takes.",
    code: `async function close(args: any) {
  try {
    await demo.reply_ticket(args);
  } catch (error) {
    console.log("Failed: " + error.message);
  }
}
await close({ id: "tkt_0101", text: "Done", close: true });`,
    must: [
      '"ticket_id" is missing',
      "demo.reply_ticket was called wrongly: demo.reply_ticket(args: { ticket_id: string; body: string",
    ],
  },
  {
    id: "network",
    mistake: "An HTTP library.",
    ideal: "No network; the tool that does it.",
    code: `import axios from "axios";
const { data } = await axios.get("https://api.shop.example.com/v1/customers?segment=vip");
return data.length;`,
    must: ["The sandbox has no network", "demo.list_customers(args?:"],
  },
  {
    id: "database",
    mistake: "A database driver.",
    ideal: "No database; the tool that has the data.",
    code: `const { Client } = require("pg");
const client = new Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
const { rows } = await client.query("SELECT * FROM orders WHERE status = 'paid'");
return rows.length;`,
    must: ["The sandbox has no database", "demo.list_orders(args?:", "main.ts:1:"],
  },
  {
    id: "shell",
    mistake: "A process started from the code.",
    ideal: "No processes and no shell.",
    code: `import { execSync } from "node:child_process";
const out = execSync("ls -la /data").toString();
return out.split("\\n").length;`,
    must: ["The sandbox has no shell and no other processes"],
  },
  {
    id: "page",
    mistake: "A browser's storage.",
    ideal: "No browser; a file of the workspace.",
    code: `const seen = JSON.parse(localStorage.getItem("seen") ?? "[]");
return seen.length;`,
    must: ["nor a browser", "Files are in fs"],
  },
  {
    id: "python",
    mistake: "Python.",
    ideal: "TypeScript is expected; how the lines are written.",
    code: `result = await demo.list_orders(status="paid")
totals = {}
for o in result["orders"]:
    totals[o["country"]] = totals.get(o["country"], 0) + o["total_cents"]
print(totals)`,
    must: ["This is Python; TypeScript is expected", "for (const each of list)"],
  },
  {
    id: "python-operators",
    mistake: "Python's and, or, not.",
    ideal: "The line with &&, || and !.",
    code: `const { orders } = await demo.list_orders({ status: "paid" });
const big = orders.filter((o) => o.country == "DE" and not o.items < 3);
return big.length;`,
    must: ["This is Python; TypeScript is expected", 'o.country == "DE" && !(o.items < 3)'],
  },
  {
    id: "server-hidden",
    mistake: "A variable with the name of the server that it is filled from.",
    ideal: "The collision; rename, or servers.memory.",
    code: `const memory = await memory.read_graph({});
return memory.entities.length;`,
    must: ["memory is not initialized", "hides the server memory", "servers.memory.read_graph(…)"],
  },
  {
    id: "server-hidden-before",
    mistake: "A list with the name of a server, before the server is called.",
    ideal: "The collision and the line of the list.",
    code: `const files = ["/data/a.txt", "/data/b.txt"];
const texts = await files.read_multiple_files({ paths: files });
return texts;`,
    must: ["files.read_multiple_files is not a function", "The variable files on line 1 hides the server files"],
  },
  {
    id: "used-before-declared",
    mistake: "A constant used before its line.",
    ideal: "Where it is declared.",
    code: `const total = (await demo.list_orders({ limit })).total;
const limit = 10;
return total;`,
    must: ["limit is not initialized", "before its declaration on line 2"],
  },
  {
    id: "all-lost",
    mistake: "One failure in Promise.all loses the other results.",
    ideal: "What Promise.all does, and allSettled.",
    code: `const ids = ["ord_00001", "nope", "ord_00003"];
return (await Promise.all(ids.map((order_id) => demo.get_order({ order_id })))).length;`,
    must: ['No order "nope"', "Promise.all on line 2", "Promise.allSettled keeps them"],
  },
  {
    id: "prose",
    mistake: "Words in front of the code.",
    ideal: "Line 1 is no code.",
    code: `I will now count the open tickets by priority.
const { tickets } = await demo.list_tickets({ status: "open" });
return tickets.length;`,
    must: ["Line 1 is prose, not TypeScript"],
  },
  {
    id: "tool-call-json",
    mistake: "A tool call of another host as JSON.",
    ideal: "The call as TypeScript.",
    code: `{
  "tool": "mcp__demo__get_stock",
  "parameters": { "sku": "LAMP-0003", "warehouse": "berlin" }
}`,
    must: ['return await demo.get_stock({ sku: "LAMP-0003", warehouse: "berlin" })'],
  },
  {
    id: "bracket",
    mistake: "A bracket that is not closed.",
    ideal: "Which one, in which line.",
    code: `const { orders } = await demo.list_orders({ limit: 5 });
for (const o of orders) {
  if (o.country === "DE") {
    console.log(o.id);
}
return orders.length;`,
    must: ["The { on line 2 is never closed"],
  },
  {
    id: "quotes",
    mistake: "An apostrophe in a text of single quotes.",
    ideal: "Which text; other quotes.",
    code: `await demo.reply_ticket({ ticket_id: 'tkt_0101', body: 'We're looking into it.' });`,
    must: ["a ' ends the string", "main.ts:1:"],
  },
  {
    id: "arrow-object",
    mistake: "An object after an arrow, without parentheses.",
    ideal: "Parentheses.",
    code: `const { products } = await demo.list_products({});
return products.slice(0, 3).map((p) => { sku: p.sku });`,
    must: ["returns nothing", "({ … })"],
  },
  {
    id: "declared-twice",
    mistake: "The same name twice.",
    ideal: "Where it was declared; rename.",
    code: `const { orders } = await demo.list_orders({ status: "paid" });
const { orders } = await demo.list_orders({ status: "shipped" });
return orders.length;`,
    must: ["orders is already declared on line 1", "{ orders: other }"],
  },
  {
    id: "nothing-called",
    mistake: "Only a function is declared.",
    ideal: "Nothing ran; how to call it.",
    code: `async function countOpenTickets() {
  const { tickets } = await demo.list_tickets({ status: "open" });
  return tickets.length;
}`,
    must: ["nothing ran", "return await countOpenTickets();"],
  },
  {
    id: "function-returned",
    mistake: "The function is returned and not called.",
    ideal: "It was not called.",
    code: `const main = async () => (await demo.list_tickets({ status: "open" })).tickets.length;
return main;`,
    must: ["a function that was not called"],
  },
  {
    id: "sort-numbers",
    mistake: "Numbers sorted as texts.",
    ideal: "A warning with the line and the comparison.",
    code: `const { products } = await demo.list_products({});
const prices = [];
for (const p of products) prices.push(p.price_cents);
prices.sort();
return { cheapest: prices[0], dearest: prices.at(-1) };`,
    must: ["line 4: sort() compares numbers as text", "sort((a, b) => a - b)"],
  },
  {
    id: "empty-list",
    mistake: "The first of an empty list.",
    ideal: "The list is empty.",
    code: `const { customers } = await demo.search_customers({ query: "zzzz" });
return customers[0].email;`,
    must: ["customers[0] is undefined", "customers is an empty list"],
  },
  {
    id: "found-nothing",
    mistake: "find by a property that does not exist.",
    ideal: "It found nothing, for there is no order_id.",
    code: `const { orders } = await demo.list_orders({ limit: 50 });
const order = orders.find((o) => o.order_id === "ord_00007");
return order.status;`,
    must: ["order is undefined", "found nothing", 'o has no "order_id"'],
  },
  {
    id: "file-outside",
    mistake: "A file by a path of the host.",
    ideal: "Files are in ./workspace.",
    code: `const text = await fs.readFile("/data/notes.md", "utf8");
return text.length;`,
    must: ["./workspace"],
  },
  {
    id: "skill-missing",
    mistake: "A skill that was never saved.",
    ideal: "The skills there are, and how one is saved.",
    code: `await fs.mkdir("./workspace/skills", { recursive: true });
await fs.writeFile("./workspace/skills/by_month.ts", "export function byMonth(orders: { created_at: string }[]) { return orders.length }");
const { revenueByMonth } = await import("./skills/revenue");
return revenueByMonth([]);`,
    must: [
      "by_month (byMonth(orders: { created_at: string }[]))",
      'fs.writeFile("./workspace/skills/revenue.ts"',
      "  3 |",
    ],
  },
  {
    id: "args-dates-renamed",
    mistake: "Several arguments in other words.",
    ideal: "The corrected call with all of them.",
    code: `const { orders } = await demo.list_orders({ customerId: "cus_0007", startDate: "2025-01-01", toDate: "2025-06-30" });
return orders.length;`,
    must: ['Write: await demo.list_orders({ customer_id: "cus_0007", from: "2025-01-01", to: "2025-06-30" })'],
  },
  {
    id: "args-json-text",
    mistake: "The arguments as JSON text.",
    ideal: "The object itself.",
    code: `const res = await demo.list_tickets('{"status": "open"}');
return res.tickets.length;`,
    must: ['Write: await demo.list_tickets({ status: "open" })'],
  },
  {
    id: "await-in-object",
    mistake: "Promises within objects, whose properties are read: nothing is found.",
    ideal: "A warning: total was read from a promise.",
    code: `const { customers } = await demo.list_customers({ segment: "vip", limit: 3 });
const rich = customers.map((c) => ({ name: c.name, orders: demo.list_orders({ customer_id: c.id }) }));
return rich.filter((c) => c.orders.total > 0).map((c) => c.name);`,
    must: ["line 3: total was read from the promise of demo.list_orders(…)", "await"],
  },
  {
    id: "await-method",
    mistake: "A method of an own class that is async.",
    ideal: "Where the await is missing.",
    code: `class Shop {
  async pending() {
    return [{ id: "ord_00001" }];
  }
}
const list = new Shop().pending();
return list.map((o) => o.id);`,
    must: ["list.map is not a function", "list is a promise", "on line 6"],
  },
  {
    id: "await-file",
    mistake: "A file that is read without await.",
    ideal: "The await that is missing.",
    code: `await fs.writeFile("./workspace/ids.txt", "a\\nb");
const text = fs.readFile("./workspace/ids.txt", "utf8");
return text.split("\\n").length;`,
    must: ["text.split is not a function", "text is the promise of fs.", "put await"],
  },
  {
    id: "settled-value",
    mistake: "The value of a call that failed, after allSettled.",
    ideal: "What failed has a reason and no value.",
    code: `const results = await Promise.allSettled(["LAMP-0001", "LAMP-9999"].map((sku) => demo.get_stock({ sku })));
return results.map((r) => r.value.levels.length);`,
    must: ["r.value is undefined", '{ status: "rejected", reason }'],
  },
  {
    id: "map-as-object",
    mistake: "A Map used as an object: it stays empty.",
    ideal: "set and get.",
    code: `const counts = new Map();
for (const t of (await demo.list_tickets({ status: "open" })).tickets) {
  counts[t.priority] = (counts[t.priority] ?? 0) + 1;
}
return counts;`,
    must: ["line 3: counts is a Map", "counts.set(key, value)"],
  },
  {
    id: "not-declared",
    mistake: "A loop's variable without a declaration.",
    ideal: "const in front of it.",
    code: `const { messages } = await demo.get_ticket({ ticket_id: "tkt_0101" });
for (message of messages) console.log(message.body);`,
    must: ["for (const message of messages)"],
  },
  {
    id: "two-fences",
    mistake: "Two pieces of code in fences.",
    ideal: "Which line is a fence; one program alone.",
    code: "First the orders:\n```ts\nconst { orders } = await demo.list_orders({ limit: 1 });\n```\nThen the answer:\n```ts\nreturn orders;\n```",
    must: ["Line 2 is a Markdown fence"],
  },
  {
    id: "server-unknown",
    mistake: "A server that was never configured.",
    ideal: "The servers there are, and no tool that does something else.",
    code: `const issues = await github.list_issues({ owner: "acme", repo: "shop", state: "open" });
return issues.length;`,
    must: ['No server is called "github". Servers: demo (A shop', "files, memory, everything."],
  },
  {
    id: "shape-hidden",
    mistake: "A guessed envelope behind ?. and ??: 0.",
    ideal: "A warning: there is no data, and what there is.",
    code: `const response = await demo.list_orders({ status: "paid" });
const list = response.data?.orders ?? [];
return list.length;`,
    must: ['line 2: response has no "data"', "{ orders, total, next_cursor }"],
  },
  {
    id: "shape-number-looped",
    mistake: "A count taken for a list.",
    ideal: "o.items is a number.",
    code: `const { orders } = await demo.list_orders({ limit: 5 });
for (const o of orders) for (const item of o.items) console.log(item.name);`,
    must: ["o.items is not iterable", "o.items is a number"],
  },
  {
    id: "await-sum",
    mistake: "Promises of own async functions, added.",
    ideal: "The awaits that are missing.",
    code: `const count = async (status) => (await demo.list_orders({ status })).orders.length;
const paid = count("paid");
return paid + 1;`,
    must: ["paid is a promise", "await before count(…) on line 2"],
  },
];
