/** execute_code tells the model the types of results that nobody has seen before. */
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { App } from "../../src/app/app.ts";
import { callExecuteCode } from "../../src/serve/tools/execute-code.ts";
import { callSearchTools } from "../../src/serve/tools/search-tools.ts";
import { root } from "../support/claudikins.ts";
import { type Project, project } from "../tools/generation/project.ts";

// Processes take their time to start on a small machine.
setDefaultTimeout(60_000);

const given = (value: unknown) => ({ content: [{ type: "text", text: JSON.stringify(value) }] });
const plain = (text: string) => ({ content: [{ type: "text", text }] });
const structured = (value: object) => ({ content: [], structuredContent: value });

/** A tool with these results; the argument `at` selects one. */
const giving = (outputSchema: object | undefined, ..._results: object[]) => ({
  inputSchema: { type: "object", properties: { at: { type: "integer" }, query: { type: "string" } } },
  ...(outputSchema ? { outputSchema } : {}),
  _results,
});

const order = { number: 1, shipped: "2026-01-31", lines: [{ product: "Chai", quantity: 2 }] };
const orderType = "{ number: number; shipped: string; lines: { product: string; quantity: number }[] }";
const object = (properties: object) => ({ type: "object", properties });

let folder: Project;
let app: App;
beforeAll(async () => {
  folder = project();
  const many = Array.from({ length: 2_000 }, (_, at) => ({ ...order, number: at, note: "long".repeat(20) }));
  folder.configure({
    demo: { command: process.execPath, args: [`${root}/src/main.ts`, "demo"] },
    shop: folder.offering("shop", {
      large: giving(undefined, given(many)),
      anything: giving({ type: "object", additionalProperties: true }, structured(order)),
      wrapped: giving(object({ result: { type: "array", items: {} } }), structured({ result: [order] })),
      optional: giving(
        object({ found: { anyOf: [{ type: "object" }, { type: "null" }] } }),
        structured({ found: order }),
      ),
      widened: giving(undefined, given({ orders: [order] }), given({ orders: [{ ...order, shipped: null }] })),
      twin_a: giving(undefined, given({ key: 1, more: null, none: [] })),
      twin_b: giving(undefined, given({ key: 2, more: null, none: [] })),
      read_query: giving(undefined, given([{ one: 1 }]), given([{ id: 1, name: "x" }])),
      region: giving(undefined, given({ region: null, city: "Bern" }), given({ region: "BE", city: "Bern" })),
      listing: giving(undefined, plain("[FILE] a.txt\n[DIR] docs"), plain("Nothing was found.")),
      content: giving(
        { ...object({ content: { type: "string" } }), required: ["content"] },
        { ...plain("[FILE] a.txt\n[FILE] b"), structuredContent: { content: "[FILE] a.txt\n[FILE] b" } },
      ),
      write: giving(undefined, plain("Wrote the file.")),
      nothing: giving(undefined, given({ items: [], next: null })),
    }),
  });
  app = await folder.open();
});
afterAll(async () => {
  await app[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

async function texts(code: string, saidTypes = new Map<string, string>()): Promise<string[]> {
  const { content } = await callExecuteCode({ code }, app, new AbortController().signal, { saidTypes });
  return (content as { text: string }[]).map(({ text }) => text);
}

test("the first execution that meets an unknown result type shows it, later ones do not", async () => {
  const code = `return (await demo.get_customer({ customer_id: "cus_0007" })).name.length`;
  const [, types] = await texts(code);
  expect(types).toMatch(/^Observed result types:\ndemo\.get_customer → \{ id: string; .*name: string;.* \}$/);
  expect(await texts(code)).toHaveLength(1);
});

test("a type that the server declares is not shown", async () => {
  const report = `{ from: "2025-12-01", to: "2025-12-31", group_by: "month" }`;
  expect(await texts(`return (await demo.sales_report(${report})).rows.length`)).toHaveLength(1);
});

test("a program without calls, and a call that fails, show no types", async () => {
  expect(await texts("return 1")).toHaveLength(1);
  expect(await texts(`try { await demo.get_order({ order_id: "ord_99999" }) } catch {} return 1`)).toHaveLength(1);
});

async function signatureOf(tool: string): Promise<string> {
  const { content } = await callSearchTools(
    { query: `shop ${tool}`, server: "shop" },
    app,
    new AbortController().signal,
  );
  const lines = (content as { text: string }[])[0]!.text.split("\n");
  return lines.find((line) => line.startsWith(`shop.${tool}(`))!.replace(/^.*?\): /, "");
}

test("the type of a large result is in the answer of the program that received it", async () => {
  const [, types] = await texts("return (await shop.large({ at: 0 })).length");
  expect(types).toContain("shop.large → { number: number; shipped: string;");
  expect(await signatureOf("large")).toContain("{ number: number; shipped: string;");
});

test.each([
  ["anything", orderType, "Record<string, unknown>"],
  ["wrapped", `{ result?: ${orderType}[] }`, "{ result?: unknown[] }"],
  ["optional", `{ found?: ${orderType} | null }`, "{ found?: Record<string, unknown> | null }"],
])("the part of a declared type that is left open is observed: %s", async (tool, type, declared) => {
  expect(await signatureOf(tool)).toBe(`Promise<${declared}>`);
  const [, types] = await texts(`await shop.${tool}({ at: 0 }); return 1`);
  expect(types).toBe(`Observed result types:\nshop.${tool} → ${type}`);
  expect(await signatureOf(tool)).toBe(`Promise<${type}> /* observed */`);
});

test("an observed type that a later result contradicts is widened, and the answer shows what has changed", async () => {
  expect((await texts("await shop.widened({ at: 0 }); return 1"))[1]).toContain("shipped: string;");
  expect((await texts("await shop.widened({ at: 1 }); return 1"))[1]).toBe(
    "Changed in observed result types:\nshop.widened → { orders: { shipped: string | null }[] }",
  );
  expect(await signatureOf("widened")).toContain("shipped: string | null;");
  expect(await texts("await shop.widened({ at: 1 }); return 1")).toHaveLength(1);
});

test("columns that a query names are not part of the result type", async () => {
  await texts(`await shop.read_query({ query: "SELECT 1 AS one", at: 0 }); return 1`);
  expect(await signatureOf("read_query")).toBe("Promise<Record<string, unknown>[]> /* observed */");
  expect(await texts(`await shop.read_query({ query: "SELECT * FROM t", at: 1 }); return 1`)).toHaveLength(1);
});

test("a field that was only null says so, and is widened by a later answer", async () => {
  await texts("await shop.region({ at: 0 }); return 1");
  expect(await signatureOf("region")).toBe(
    "Promise<{ region: unknown /* null so far */; city: string }> /* observed */",
  );
  expect((await texts("await shop.region({ at: 1 }); return 1"))[1]).toBe(
    "Changed in observed result types:\nshop.region → { region: string | null }",
  );
});

test.each([
  [
    "listing",
    'string /* lines "[DIR] …", "[FILE] …" */',
    'Promise<string> /* observed */ /* lines "[DIR] …", "[FILE] …" */',
  ],
  ["content", '{ content: string } /* lines "[FILE] …" */', 'Promise<{ content: string }> /* lines "[FILE] …" */'],
])("the form of a text result is observed: %s", async (tool, type, signature) => {
  const [, types] = await texts(`await shop.${tool}({ at: 0 }); return 1`);
  expect(types).toBe(`Observed result types:\nshop.${tool} → ${type}`);
  expect(await signatureOf(tool)).toBe(signature);
});

test("a result that is a sentence is not worth a line of an answer, but the signature says it", async () => {
  expect(await texts("await shop.write({ at: 0 }); return 1")).toHaveLength(1);
  expect(await signatureOf("write")).toBe("Promise<string> /* observed */ /* a sentence */");
});

test("the same type of several tools is shown once, without fields of unknown types", async () => {
  const [, types] = await texts("await shop.twin_a({ at: 0 }); await shop.twin_b({ at: 0 }); return 1");
  expect(types).toBe("Observed result types:\nshop.twin_a, shop.twin_b → { key: number }");
  expect(await texts("await shop.nothing({ at: 0 }); return 1")).toHaveLength(1);
});

test("a type is not shown if the answer has all of its fields", async () => {
  expect(await texts(`return await demo.get_order({ order_id: "ord_00042" })`)).toHaveLength(1);
});

test("concurrent programs of one session tell a type once", async () => {
  const said = new Map<string, string>();
  const code = `return (await demo.list_customers({})).customers.length`;
  const answers = await Promise.all([texts(code, said), texts(code, said)]);
  expect(answers.flat().filter((text) => text.startsWith("Observed"))).toHaveLength(1);
});
