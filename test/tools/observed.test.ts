/** Shapes of results contain kinds and names of fields, never data; they can be merged in any order, and are bounded. */
import { describe, expect, test } from "bun:test";
import { areNames, looksLikeData, numbered } from "../../src/tools/observed/data-keys.ts";
import { givenBy, givenWords, isOfShape, shapeOf, shapeOfText } from "../../src/tools/observed/observe.ts";
import {
  bounded,
  merge,
  objectShape,
  readShape,
  type Shape,
  shallow,
  shownShape,
} from "../../src/tools/observed/shape.ts";
import { signature } from "../../src/tools/signature.ts";

/** The shape as search shows it. */
function shown(shape: Shape): string {
  const tool = { name: "t", jsName: "t", description: "", inputSchema: {}, observed: { ...shape } };
  return signature({ name: "s", jsName: "s" }, tool).slice("s.t(): ".length);
}

const typeOf = (value: unknown) => shown(shapeOf(value)).replace(/^Promise<(.*)> \/\* observed \*\/$/s, "$1");
const merged = (...values: unknown[]) => values.map((value) => shapeOf(value)).reduce((a, b) => merge(a, b));

test("a field that was always null is unknown and says so, until it has another value", () => {
  const page = merged({ items: [{ id: "a", note: null }], next_cursor: null });
  expect(shown(shownShape(page))).toContain(
    "{ items: { id: string; note: unknown /* null so far */ }[]; next_cursor: unknown /* null so far */ }",
  );
  expect(shown(shownShape(merge(page, shapeOf({ items: [], next_cursor: "x" }))))).toContain(
    "next_cursor: string | null",
  );
});

describe("the shape of a value", () => {
  test.each<[unknown, string]>([
    [1, "number"],
    ["text", "string"],
    [null, "null"],
    [[], "unknown[]"],
    [[1, "a", true, []], "unknown[]"],
    [{}, "Record<string, unknown>"],
    [[1, "a", null], "(string | number | null)[]"],
    [
      { orders: [{ id: "a", items: 3 }, { id: "b" }], total: 2 },
      "{ orders: { id: string; items?: number }[]; total: number }",
    ],
    [{ a: [] }, "{ a: unknown[] }"],
    [[[], [{ x: true }]], "{ x: boolean }[][]"],
    [{ a: { b: { c: { d: { e: { f: { g: 1 } } } } } } }, "{ a: { b: { c: { d: { e: { f: unknown } } } } } }"],
    [
      JSON.parse('{"__proto__": 1, "constructor": "x", "a": 2}'),
      "{ __proto__: number; constructor: string; a: number }",
    ],
  ])("%j is %s", (value, type) => {
    expect(typeOf(value)).toBe(type);
  });

  test("is marked, and cut if it is long", () => {
    expect(shown(shapeOf({ a: 1 }))).toBe("Promise<{ a: number }> /* observed */");
    const wide = Object.fromEntries(
      ["first", "second", "third", "fourth"].map((key, at) => [
        key,
        { [key]: [at, { [`deep${"er".repeat(12)}`]: { [key.repeat(4)]: at } }] },
      ]),
    );
    const deep = shown(shapeOf({ list: [wide], other: [{ more: wide }] }));
    expect(deep.length).toBeLessThan(450);
    expect(deep).toContain("unknown");
  });
});

