/** Outputs of programs that are right do not look suspicious, so that no advice is loaded for them. */
import { describe, expect, test } from "bun:test";
import { isSuspicious, type Notes, type ProgramOutput } from "../../src/sandbox/worker/suspect-output.ts";

const orders = { orders: [{ id: "a", status: "paid", total_cents: 5, note: null, tags: [] }], total: 1 };
const nothing: Notes = { late: false, unawaited: [], odd: [] };

function looks(code: string, value: unknown, more: Partial<ProgramOutput> = {}, result: unknown = orders): boolean {
  const used = { tool: "shop.list", calls: 1, failures: 0, open: 0, repeated: 0, failure: undefined };
  const calls = [{ ...used, results: [{ json: JSON.stringify(result) }] }];
  const output = { json: JSON.stringify(value), notes: undefined, logs: [], displayed: false, calls, ...more };
  return isSuspicious(code, output, ["shop"]);
}

const read = "const { orders, total } = await shop.list();\n";

describe("a right program is not suspicious", () => {
  test.each<[string, string, unknown, Partial<ProgramOutput>?]>([
    ["a result with content", `${read}return { content: orders }`, { content: orders.orders }],
    ["a value with null, empty lists and zeros", `${read}return { orders, zero: 0 }`, { ...orders, zero: 0 }],
    ["null", `${read}return null`, null],
    ["no value", `${read}`, undefined],
    ["an empty list", `${read}return orders.filter((o) => o.total_cents > 9)`, []],
    [
      "a part that is undefined",
      `${read}return { note: undefined }`,
      {},
      { notes: { ...nothing, odd: [{ kind: "undefined", path: ".note", count: 1 }] } },
    ],
    [
      "NaN that the program names",
      `${read}return NaN`,
      "NaN",
      { notes: { ...nothing, odd: [{ kind: "NaN", path: "", count: 1 }] } },
    ],
    ["a fallback for a property that the result lacks", `${read}return orders.map((o) => o.city ?? o.id)`, ["a"]],
    ["a text with undefined", `${read}return "undefined is a word"`, "undefined is a word"],
    [
      "work that is not awaited and changes nothing",
      `${read}orders.forEach(async (o) => console.log(o.id))`,
      undefined,
      { notes: { ...nothing, late: true }, logs: [{ level: "log", text: "a" }] },
    ],
    [
      "a file that is written, with a function and no call",
      "const text = (n) => `${n}`;\nawait fs.writeFile('a', text(1))",
      undefined,
      { calls: [] },
    ],
  ])("%s", (...[, code, value, more]) => {
    expect(looks(code, value, more)).toBe(false);
  });
});

describe("an output that shows a mistake is suspicious", () => {
  test.each<[string, string, unknown, Partial<ProgramOutput>?, unknown?]>([
    [
      "a property in another spelling",
      `${read}return orders.toSorted((a, b) => a.totalCents - b.totalCents)`,
      orders.orders,
    ],
    ["a text in another spelling", `${read}return orders.filter((o) => o.status === "PAID").length + 1`, 1],
    [
      "undefined in a text",
      `${read}console.log(\`\${orders[0].title}\`)`,
      undefined,
      { logs: [{ level: "log", text: "undefined" }] },
    ],
    ["nothing, and a text that no result has", `${read}return orders.filter((o) => o.status === "done").length`, 0],
    ["nothing, and one level below", "const r = await shop.list();\nreturn r.orders ?? []", [], {}, { result: orders }],
    ["the length of an object", "const r = await shop.list();\nlet n = 0;\nwhile (n < r.length) n++;\nreturn n", 0],
    [
      "a callback that returns nothing",
      `${read}return orders.map((o) => { o.id })`,
      [null],
      { notes: { ...nothing, odd: [{ kind: "undefined", path: "[0]", count: 1 }] } },
    ],
    [
      "a function that nothing calls",
      "async function main() {\n  return await shop.list();\n}",
      undefined,
      { calls: [] },
    ],
  ])("%s", (...[, code, value, more, result]) => {
    expect(looks(code, value, more, result)).toBe(true);
  });
});
