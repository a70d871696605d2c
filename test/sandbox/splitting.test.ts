/** Long texts are split by regular expressions as short ones are. */
import { beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { expectSame } from "./compare.ts";
import { Harness } from "./harness.ts";

setDefaultTimeout(60_000);

let harness: Harness;
beforeAll(() => {
  harness = new Harness();
  return () => harness[Symbol.dispose]();
});

const texts = [
  "'one line, and more words\\n'.repeat(200)",
  "'\\r\\n' + 'a line\\r\\n\\r\\nanother, longer line\\n'.repeat(100) + 'end'",
  "'a,b,c,'.repeat(500)",
  "'Zoë 😀 é\\ud83d 中;'.repeat(300)",
  "'aAbB'.repeat(600)",
  "'x'.repeat(1_999)",
  "'x'.repeat(2_000)",
  "'a long first piece of the text, '.repeat(80) + ',,,,'.repeat(200)",
];

test.each([
  "/\\r?\\n/",
  "/,/",
  "/\\s*[,;]\\s*/",
  "/(\\r)?(\\n)/",
  "/(?<name>\\n)|(,)/",
  "/\\n/g",
  "/\\n/y",
  "/B/i",
  "/^/m",
  "/$/m",
  "/(?:)/",
  "/(?:)/u",
  "/,*/",
  "/,|(?= )/",
  "/(?<=,) /",
  "/(?<!r), /",
  "/./su",
  "/\\p{Emoji_Presentation}/u",
  "/[\\ud83d]/",
  "/[\\ud83d]/u",
  "/\\ude00/",
  "/\\ude00/u",
  "/[^ ]+/",
  "/not there/",
  "/x{2000}/",
  "/\\n/dgimsuy",
  "/(a)(?=(.))/",
  "/\\bwords\\b/",
  "/x*$/",
  "/[\\s\\S]*/",
])("%s", async (expression) => {
  for (const text of texts) {
    await expectSame(harness, `(${text}).split(${expression})`);
    await expectSame(harness, `(${text}).split(${expression}, 3)`);
    await expectSame(
      harness,
      `((re) => { re.lastIndex = 7; return [(${text}).split(re).length, re.lastIndex] })(${expression})`,
    );
  }
});

/** Each shows how it was read in `seen`. */
const changes: Record<string, string> = {
  "a method of the expression":
    "const re = /,/; re.exec = function (text) { seen.push('exec'); return RegExp.prototype.exec.call(this, text) }",
  "a property of the expression":
    "const re = /,/; Object.defineProperty(re, 'flags', { get: () => (seen.push('flags'), 'i') })",
  "a subclass":
    "class Own extends RegExp { exec(text) { seen.push('exec'); return super.exec(text) } } const re = new Own(',')",
  "a constructor":
    "const re = /,/; re.constructor = { [Symbol.species]: function (from, flags) { seen.push(flags); return /;/y } }",
  "another prototype":
    "const re = Object.setPrototypeOf(/,/, { __proto__: RegExp.prototype, get flags() { seen.push('flags'); return 'y' } })",
  "a proxy": "const re = new Proxy(/,/, { get: (of, key) => { seen.push(String(key)); return Reflect.get(of, key) } })",
  "an object that is no expression": "const re = { __proto__: RegExp.prototype, flags: '' }",
};

test.each(Object.entries(changes))("%s", async (_, change) => {
  await expectSame(
    harness,
    `(() => { const seen = []; ${change}; try { return [("a;b,c".repeat(600)).split(re), seen.slice(0, 20)] } catch (error) { return [error.name, seen] } })()`,
  );
});

const classChanges: Record<string, string> = {
  exec: "RegExp.prototype.exec = function () { seen.push('exec'); return null }",
  flags: "Object.defineProperty(RegExp.prototype, 'flags', { get: () => (seen.push('flags'), '') })",
  "a flag": "Object.defineProperty(RegExp.prototype, 'global', { get: () => (seen.push('global'), false) })",
  species: "Object.defineProperty(RegExp, Symbol.species, { get() { seen.push('species'); return RegExp } })",
  constructor:
    "Object.defineProperty(RegExp.prototype, 'constructor', { get() { seen.push('constructor'); return RegExp } })",
};

// In the sandbox only: these programs change the class of all expressions.
test.each(Object.entries(classChanges))("a program that replaces %s sees that it is read", async (_, change) => {
  const code = `const seen: string[] = []; ${change};
    const pieces = "some text, ".repeat(300).split(/,/).length;
    const reads = seen.length;
    return [pieces > 0, reads > 0]`;
  expect(await harness.value(code)).toEqual([true, true]);
});

test("methods that a program has replaced are not called", async () => {
  const code = `const { slice } = String.prototype;
    const { push } = Array.prototype;
    const { apply } = Reflect;
    let calls = 0;
    String.prototype.slice = Array.prototype.push = (Reflect as any).apply = (() => (calls += 1)) as never;
    const { length } = "some text, ".repeat(300).split(/,/);
    Object.assign(String.prototype, { slice });
    Object.assign(Array.prototype, { push });
    Object.assign(Reflect, { apply });
    return [length, calls]`;
  expect(await harness.value(code)).toEqual([301, 0]);
});

test("elements are defined, although all arrays have a setter for their index", async () => {
  const code = `let calls = 0;
    Object.defineProperty(Array.prototype, 7, { set: () => { calls += 1 }, configurable: true });
    const { length } = "some text, ".repeat(300).split(/,/);
    delete (Array.prototype as any)[7];
    return [length, calls]`;
  expect(await harness.value(code)).toEqual([301, 0]);
});

test("the method looks like the engine's", async () => {
  await expectSame(harness, "((f) => [f.name, f.length])(RegExp.prototype[Symbol.split])");
});