describe("keys that are data", () => {
  test.each([
    ..."anna@example.com 2025-01-31 2025 12:30 ord_00042 cus_7 LAMP-0001 SEAT-XL de-DE deadbeefcafe0123 /srv/a.txt".split(
      " ",
    ),
    ..."a1b2c3 123e4567-e89b-12d3-a456-426614174000 example.com NffrFeUfNV2Hib xkcdqwrtz @anna #general +4912345".split(
      " ",
    ),
    ..."Anna Kowalski|two words|¿qué?||it's|https://x.y|a|b".split("|").filter((key) => key.length !== 1),
    "this_is_what_somebody_wrote_in_a_note",
    "x".repeat(41),
  ])("%s is data", (key) => {
    expect(looksLikeData(key)).toBe(true);
    expect(JSON.stringify(shapeOf({ [key]: { total: 1 } }))).toBe(
      '{"type":"object","additionalProperties":{"type":"object","properties":{"total":{"type":"number"}},"required":["total"]}}',
    );
  });

  test.each(
    "id total_cents createdAt nextPageToken __typename $ref @type _id line2 sha256 base64 i18n content-type HTTPStatus größe 名前 X-Rate-Limit temperature_2m InstanceId a".split(
      " ",
    ),
  )("%s is not data", (key) => {
    expect(looksLikeData(key)).toBe(false);
    expect(Object.keys(shapeOf({ [key]: 1 }).properties ?? {})).toEqual([key]);
  });

  const things = (...names: string[]) => Object.fromEntries(names.map((name) => [name, { age: 3, city: "x" }]));
  test.each<[string, unknown, string]>([
    ["a few among fields", { name: "x", size: 2, "a@b.c": true }, "{ name: string; size: number }"],
    ["as many as fields", { admin: 1, "a@b.c": 2 }, "Record<string, number>"],
    ["many things alike", things("anna", "bert", "carl", "dora"), "Record<string, { age: number; city: string }>"],
    ["currencies", { base: "EUR", rates: { USD: 1.1, GBP: 0.9 } }, "{ base: string; rates: Record<string, number> }"],
    ["names of places", { Berlin: 1, Paris: 2, Rome: 3 }, "Record<string, number>"],
    ["numbered", { row1: "a", row2: "b", row3: "c" }, "Record<string, string>"],
    [
      "fields with the name of a thing",
      { anna: { login: "anna", age: 3 } },
      "Record<string, { login: string; age: number }>",
    ],
    [
      "many numbers with short names",
      Object.fromEntries("anna bert carl dora emil fritz gerd hanna".split(" ").map((key, at) => [key, at])),
      "Record<string, number>",
    ],
    [
      "not those of several words",
      { a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h_i: 8 },
      "{ a: number; b: number; c: number; d: number; e: number; f: number; g: number; h_i: number }",
    ],
    [
      "very many values alike",
      Object.fromEntries([..."abcdefghijklmnop"].map((key) => [key, 1])),
      "Record<string, number>",
    ],
    [
      "two things alike are fields",
      { billing: { city: "x" }, shipping: { city: "y" } },
      "{ billing: { city: string }; shipping: { city: string } }",
    ],
  ])("data keys are left out: %s", (_, value, type) => {
    expect(typeOf(value)).toBe(type);
  });

  test("arguments of the call are left out, unless the tool names them", () => {
    const given = { isKey: (key: string) => key === "anna", isQuery: false };
    expect(shapeOf({ anna: 3, bert: 1, carl: "x" }, given)).toEqual({
      type: "object",
      properties: { bert: { type: "number" }, carl: { type: "string" } },
      required: ["bert", "carl"],
      additionalProperties: { type: "number" },
    });
  });

  test("rows of a table keep their columns, however similar they are", () => {
    const row = Object.fromEntries([..."abcdefghijklmnopqrst"].map((key) => [key, "x"]));
    const { items } = shapeOf([row, row, row]);
    expect(Object.keys(items?.properties ?? {})).toEqual([..."abcdefghijklmnopqrst"]);
    expect(merge(shapeOf([row, row]), shapeOf([row, row])).items?.required?.length).toBe(20);
    expect(typeOf([row])).toBe("Record<string, string>[]");
  });

  test("data keys are recognised after many calls", () => {
    expect(shown(merged({ anna: 1, bert: 2 }, { carl: 1, dora: 2 }))).toContain("Record<string, number>");
    const calls = ["ab", "bc", "cd", "de", "ef", "fg", "gh"].map((keys) =>
      Object.fromEntries([...keys].map((key) => [key, 1])),
    );
    expect(shown(merged(...calls))).toContain("Record<string, number>");
    expect(shown(merged({ result: "x" }, { error: "y" }))).toContain("{ result?: string; error?: string }");
  });
});

