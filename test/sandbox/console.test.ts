/** console in the sandbox formats values as Node does. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { Harness } from "./harness.ts";

setDefaultTimeout(60_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

/** Everything that a program logs, one entry per line; levels other than log come first. */
async function logged(code: string): Promise<string> {
  const { logs } = await harness.run(code);
  return logs.map(({ level, text }) => (level === "log" ? text : `${level}: ${text}`)).join("\n");
}

test.each<[string, string]>([
  ["'text', 1, true, null, undefined, 10n", "text 1 true null undefined 10n"],
  [
    "{ id: 1, tags: ['a', 'b'], nested: { deep: [{ x: 1 }] } }",
    "{ id: 1, tags: [ 'a', 'b' ], nested: { deep: [ { x: 1 } ] } }",
  ],
  ["[1, 'two', null]", "[ 1, 'two', null ]"],
  ["new Map([['a', { b: 1 }]]), new Set([1])", "Map(1) { 'a' => { b: 1 } } Set(1) { 1 }"],
  ["new Date(0), /x/g, Symbol('s')", "1970-01-01T00:00:00.000Z /x/g Symbol(s)"],
  ["new (class Point { x = 1; #hidden = 2 })()", "Point { x: 1 }"],
  ["function named() {}, () => 1, class A {}", "[Function: named] [Function (anonymous)] [class A]"],
  ["(() => { const a = { n: 1 }; a.self = a; return a })()", "<ref *1> { n: 1, self: [Circular *1] }"],
  ["{ a: { b: { c: { d: { e: { f: 1 } } } } } }", "{ a: { b: { c: { d: { e: [Object] } } } } }"],
  ["new Uint8Array(3), Buffer.from('abc')", "Uint8Array(3) [ 0, 0, 0 ] <Buffer 61 62 63>"],
  ["new URL('http://a/b'), new URLSearchParams('c=d')", "URL 'http://a/b' URLSearchParams { c: 'd' }"],
  ["Promise.resolve(1), crypto.randomUUID", "Promise { <pending> } [Function: randomUUID]"],
  [
    "'%s is %d, %i, %f, %j, %o, %O, 100%%', 'x', '1.5', 1.9, '2.5', { a: 1 }, 'o', { b: 2 }, 'rest'",
    "x is 1.5, 1, 2.5, {\"a\":1}, 'o', { b: 2 }, 100% rest",
  ],
  ["'100% of', 'it'", "100% of it"],
  ["''", ""],
])("console.log(%s) is formatted", async (values, expected) => {
  expect(await logged(`console.log(${values})`)).toBe(expected);
});

test("errors are logged with their lines of code, properties and cause", async () => {
  const code = `function inner() {
  return Object.assign(new TypeError("bad", { cause: new Error("root") }), { code: "E_BAD" });
}
console.log(inner());
console.log([new Error("in a list")]);
console.log(new (class Mine extends Error { name = "Mine" })("own"));`;
  expect(await logged(code)).toMatchInlineSnapshot(`
    "TypeError: bad
        at inner (main.ts:2)
        at main.ts:4 {
      code: 'E_BAD',
      [cause]: Error: root
          at inner (main.ts:2)
          at main.ts:4
    }
    [
      Error: in a list
          at main.ts:5
    ]
    Mine: own
        at Mine (main.ts:6)
        at main.ts:6"
  `);
});

test("console.table logs tables", async () => {
  const code = `
    console.table([{ id: 1, name: "Ann" }, { id: 22, name: "日本", extra: null }]);
    console.table([["a", 1], ["b", 2]]);
    console.table([{ a: 1, b: 2 }, { a: 3, b: 4 }], ["b"]);
    console.table(["x", 5]);
    console.table({ north: { sum: 1.5 }, south: { sum: 2 } });
    console.table(new Map([["k", { v: 1 }]]));
    console.table("no table");`;
  expect(await logged(code)).toMatchInlineSnapshot(`
    "(index) | id | name | extra
    --------|----|------|------
    0       | 1  | Ann  |
    1       | 22 | 日本 | null
    (index) | 0 | 1
    --------|---|--
    0       | a | 1
    1       | b | 2
    (index) | b
    --------|--
    0       | 2
    1       | 4
    (index) | Values
    --------|-------
    0       | x
    1       | 5
    (index) | sum
    --------|----
    north   | 1.5
    south   | 2
    (iteration index) | Key | v
    ------------------|-----|--
    0                 | k   | 1
    no table"
  `);
});

test("console supports groups, counts, times and assertions", async () => {
  const code = `
    console.group("outer"); console.log("a\\nb"); console.group(); console.warn("deep"); console.groupEnd(); console.groupEnd();
    console.count(); console.count("x"); console.count(); console.countReset(); console.count();
    console.time("t"); console.timeEnd("t"); console.timeEnd("t");
    console.assert(true, "silent"); console.assert(1 > 2, "not %s", "so"); console.assert(false);
    console.debug("d"); console.info("i"); console.error("e"); console.dir({ a: { b: 1 } }, { depth: 0 });`;
  expect((await logged(code)).replace(/\d+\.\d+ms/, "0.0ms")).toMatchInlineSnapshot(`
    "outer
      a
      b
    warn:     deep
    default: 1
    x: 1
    default: 2
    default: 1
    t: 0.0ms
    warn: There is no timer called "t"
    error: Assertion failed: not so
    error: Assertion failed
    debug: d
    info: i
    error: e
    { a: [Object] }"
  `);
});

test("console works after code has broken the prototypes", async () => {
  const code = `
    for (const [type, names] of [[Array, ["map", "join", "forEach"]], [String, ["replace", "slice", "split"]]] as any)
      for (const name of names) type.prototype[name] = () => { throw new Error("broken") };
    console.log({ a: [1, "x"] }, "%s", 5);`;
  expect(await logged(code)).toBe("{ a: [ 1, 'x' ] } %s 5");
});

test("long texts in an object are logged with their own line breaks and quotes", async () => {
  const code = `
const content = "# Title\\n\\nIt's a \\"text\\" of a file with a \\\\ and \`ticks\`.\\n\\tIndented, and long enough for several lines.\\nEnd";
console.log({ path: "a.md", content });
console.log("read", [content]);
console.dir({ content });
console.log("%O", { content: "short" });
console.log({ content: "one\\ntwo" });`;
  const shown = `# Title

It's a "text" of a file with a \\ and \`ticks\`.
	Indented, and long enough for several lines.
End`;
  expect(await logged(code)).toBe(
    [
      `{\n  path: 'a.md',\n  content: \`${shown}\`\n}`,
      `read [\n  \`${shown}\`\n]`,
      `{\n  content: \`${shown}\`\n}`,
      "{ content: 'short' }",
      "{ content: 'one\\ntwo' }",
    ].join("\n"),
  );
});

test("a logged text that looks like joined parts stays as it is", async () => {
  const text = "'one\\\\n' +\\n  'two'";
  expect(await logged(`console.log("${text}", 1)`)).toBe("'one\\n' +\n  'two' 1");
});
