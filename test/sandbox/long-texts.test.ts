/** Long texts enter the engine unchanged, whatever they contain. */
import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { BindingValue } from "../../src/sandbox/contract.ts";
import { Harness, megabyte } from "./harness.ts";

setDefaultTimeout(60_000);

const harness = new Harness();
afterAll(() => harness[Symbol.dispose]());

const given = (value: BindingValue, memoryBytes = 64 * megabyte) => ({ call: async () => value, memoryBytes });

describe("a long text is the same inside:", () => {
  test.each([
    ["one byte a character", "plain ".repeat(1_000)],
    ["two, three and four bytes", "é€😀".repeat(1_000)],
    ["at the length from which texts are long", "é".repeat(512)],
    ["just longer", "é".repeat(513)],
    ["lone surrogates", "\ud800x\udc00".repeat(1_000)],
    ["zero characters", "a\0b".repeat(1_000)],
    ["zero characters in a short one", "a\0b"],
  ])("%s", async (_, text) => {
    const units =
      "[...t].length + ' ' + t.split('').reduce((sum, c, at) => (sum * 31 + c.charCodeAt(0) + at) % 1000003, 7)";
    const expected = new Function("t", `return ${units}`)(text);
    for (const value of [{ text }, { jsonOrText: text }, { json: JSON.stringify(text) }]) {
      expect(await harness.value(`const t = await test.text(); return ${units}`, given(value))).toBe(expected);
    }
  });
});

describe("text that may be JSON", () => {
  const value = (jsonOrText: string) => harness.value("return test.text()", given({ jsonOrText }));

  test("is parsed if it is valid", async () => {
    expect(await value('[{"a": 1}, null]')).toEqual([{ a: 1 }, null]);
    expect(await value(' {"b": "\\u00e9"}\n')).toEqual({ b: "é" });
  });

  test("stays text if only its beginning looks like JSON", async () => {
    for (const text of ["[INFO] ready", '{"a": 1', "[1, 2,]", "{a: 1}", "['a']", '["a\tb"]', "[01]", "{} {}"]) {
      expect(await value(text)).toBe(text);
    }
  });

  test("is an error if it is nested too deeply, like other JSON", async () => {
    const deep = `${"[".repeat(200_000)}${"]".repeat(200_000)}`;
    for (const each of [{ json: deep }, { jsonOrText: deep }]) {
      expect(await harness.run("return test.text()", given(each))).toMatchObject({ ok: false, reason: "stack" });
    }
  });

  test("lists its keys in the error for a missing one", async () => {
    const code = "const t = await test.text(); return t.order.id";
    const hint = async (jsonOrText: string) => (await harness.run(code, given({ jsonOrText }))) as object;
    const saying = (words: string) => ({ ok: false, error: { hint: expect.stringContaining(words) } });
    expect(await hint('{"orders": []}')).toMatchObject(saying("{ orders }"));
    expect(await hint("[INFO]")).toMatchObject(saying("text"));
  });
});

test("a text that does not fit the engine's memory ends with the memory limit, and affects nothing else", async () => {
  const outcome = await harness.run("return test.text()", given({ text: "x".repeat(18 * megabyte) }, 16 * megabyte));
  expect(outcome).toMatchObject({ ok: false, reason: "memory" });
  expect(await harness.value("return 1", { memoryBytes: 16 * megabyte })).toBe(1);
});