describe("keys of one object", () => {
  test.each<[string[], boolean, boolean]>([
    [["DE", "FRA", "EU"], true, true],
    [["DE", "ABCDEF"], true, false],
    [["DE", "Anna"], true, false],
    [["ID"], false, false],
    [["Anna", "Bert", "Carla"], false, true],
    [["Anna", "Bert"], false, false],
    [["Anna", "Bert", "Carla", "Dora"], true, false],
    [["Anna", "Bert", "Carla", "Dora", "Emil"], true, true],
    [["Anna", "Bert", "carla"], false, false],
    [[], false, false],
  ])("%j with texts as values (%p) are names: %p", (keys, isText, are) => {
    expect(areNames(keys, isText)).toBe(are);
  });

  test("are numbered from three with the same name", () => {
    expect(numbered(["row1", "row2", "row3", "at1", "at2", "x"])).toEqual(["row1", "row2", "row3"]);
  });
});

describe("fields that depend on the arguments", () => {
  const tool = { name: "run", jsName: "run", description: "Runs a query.", inputSchema: { type: "object" } };
  const ofCall = (args: object, result: unknown) => shown(shapeOf(result, givenBy(givenWords(args, tool))));
  const record = (type: string) => `Promise<${type}> /* observed */`;

  test.each<[object, unknown, string]>([
    [{ query: "SELECT 1 AS one" }, [{ one: 1 }], "Record<string, unknown>[]"],
    [{ query: "SELECT 1 AS one" }, { one: 1 }, "Record<string, unknown>"],
    [
      { sql: "select * from people" },
      { rows: [{ id: 1, name: "x" }], count: 1 },
      "{ rows: Record<string, unknown>[]; count: number }",
    ],
    [{ sql: "WITH t AS (SELECT 2) SELECT * FROM t" }, [{ a: 1 }], "Record<string, unknown>[]"],
    [{ q: "PRAGMA table_info(x)" }, [{ cid: 1 }], "Record<string, unknown>[]"],
    [{ q: "INSERT INTO a (b) VALUES (1) RETURNING id" }, [{ id: 1 }], "Record<string, unknown>[]"],
    [{ q: "MATCH (n) RETURN n.name" }, [{ "n.name": 1 }], "Record<string, unknown>[]"],
    [{ query: "{ viewer { login } }" }, { data: { viewer: { login: "x" } } }, "{ data: Record<string, unknown> }"],
    [{ pipeline: [{ $group: { _id: "$country" } }] }, [{ _id: "x", n: 1 }], "Record<string, unknown>[]"],
    [{ query: "select the best customers" }, [{ id: 1 }], "{ id: number }[]"],
    [{ query: "status of my orders" }, [{ status: "x" }], "{ status: string }[]"],
    [{ filter: '{"status":"open"}' }, [{ id: 1 }], "{ id: number }[]"],
    [{ query: "from:anna with love" }, [{ id: 1 }], "{ id: number }[]"],
  ])("%j with the result %j", (args, result, type) => {
    expect(ofCall(args, result)).toBe(record(type));
  });

  test("are not known if the rows of two results have none in common", () => {
    expect(shown(merged([{ a: 1 }], [{ b: 1 }]))).toBe(record("Record<string, unknown>[]"));
    expect(shown(merged([{ a: 1 }, { b: 1 }], [{ a: 1 }]))).toBe(record("{ a?: number; b?: number }[]"));
  });
});

test("a value that one row of hundreds lacks is found", () => {
  const rows = Array.from({ length: 830 }, (_, at) => ({
    id: at,
    shipped: at === 501 ? null : "2026-01-31",
    lines: [{ n: 1 }],
  }));
  expect(typeOf({ rows })).toBe("{ rows: { id: number; shipped: string | null; lines: { n: number }[] }[] }");
});

