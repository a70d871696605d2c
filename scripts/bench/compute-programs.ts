/**
 * Programs that compute as agents' programs do: they parse, filter, sort, group and print what their calls returned. Each makes its own
 * data, and measures only the work. A wrong result is an error.
 */

export interface ComputeProgram {
  what: string;
  id: string;
  /** The body of an async function that returns milliseconds. */
  code: string;
}

/** 5 MB as JSON. */
const customers = `
  const customers = Array.from({ length: 34_000 }, (_, id) => ({
    id,
    name: "Customer " + id,
    email: "customer-" + id + "@example.com",
    total_cents: (id * 7_919) % 100_003,
    status: ["open", "paid", "cancelled"][id % 3],
    tags: ["retail", "europe"],
    note: "x".repeat(id % 20),
  }));`;

/** Rows of a page of results; the keys and the texts repeat as in real data. */
const orders = `
  const orders = Array.from({ length: 100_000 }, (_, n) => ({
    id: n,
    customer: "customer-" + ((n * 7_919) % 1_000),
    total: (n * 7_919) % 100_003,
  }));`;

/** 1 MB. */
const log = `
  const log = Array.from({ length: 12_000 }, (_, n) => {
    const level = n % 50 === 0 ? "ERROR" : n % 7 === 0 ? "WARN" : "INFO";
    const time = new Date(1_700_000_000_000 + n * 1_000).toISOString();
    return time + " " + level + " [worker-" + (n % 8) + "] request /api/items/" + n + " took " + ((n * 37) % 900) + "ms";
  }).join("\\n");`;

/** 10 MB. */
const csv = `
  const csv = Array.from({ length: 170_000 }, (_, n) =>
    n + ",Customer " + n + ",customer-" + n + "@example.com,paid," + ((n * 7_919) % 100_003) / 100,
  ).join("\\n");`;

/** A program that measures `work`, and throws unless `right` holds. */
function program(
  what: string,
  id: string,
  [setup, work, right]: [setup: string, work: string, right: string],
): ComputeProgram {
  const code = `${setup}
  const startedAt = performance.now();
  ${work}
  const ms = performance.now() - startedAt;
  if (!(${right})) throw new Error("the result is wrong");
  return ms;`;
  return { what, id, code };
}

export const computePrograms: ComputeProgram[] = [
  program("parse 5 MB of JSON", "parse-json", [
    `${customers} const text = JSON.stringify(customers);`,
    "const result = JSON.parse(text);",
    "result.length === 34_000 && result[33_999].id === 33_999",
  ]),
  program("print 5 MB of JSON", "print-json", [
    customers,
    "const result = JSON.stringify(customers);",
    "result.length > 4_800_000 && result.length < 5_600_000",
  ]),
  program("sort 100,000 objects by a number", "sort-by-number", [
    orders,
    "const result = [...orders].sort((a, b) => b.total - a.total);",
    "result[0].total === 100_002 && result.length === 100_000",
  ]),
  program("sort 20,000 objects by a name, by locale", "sort-by-name", [
    orders,
    `const people = orders.slice(0, 20_000).map(({ id, total }) => ({ id, name: "Customer " + total }));
  const result = people.sort((a, b) => a.name.localeCompare(b.name));`,
    'result[0].name === "Customer 0" && result.length === 20_000',
  ]),
  program("sort 2,000 objects by a name with accents, by locale", "sort-by-accented-name", [
    orders,
    `const names = ["José", "Zoë", "Ana", "Łukasz"];
  const people = orders.slice(0, 2_000).map(({ id, total }) => ({ id, name: names[id % 4] + " " + (total % 500) }));
  const result = people.sort((a, b) => a.name.localeCompare(b.name));`,
    'result[0].name.startsWith("Ana")',
  ]),
  program("regular expressions over 1 MB of log", "regular-expressions", [
    log,
    `let result = 0;
  for (const [, level, , ms] of log.matchAll(/^\\S+ (ERROR|WARN) \\[(worker-\\d+)\\] .* took (\\d+)ms$/gm)) if (level === "ERROR") result += Number(ms);
  for (const line of log.split("\\n")) if (/timeout|failed|\\/items\\/\\d*7 /i.test(line)) result += 1;`,
    "result > 1_200",
  ]),
  program("a text of 100,000 lines", "text-of-lines", [
    orders,
    `let result = "";
  for (const order of orders) result += "- " + order.id + ": " + order.customer + ", " + (order.total / 100).toFixed(2) + " EUR\\n";`,
    "result.length > 3_000_000",
  ]),
  program("parse and print 20,000 dates", "dates", [
    "const texts = Array.from({ length: 20_000 }, (_, n) => new Date(1_700_000_000_000 + n * 3_600_000).toISOString());",
    `const result = texts.map((text) => {
    const date = new Date(text);
    date.setUTCDate(date.getUTCDate() + 1);
    return date.toISOString().slice(0, 10);
  });`,
    'result[0] === "2023-11-15"',
  ]),
  program("print 5,000 dates and amounts by locale", "print-by-locale", [
    orders,
    `const result = orders.slice(0, 5_000).map(({ id, total }) => {
    const date = new Date(1_700_000_000_000 + id * 3_600_000);
    const day = date.toLocaleDateString("en-US", { month: "short", day: "numeric", timeZone: "UTC" });
    return day + ": " + (total / 100).toLocaleString("en-US", { style: "currency", currency: "USD" });
  });`,
    'result[0] === "Nov 14: $0.00"',
  ]),
  program("split 1 MB of log with a regular expression", "split-by-expression", [
    log,
    "const result = log.split(/\\r?\\n/);",
    "result.length === 12_000",
  ]),
  program("encode 1 MB as base64, and decode it", "base64", [
    log,
    'const result = Buffer.from(Buffer.from(log).toString("base64"), "base64").toString();',
    "result === log",
  ]),
  program("split and parse 10 MB of CSV", "csv", [
    csv,
    `const result = csv.split("\\n").map((line) => {
    const [id, name, email, status, total] = line.split(",");
    return { id: Number(id), name, email, status, total: Number(total) };
  });`,
    "result.length === 170_000 && result[9].id === 9",
  ]),
  program("group 100,000 rows by a key", "group", [
    orders,
    `const result = {};
  for (const order of orders) (result[order.customer] ??= []).push(order);
  const totals = Object.entries(result).map(([customer, rows]) => ({ customer, total: rows.reduce((sum, row) => sum + row.total, 0) }));`,
    'totals.length === 1_000 && result["customer-0"].length === 100',
  ]),
  program("count 100,000 keys in a Map", "count-in-map", [
    orders,
    `const result = new Map();
  for (const { total } of orders) {
    const key = "total-" + total;
    result.set(key, (result.get(key) ?? 0) + 1);
  }`,
    "result.size === 100_000",
  ]),
  program("drop duplicates of 100,000 texts with a Set", "dedupe-with-set", [
    orders,
    "const result = [...new Set(orders.map(({ customer }) => customer.toUpperCase()))];",
    "result.length === 1_000",
  ]),
];
