/** How a tool is shown: its path, its types, an example call, and one sentence. */
import { describe, expect, setDefaultTimeout, test } from "bun:test";
import type { RegistryTool } from "../../src/tools/model.ts";
import { exampleCall, exampleOf, firstSentence, signature, tellingSentences } from "../../src/tools/signature.ts";
import { typeErrors } from "../support/typescript.ts";

// The compiler runs as a separate program.
setDefaultTimeout(60_000);

const server = { name: "shop", jsName: "shop" };
const text = { type: "string" };

function tool(inputSchema: object, more: Partial<RegistryTool> = {}): RegistryTool {
  return {
    name: "find",
    jsName: "find",
    description: "",
    inputSchema: inputSchema as RegistryTool["inputSchema"],
    ...more,
  };
}

describe("the path of a tool", () => {
  test.each([
    [{ name: "shop", jsName: "shop" }, { name: "find", jsName: "find" }, "shop.find"],
    [{ name: "my-shop", jsName: "my_shop" }, { name: "get-sum", jsName: "get_sum" }, "my_shop.get_sum"],
    [{ name: "shop", jsName: "shop" }, { name: "constructor", jsName: "constructor" }, "shop.constructor"],
    // If the name is taken, or would hide a global: the original names, which always work.
    [{ name: "shop", jsName: "shop" }, { name: "get-sum" }, 'shop["get-sum"]'],
    [{ name: "fs" }, { name: "read", jsName: "read" }, 'servers["fs"].read'],
    [{ name: 'a"b' }, { name: "x\ny" }, 'servers["a\\"b"]["x\\ny"]'],
  ])("is written for %j %j", (of, names, path) => {
    const found: RegistryTool = { description: "", inputSchema: {}, ...names };
    expect(signature(of, found)).toBe(`${path}(): Promise<unknown>`);
    expect(exampleCall(of, found)).toBe(`await ${path}()`);
  });
});

describe("a signature", () => {
  const required = { type: "object", properties: { id: text, n: { type: "number" } }, required: ["id"] };
  test.each<[string, object, string, string]>([
    ["required", required, "(args: { id: string; n?: number })", '({ id: "id" })'],
    ["optional", { ...required, required: [] }, "(args?: { id?: string; n?: number })", "()"],
    [
      "unknown types",
      {
        type: "dict",
        properties: { a: { type: "any" }, b: { type: ["string", "int"] }, c: { type: "list", items: text } },
      },
      "(args?: { a?: unknown; b?: unknown; c?: string[] })",
      "()",
    ],
    ["none", { type: "object", properties: {} }, "()", "()"],
    ["none, closed", { type: "object", properties: {}, additionalProperties: false }, "()", "()"],
    ["an empty schema", {}, "()", "()"],
    ["any names", { type: "object", additionalProperties: text }, "(args?: Record<string, string>)", "()"],
    [
      "a reference",
      { $ref: "#/$defs/a", $defs: { a: required } },
      "(args: { id: string; n?: number })",
      '({ id: "id" })',
    ],
    [
      "a choice",
      { type: "object", oneOf: [required, { properties: { x: text }, required: ["x"] }] },
      "(args: { id: string; n?: number } | { x: string })",
      '({ id: "id" })',
    ],
    [
      "one of two",
      { ...required, required: undefined, anyOf: [{ required: ["n"] }, { required: ["id"] }] },
      "(args: { id?: string; n?: number } & ({ n: number } | { id: string }))",
      "({ n: 1 })",
    ],
    [
      "all of two",
      { allOf: [required, { properties: { on: { type: "boolean" } }, required: ["on"] }] },
      "(args: { id: string; n?: number } & { on: boolean })",
      '({ id: "id", on: true })',
    ],
    ["unknown ones", { $ref: "https://example.com/x" }, "(args: unknown)", "()"],
  ])("shows %s", (_, schema, args, example) => {
    expect(signature(server, tool(schema))).toBe(`shop.find${args}: Promise<unknown>`);
    expect(exampleCall(server, tool(schema))).toBe(`await shop.find${example}`);
  });

  test("has a result type if the server declares one", () => {
    const outputSchema = { type: "object", properties: { total: { type: "integer" } }, required: ["total"] };
    expect(signature(server, tool({}, { outputSchema }))).toBe("shop.find(): Promise<{ total: number }>");
  });
});

