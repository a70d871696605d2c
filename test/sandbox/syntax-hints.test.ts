/** A program that cannot be parsed gets a hint if its mistake is certain. */
import { afterAll, expect, setDefaultTimeout, test } from "bun:test";
import { Harness } from "./harness.ts";

setDefaultTimeout(60_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

const twice = "choose another name, or rename it when destructuring: { a: other }.";

test.each<[string, string | undefined]>([
  [
    "if (a and b) {}",
    "This is Python; TypeScript is expected. On line 1, write && for and, || for or, ! for not: if (a && b) {}",
  ],
  ["const a = 1;\nconst a = 2;", `a is already declared on line 1: ${twice}`],
  ["const { a } = x;\nlet [b, a] = y;", `a is already declared on line 1: ${twice}`],
  ["function f(a, a2) { let a = 1; }", `a is declared twice: ${twice}`],
  ["return “x”", "Line 1 has typographic quotes: write \" or '."],
  ["list.map((o) => { id: o.id, n: 1 })", "An object after => needs parentheses: (o) => ({ … })."],
  [
    "list.map((o) => await f(o))",
    "await needs an async callback (line 1): await Promise.all(list.map(async (o) => …)).",
  ],
  [
    "list.forEach((o) => { await f(o) })",
    "await cannot be used in the callback of forEach: write for (const … of …) { … await … }.",
  ],
  ["const f = (o) => { await g(o) };", "await needs an async function (line 1): async (o) => …"],
  ["function f() {\n  return await g();\n}", "await needs an async function: write async before function on line 1."],
  [
    "function f() {\n  const a = 1;\n  return list.map((x) => x + await g());\n}",
    "await needs an async callback (line 3): await Promise.all(list.map(async (x) => …)).",
  ],
  ["const f = async (o) => { const g = 1 1; await o }", undefined],
  ["const a = 'it's here';", "On line 1, a ' ends the string that started with ': write it in \"…\" or `…`."],
  ["const a = 'one\ntwo';", "A string over several lines needs backticks, `…`, or \\n in it."],
  ["const a = `one ${two`;", "A string in backticks is not closed, or a ${ in it has no }."],
  ["return <b>x</b>;", "JSX is not supported: build strings with `…${value}…`."],
  [
    "@sealed\nclass A {}",
    "Decorators are not supported: call the decorator's function yourself, around the method or the class.",
  ],
  ["f(1]", "The ( on line 1 is not closed: line 1 has ] where ) is missing."],
  ["f(1));", "The ) on line 1 has no opening bracket."],
  ["if (a) {\n  f(1);\n", "The { on line 1 is never closed: } is missing."],
  ["const a = ;", undefined],
])("the program %j has the right hint", async (code, hint) => {
  const outcome = await harness.run(code);
  expect(outcome.ok ? "ran" : outcome.error.hint).toBe(hint);
});