describe("the form of a text", () => {
  const formsOf = (...texts: string[]) =>
    shown(shownShape(texts.map((text) => shapeOfText(text)!.shape).reduce((a, b) => merge(a, b))));

  test.each<[string, string]>([
    ["[FILE] a.txt\n[DIR] docs", 'lines "[DIR] …", "[FILE] …"'],
    ["[ANNA] hello\n[BERT] hi", 'lines "[MARK] …"'],
    ["docs/a.md\n./b.ts\n/srv/c", "one path per line"],
    ["Found 2 files:\n/a/b.ts\n/c.ts", "one path per line"],
    ['{"a":1}\n{"a":2}', "one JSON value per line"],
    ['Found 2 orders:\n[{"a":1}]', "a line, then JSON"],
    ['```json\n{"a":1}\n```', "JSON in a code fence"],
    ['id,name,total\n1,Anna,3\n2,"B, C",4', "CSV: id, name, total"],
    ["id\tname\n1\tAnna", "tab-separated: id, name"],
    ["| id | name |\n| --- | --- |\n| 1 | x |", "Markdown table: id, name"],
    ["# Title\n\ntext", "Markdown"],
    ["<p>x</p>\n<p>y</p>", "XML or HTML"],
    ["size: 3\ncreated: today", 'lines "key: value"'],
    ["- a\n- b", 'lines "- …"'],
    ["1. a\n2. b", 'lines "1. …"'],
    ["alpha\nbeta", "one entry per line"],
    ["Wrote the file.", "a sentence"],
  ])("%j", (text, form) => {
    expect(formsOf(text)).toBe(`Promise<string> /* observed */ /* ${form} */`);
    expect(shown(shownShape(shapeOf({ content: text })))).toContain(
      `{ content: string }> /* observed */ /* ${form} */`,
    );
  });

  test.each(["anna,bert\ncarl,dora", "anna@example.com,3\nbert@example.com,4"])("has no data: %j", (text) => {
    const written = JSON.stringify(shapeOfText(text));
    for (const word of text.split(/\W/)) if (word.length > 2) expect(written).not.toContain(word);
  });

  test("fits all results, whatever their order", () => {
    const texts = ["[FILE] a.txt", "[FILE] a\n[FILE] b", "[DIR] c\n[DIR] d", "Nothing was found."];
    for (const some of [texts, texts.toReversed()]) {
      expect(formsOf(...some)).toBe('Promise<string> /* observed */ /* lines "[DIR] …", "[FILE] …" */');
    }
    expect(formsOf("- a\n- b", "1. a\n2. b")).toBe("Promise<string> /* observed */");
    const csv = ["id,name\n1,x", "id,total\n1,2"];
    expect(formsOf(...csv)).toContain("/* CSV */");
  });

  test("in a file is refused unless it is one", () => {
    const read = (form: unknown) => readShape({ type: "string", form }).form;
    expect(read(["csv", "id", "name"])).toEqual(["csv", "id", "name"]);
    for (const form of ["csv", ["odd"], ["csv", "*/ evil()"], ["csv", 5], ["constructor"]])
      expect(read(form)).toBeUndefined();
  });
});