describe("an example", () => {
  const properties = {
    plain: text,
    "odd-key": text,
    function: text,
    status: { enum: ["paid", "open"] },
    fixed: { const: 5 },
    preset: { type: "integer", default: 20 },
    shown: { type: "string", examples: ['a"b', "c"] },
    from: { type: "string", description: "The first day." },
    to: { type: "string", description: "Whom to write to." },
    start_date: text,
    candidate: text,
    day: { type: "string", format: "date" },
    at: { type: "string", format: "date-time" },
    email: { type: "string", format: "email" },
    website_url: text,
    count: { type: "integer" },
    least: { type: "integer", minimum: 3 },
    above: { type: "number", exclusiveMinimum: 0 },
    below: { type: "number", maximum: -2 },
    on: { type: "boolean" },
    maybe: { type: ["null", "string"] },
    nothing: { type: "null" },
    list: { type: "array", items: { type: "object", properties: { id: text, extra: text }, required: ["id"] } },
    choice: { anyOf: [{ type: "null" }, { type: "number" }] },
    nested: { $ref: "#/$defs/nested" },
    untyped: {},
    free: { type: "object" },
  };
  const schema = {
    type: "object",
    properties,
    required: Object.keys(properties),
    $defs: { nested: { type: "object", properties: { deep: { $ref: "#/$defs/nested" } }, required: ["deep"] } },
  };

  test("has every required argument with a plausible value, in the order of the schema", () => {
    expect(exampleCall(server, tool(schema)).replace(/(?<=[{,]) (?=[\w"])/g, "\n  ")).toMatchInlineSnapshot(`
      "await shop.find({
        plain: "…",
        "odd-key": "…",
        function: "…",
        status: "paid",
        fixed: 5,
        shown: "a\\"b",
        from: "2025-01-31",
        to: "…",
        start_date: "2025-01-31",
        candidate: "…",
        day: "2025-01-31",
        at: "2025-01-31T12:00:00Z",
        email: "someone@example.com",
        website_url: "https://example.com",
        count: 1,
        least: 3,
        above: 1,
        below: -2,
        on: true,
        maybe: "…",
        nothing: null,
        list: [{
        id: "…" }],
        choice: 1,
        nested: {
        deep: {
        deep: {} } },
        untyped: {},
        free: {} })"
    `);
  });

  test("fits the signature for the compiler", () => {
    const args = signature(server, tool(schema)).slice("shop.find".length);
    const call = exampleCall(server, tool(schema)).slice("await shop.find".length);
    expect(typeErrors(`declare function find${args};\nfind${call};`)).toEqual([]);
  });

  test("has a key __proto__ as an ordinary argument", () => {
    const odd = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}},"required":["__proto__"]}');
    expect(exampleCall(server, tool(odd))).toBe('await shop.find({ ["__proto__"]: "__proto__" })');
  });

  test.each([
    [null],
    ["x"],
    [5],
    [[]],
    [{ properties: null, required: "x" }],
    [{ type: 5, anyOf: [5, null], allOf: "x" }],
  ])("is written for a property with the schema %j", (odd) => {
    const call = exampleCall(server, tool({ type: "object", properties: { a: odd }, required: ["a"] }));
    expect(call).toBeOneOf(['await shop.find({ a: "a" })', "await shop.find({ a: {} })"]);
  });
});

describe("the first sentence", () => {
  test.each([
    ["Lists orders. With paging.", "Lists orders."],
    ["Lists\n  orders,\tall of them\n\nMore text", "Lists orders, all of them"],
    ["Reads a file, e.g. a log, i.e. text. Then closes it.", "Reads a file, e.g. a log, i.e. text."],
    ["Uses api v2.1 of x.com. Really!", "Uses api v2.1 of x.com."],
    ["Is it there? Says so.", "Is it there?"],
    ["🎯 Purpose:\n      1. Gets an engagement by its id.\n   📦 Returns:\n 1. It.", "Gets an engagement by its id."],
    ["🛡️ Guardrails:\n 1. Be careful.\n🎯 Purpose:\n 1. Changes it.", "Changes it."],
    ["# Search\n\n- **Finds** things", "**Finds** things"],
    ["How it works:\nFinds orders.", "Finds orders."],
    ["This is how it works:\nIt finds orders.", "This is how it works: It finds orders."],
    ["Inspects the state. Returns:\n  • `ok`", "Inspects the state."],
    ["# Only a heading", "Only a heading"],
    ["  ", ""],
    ["```js\nx()\n``` $& */", "```js x() ``` $& */"],
  ])("is taken from %j", (text, sentence) => {
    expect(firstSentence(text)).toBe(sentence);
  });

  test("is cut at the limit, and not within a character", () => {
    expect(firstSentence("abcdefgh", 5)).toBe("abcd…");
    expect(firstSentence("abcde", 5)).toBe("abcde");
    expect(firstSentence("abc😀efgh", 5)).toBe("abc…");
  });
});

describe("values that stand only in the description of an argument", () => {
  const withDescription = (description: string, more: object = {}) =>
    tool({ type: "object", properties: { value: { type: "string", description, ...more } }, required: ["value"] });
  const typeOf = (description: string, more?: object) =>
    signature(server, withDescription(description, more)).replace(/^.*value: (.*) \}\).*$/, "$1");

  test.each([
    [
      "The reason, which should be either 'no longer needed' or 'ordered by mistake'.",
      `"no longer needed" | "ordered by mistake"`,
    ],
    ["Must be one of `low`, `medium`, `high`.", `"low" | "medium" | "high"`],
    ["One of: asc, desc", `"asc" | "desc"`],
    ["Possible values: open, closed, all.", `"open" | "closed" | "all"`],
    ["Sort order (asc|desc)", `"asc" | "desc"`],
    ["Output format: 'summary' (id only), 'full' (all fields).", `"summary" | "full"`],
  ])("are its type: %s", (description, type) => {
    expect(typeOf(description)).toBe(type);
    expect(exampleOf(server, withDescription(description)).exampleTells).toBeUndefined();
  });

  test.each([
    "Status, e.g. 'open' or 'closed'",
    "A method, such as 'gift_card_0000000' or 'credit_card_0000000'.",
    "One of 'a', 'b' or another code",
    "The user's name and the admin's name",
    "Use either name or id.",
    "A path or a URL",
    "string | null",
    'Tags as JSON: {"key1":"value1","key2":"value2"}',
    "A link like figma.com/(file|design)/key",
    "An analyzer (`standard`, `simple`), a language, or a name",
  ])("are not seen in %s", (description) => {
    expect(typeOf(description)).toBe("string");
  });

  test("are not searched where the schema has values", () => {
    expect(typeOf("One of: asc, desc", { enum: ["up"] })).toBe(`"up"`);
  });
});

test("an example has no texts that nobody knows", () => {
  const properties = {
    id: { type: "string", description: "Such as ord_00042." },
    reason: { type: "string" },
    kind: { type: "string", description: "Either 'a' or 'b'" },
  };
  expect(exampleOf(server, tool({ type: "object", properties, required: ["id", "reason", "kind"] }))).toEqual({
    example: `await shop.find({ id: "ord_00042", reason: "…", kind: "a" })`,
    exampleTells: true,
  });
});

describe("telling sentences", () => {
  test.each([
    [
      "Reads a file. It is fast. DEPRECATED: use read_text instead.",
      "Reads a file. DEPRECATED: use read_text instead.",
    ],
    ["Reads a file. The path must be absolute.", "Reads a file. The path must be absolute."],
    [
      "Reads a file. Only works in allowed folders. Must be text.",
      "Reads a file. Only works in allowed folders. Must be text.",
    ],
    ["Only reads. It must not be called twice.", "Only reads. It must not be called twice."],
    [
      "Cancels an order. It is quick. The order cannot be shipped yet.",
      "Cancels an order. The order cannot be shipped yet.",
    ],
    ["Runs a query. Call list_tables first. It returns rows.", "Runs a query. Call list_tables first."],
    ["Runs a query. Returns the first row. Issues that are old are left out.", "Runs a query."],
    ["Commits. Stage the files before you call it.", "Commits. Stage the files before you call it."],
    ["Runs a query. It is read-only.", "Runs a query."],
    ["Lists orders. With paging.", "Lists orders."],
    ["", ""],
  ])("are the first sentence, a caveat and a precondition of %j", (description, sentences) => {
    expect(tellingSentences(description)).toBe(sentences);
  });

  test("are shortened one by one", () => {
    expect(tellingSentences(`${"a ".repeat(200)}. It must be ${"b ".repeat(200)}.`).length).toBeLessThanOrEqual(321);
  });
});

describe("facts about arguments", () => {
  const shown = (property: object, required: string[] = []) =>
    signature(server, tool({ type: "object", properties: { n: property }, required }));

  test.each([
    [{ type: "integer", minimum: 1, maximum: 1000, default: 100 }, "n?: number /* 1-1000, default 100 */"],
    [{ type: "number", maximum: 5 }, "n?: number /* at most 5 */"],
    [{ type: "number", minimum: 0 }, "n?: number"],
    [{ type: "integer", minimum: -9007199254740991, maximum: 9007199254740991 }, "n?: number"],
    [{ type: "string", format: "date" }, "n?: string /* date */"],
    [{ type: "string", default: "css" }, 'n?: string /* default "css" */'],
    [{ type: "string", default: "*/" }, 'n?: string /* default "*\\/" */'],
    [{ type: "boolean", default: false }, "n?: boolean"],
    [{ type: "boolean", default: true }, "n?: boolean /* default true */"],
    [{ type: "string", default: "x".repeat(100) }, "n?: string"],
  ])("%j", (property, text) => {
    expect(shown(property)).toBe(`shop.find(args?: { ${text} }): Promise<unknown>`);
  });

  test("are not shown for results", () => {
    const outputSchema = {
      type: "object",
      properties: { n: { type: "number", minimum: 1, maximum: 5 } },
      required: ["n"],
    };
    expect(signature(server, tool({}, { outputSchema }))).toBe("shop.find(): Promise<{ n: number }>");
  });
});

describe("an example call is telling", () => {
  const isTelling = (property: object) =>
    exampleOf(server, tool({ type: "object", properties: { path: property }, required: ["path"] })).exampleTells ===
    true;

  test.each([
    [{ type: "string", examples: ["a/b.txt"] }],
    [{ type: "string", format: "date" }],
    [{ type: "string", description: "The order's id, such as ord_00042." }],
    [{ type: "string", description: 'A language, e.g. "en".' }],
    [{ type: "array", items: { type: "string", format: "email" } }],
  ])("with %j", (property) => {
    expect(isTelling(property)).toBe(true);
  });

  test.each([
    [{ type: "string" }],
    [{ type: "string", description: "A thing, such as a file." }],
    [{ type: "number", minimum: 3 }],
    [{ type: "string", enum: ["a", "b"] }],
  ])("not with %j", (property) => {
    expect(isTelling(property)).toBe(false);
  });

  test("when it has the value that the description shows", () => {
    const id = { type: "string", description: "The order's id, such as ord_00042." };
    expect(exampleCall(server, tool({ type: "object", properties: { id }, required: ["id"] }))).toBe(
      'await shop.find({ id: "ord_00042" })',
    );
  });
});

test.each([
  ["mode", { type: "string", examples: [] }, '"mode"'],
  ["list", { type: "array", items: { type: "string", examples: ["fast"], default: "slow" } }, '["fast"]'],
  ["list", { type: "array", items: { type: "string", default: "slow", enum: ["fast"] } }, '["slow"]'],
  ["mode", { type: "string", enum: ["fast", "slow"] }, '"fast"'],
  ["mode", { type: "string", enum: [] }, '"mode"'],
  ["mode", { const: 7, examples: [8] }, "7"],
  ["mode", { type: ["null", "boolean"] }, "true"],
  ["mode", { type: "null" }, "null"],
  ["mode", {}, "{}"],
  ["count", { type: "integer" }, "1"],
  ["count", { type: "integer", minimum: 3, exclusiveMinimum: 8 }, "3"],
  ["count", { type: "number", exclusiveMinimum: 8 }, "9"],
  ["count", { type: "number", maximum: 0 }, "0"],
  ["count", { type: "number", maximum: 5 }, "1"],
  ["list", { type: "array", items: { type: "string" } }, '["value"]'],
  ["either", { anyOf: [{ type: "null" }, { type: "integer" }] }, "1"],
  ["both", { allOf: [{ properties: { a: { type: "null" } }, required: ["a"] }] }, "{ a: null }"],
  ["date", { type: "string" }, '"2025-01-31"'],
  ["startDate", { type: "string" }, '"2025-01-31"'],
  ["candidate", { type: "string" }, '"candidate"'],
  ["from", { type: "string", description: "The first day." }, '"2025-01-31"'],
  ["from", { type: "string", description: "The sender." }, '"from"'],
  ["page_url", { type: "string" }, '"https://example.com"'],
  ["branch", { type: "string", description: "For example: feature/login." }, '"feature/login"'],
  ["branch", { type: "string", description: "A thing, e.g. a branch." }, '"branch"'],
])("an example call has a value for %s of %j", (name, property, value) => {
  const inputSchema = { type: "object", properties: { [name]: property }, required: [name] };
  expect(exampleCall(server, tool(inputSchema))).toBe(`await shop.find({ ${name}: ${value} })`);
});
