/** Programs mean the same as elsewhere: JavaScript runs unchanged, and TypeScript without its types. */
import { afterAll, describe, expect, test } from "bun:test";
import { transpile } from "../../src/sandbox/code/transpile.ts";
import { Harness } from "./harness.ts";

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

const valueIn = async (source: string) => {
  const outcome = await harness.run(source);
  return outcome.ok ? outcome.value : outcome.error.message;
};

/** Programs that end with a value, and contain a comparison that could begin type arguments. */
const programs: [string, string, unknown][] = [
  [
    "yield in a spread list",
    "function* g() { return [...yield] }\nconst i = g(); i.next(); i.next([1, 2]).value",
    [1, 2],
  ],
  ["yield as a key", "function* g() { return { a: 5 }[yield] }\nconst i = g(); i.next(); i.next('a').value", 5],
  [
    "yield in a spread object",
    "function* g() { return ({ ...yield }) }\nconst i = g(); i.next(); i.next({ b: 1 }).value",
    { b: 1 },
  ],
  ["yield before a comma", "const o = { *f() { yield, yield; return 3 } };\n[...o.f()].length", 2],
  ["yield in parentheses", "function* g() { return (yield) + 1 }\nconst i = g(); i.next(); i.next(2).value", 3],
  ["yield as an argument", "function* g() { return String(yield) }\nconst i = g(); i.next(); i.next(2).value", "2"],
  ["yield in a template", "function* g() { return `<${yield}>` }\nconst i = g(); i.next(); i.next(2).value", "<2>"],
  ["yield in a choice", "function* g() { return true ? yield : 0 }\nconst i = g(); i.next(); i.next(4).value", 4],
  ["a function declared twice", "function f() { return 1 }\nfunction f() { return 2 }\nf()", 2],
  ["a function and a variable of its name", "var f = 1;\nfunction f() {}\nf", 1],
];

describe("a program has the same value as elsewhere", () => {
  test.each(programs)("%s", async (_, source, value) => {
    expect(await valueIn(source)).toEqual(value);
    expect(await valueIn(`if (2 < 1) throw 1;\n${source}`)).toEqual(value);
    // With types, and with a part that could be a call with type arguments.
    expect(await valueIn(`const small: boolean = 1 < 2;\n${source}`)).toEqual(value);
    expect(await valueIn(`if (1 < 2 && 3 > (4)) throw 1;\n${source}`)).toEqual(value);
  });

  test("with reserved words as members, keys, enum members and texts", async () => {
    const source = `enum E { yield, other }
      const o: { yield: number } = { yield: 1 };
      const text: string = "yield)" + \`yield]\`;
      [o.yield, E.yield, E["other"], text]`;
    expect(await valueIn(source)).toEqual([1, 0, 1, "yield)yield]"]);
  });
});

test("JavaScript with comparisons is not changed", async () => {
  const source = "for (let i = 0; i < 3; i++) if (i > 1 && i <= 2) console.log(i << 1, i >> 1);";
  const { plain } = await transpile(source);
  expect(plain.code).toBe(source);
});

test("possible type arguments are read as TypeScript", async () => {
  const f = "function f(x) { return x }\nconst T = 1, U = 2, g = (a) => a;\n";
  const calls = [
    "f<T>(7)",
    "f<T, U>(7)",
    "g(f<T>(7))",
    "f<{ a: 1 }>(7)",
    "f<'a' | 'b'>(7)",
    "f<T>\n(7)",
    "f<typeof T>(7)",
    "f<f<T>>(7)",
  ];
  for (const call of calls) expect([call, await valueIn(`${f}${call}`)]).toEqual([call, 7]);
  expect(await valueIn(`${f}new Array<T>(3).length`)).toBe(3);
  expect(await valueIn(`${f}String.raw<T>\`a\``)).toBe("a");
  // Without a type these are comparisons, in TypeScript too.
  expect(await valueIn("const a = 1, b = 2, c = 3;\n[a < b, a < b && c > (b), (a < b) > (c), a < b == c > 1]")).toEqual(
    [true, true, false, true],
  );
});