describe("merged shapes", () => {
  const values = [
    { orders: [], total: 0, next: null },
    { orders: [{ id: "x", tags: ["a"] }], total: 1, next: "c" },
    { orders: [{ id: "y", note: null }], total: 1, next: null, "a@b.c": 1 },
    { error: { code: 5 } },
    "No orders",
    [1, 2],
    null,
  ];

  test("have optional fields for those missing in one, and the union of kinds", () => {
    expect(shown(merged(...values.slice(0, 3)))).toBe(
      "Promise<{ orders: { id: string; tags?: string[]; note?: null }[]; total: number; next: string | null }> /* observed */",
    );
    expect(shown(merged(...values))).toBe(
      "Promise<string | { orders?: { id: string; tags?: string[]; note?: null }[]; total?: number; next?: string | null; error?: { code: number } } | number[] | null> /* observed */",
    );
  });

  test("do not depend on the order, and repeated values change nothing", () => {
    const sorted = (shape: Shape) =>
      JSON.stringify(shape, (_, value) =>
        Array.isArray(value)
          ? [...value].sort()
          : value && typeof value === "object"
            ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
            : value,
      );
    const all = merged(...values);
    expect(sorted(merged(...values.toReversed()))).toBe(sorted(all));
    for (const value of values) expect(merge(all, shapeOf(value))).toEqual(all);
    expect(merge(all, all)).toEqual(all);
  });

  test("stay maps", () => {
    expect(shown(merged({ "a@b.c": 1 }, { name: "x", size: 1 }))).toContain("Record<string, string | number>");
    expect(shown(merged({ name: "x", size: 1 }, { "a@b.c": 1 }))).toContain("Record<string, string | number>");
  });

  test("do not get optional fields from parts of a result", () => {
    const whole = shapeOf({ orders: [{ id: "x" }], total: 1 });
    expect(merge(whole, shapeOf({ orders: [] }), true).required).toEqual(["orders", "total"]);
    expect(merge(whole, shapeOf({ orders: [] })).required).toEqual(["orders"]);
  });
});

describe("a result of a known shape", () => {
  const rows = [{ id: 1, name: "ada" }, { id: 2 }];
  const texts = [
    "one",
    "two words",
    "a\nb",
    "id,n\na,1",
    "- a\n- b",
    "{}",
    "[]",
    '{"id":12345678901234567890}',
    "{ broken",
    "7",
    "",
  ];
  const values = [
    rows,
    rows.slice(1),
    [],
    {},
    null,
    7,
    true,
    "x",
    "two words",
    "a\nb",
    { text: "a" },
    { text: "two words" },
  ];
  const nested = [
    { text: "a\nb" },
    { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } },
    { rows, next: null },
    { rows: [], next: "2" },
  ];
  const maps = [
    { "2026-01-01": 1, "2026-01-02": 2, "2026-01-03": 3 },
    { "2026-01-01": "x" },
    { anna: { login: "anna" } },
  ];
  const contents = [
    ...texts.map((text) => ({ text })),
    ...[...values, ...nested, ...maps].flatMap((value) => [{ value }, { text: JSON.stringify(value) }]),
    { value: Array.from({ length: 100 }, (_, id) => ({ id })) },
  ];
  const observed = ({ text, value }: (typeof contents)[number] & { text?: string; value?: unknown }) =>
    text === undefined ? shapeOf(value) : shapeOfText(text)!.shape;

  test("is found without observing it only if it would add nothing", () => {
    let found = 0;
    for (const first of contents) {
      for (const second of contents) {
        const known = bounded(merge(observed(first), observed(second)));
        for (const content of contents) {
          if (!isOfShape(content, known)) continue;
          found += 1;
          expect(bounded(merge(known, observed(content))), JSON.stringify({ known, content })).toEqual(known);
        }
      }
    }
    expect(found).toBeGreaterThan(contents.length ** 2);
  });

  test("is found for what servers answer again and again", () => {
    for (const value of [rows, { rows, next: null }, { text: "two words" }, "two words", 7]) {
      expect(isOfShape({ value }, shapeOf(value))).toBe(true);
      expect(isOfShape({ text: JSON.stringify(value) }, shapeOf(value))).toBe(true);
    }
  });
});

describe("reading a result", () => {
  test("is bounded for lists and objects of any size", () => {
    const list = Array.from({ length: 100_000 }, (_, at) => (at === 99_990 ? { last: 1 } : { id: "x" }));
    expect(typeOf({ list, total: 1 })).toBe("{ list: { id: string }[]; total: number }");
    const fields = Object.fromEntries(
      Array.from({ length: 50_000 }, (_, at) => [`field${"abcdefghij"[at % 10]}${at}`, at]),
    );
    expect(typeOf(fields)).toBe("Record<string, number>");
    const words = Array.from(
      { length: 150 },
      (_, at) => `f${"abcdefghijklm"[at % 13]}${"nopqrstuvwxyz"[Math.floor(at / 13)]}`,
    );
    const mixed = shapeOf(Object.fromEntries(words.map((word, at) => [word, at % 2 ? "x" : 1])));
    expect(Object.keys(mixed.properties ?? {}).length).toBe(64);
    const tree = (depth: number): object =>
      Object.fromEntries(words.slice(0, 40).map((word, at) => [word, depth > 0 && at % 2 ? tree(depth - 1) : 1]));
    expect(JSON.stringify(shapeOf(tree(3))).length).toBeLessThanOrEqual(4_000);
  });

  test("keeps the fields that are always there, and then the first by name", () => {
    const names = Array.from(
      { length: 100 },
      (_, at) => `${"zyxwvutsrq"[at % 10]}${"abcdefghij"[Math.floor(at / 10)]}`,
    );
    const required = names.filter((name) => name.startsWith("z"));
    const found = Object.fromEntries(names.map((name) => [name, shapeOf(1)]));
    const { properties, required: always } = objectShape(found, required, undefined, Number.POSITIVE_INFINITY);
    const others = names.filter((name) => !required.includes(name)).sort();
    expect(Object.keys(properties ?? {}).sort()).toEqual([...others.slice(0, 54), ...required].sort());
    expect(always).toEqual(required);
  });

  test("needs only the beginning of a long text, which is closed", () => {
    const orders = Array.from({ length: 60_000 }, (_, at) => ({
      id: `ord_${at}`,
      note: 'a "quoted", } ] \\',
      tags: ["x", "y"],
      lines: [{ sku: "s", n: 1 }],
    }));
    const text = JSON.stringify({ orders, total: 1 });
    expect(text.length).toBeGreaterThan(4_000_000);
    const seen = shapeOfText(text)!;
    expect(seen.part).toBe(true);
    expect(shown(seen.shape)).toBe(
      "Promise<{ orders: { id: string; note: string; tags: string[]; lines: { sku: string; n: number }[] }[] }> /* observed */",
    );
    const wholly = shapeOfText(JSON.stringify({ orders: orders.slice(0, 9), total: 1 }))!;
    expect(merge(wholly.shape, seen.shape, true)).toEqual(wholly.shape);
    expect(shapeOfText(`[${"x".repeat(4_000_001)}`)).toBeUndefined();
  });

  test.each<[string, string]>([
    ["plain words", "string"],
    ["{ not json", "string"],
    ["12", "number"],
    ['{"a":1}', "{ a: number }"],
  ])("the text %s has the shape %s", (text, type) => {
    expect(shown(shapeOfText(text)!.shape)).toBe(`Promise<${type}> /* observed */`);
  });
});

test("a shape in a file may be anything, and is refused if it is invalid", () => {
  for (const value of [null, 1, "x", [], { type: "object", properties: { a: null } }, { type: "array", items: 5 }]) {
    expect(() => readShape(value)).toThrow(TypeError);
  }
  expect(readShape({ type: ["string", "odd"], enum: ["value"], description: "value" })).toEqual({ type: "string" });
  const shape = shapeOf({ a: [{ b: 1 }], "a@b.c": null, c: "x" });
  expect(readShape(JSON.parse(JSON.stringify(shape)))).toEqual(shape);
  expect(shallow(shape, 0)).toEqual({});
  expect(shallow(shape, 9)).toEqual(shape);
  expect(shallow(shapeOf([{ a: 1, b: 2, "a@b.c": null }]), 9, true)).toEqual(shapeOf([{ a: 1, b: 2 }]));
});
