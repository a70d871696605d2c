/** Long texts and bytes are converted on the host. The result is the same as that of the guest's libraries. */
import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { expectSame } from "./compare.ts";
import { Harness } from "./harness.ts";

setDefaultTimeout(60_000);

let harness: Harness;
beforeAll(() => {
  harness = new Harness();
  return () => harness[Symbol.dispose]();
});

/** Texts on both sides of the length from which the host converts, and expressions of texts. */
const texts: Record<string, string> = {
  "199 characters": "'x'.repeat(199)",
  "200 characters": "'x'.repeat(200)",
  accents: "'Zoë é ÿ '.repeat(100)",
  "other scripts": "'я 中 ﬁ \u200b'.repeat(100)",
  emoji: "'a😀'.repeat(100)",
  "a zero": "'ab\\0'.repeat(100)",
  "a zero at the end": "'ab'.repeat(100) + '\\0'",
  "a byte order mark": "'\\ufeff' + 'ab'.repeat(100)",
  "a byte order mark within": "'ab'.repeat(100) + '\\ufeff' + 'ab'.repeat(100)",
  "lone surrogates": "'a\\ud800b\\udc00'.repeat(100)",
  "controls and lines": "'\\x01\\r\\n\\t\\x7f\\x80\\u2028'.repeat(100)",
  "all of Latin-1": "Array.from({ length: 512 }, (_, n) => String.fromCharCode(n % 256)).join('')",
};

test.each([119_999, 120_000, 120_001])("%d0 characters, which are converted in parts", async (tens) => {
  await expectSame(harness, `btoa('0123456789'.repeat(${tens}))`);
  await expectSame(harness, `atob(btoa('0123456789'.repeat(${tens}))).length`);
  await expectSame(harness, `atob('YWJj'.repeat(${tens}))`);
});

describe("texts", () => {
  test.each(Object.entries(texts))("%s", async (_, text) => {
    await expectSame(harness, `Array.from(new TextEncoder().encode(${text}))`);
    await expectSame(harness, `new TextDecoder().decode(new TextEncoder().encode(${text})) `);
    await expectSame(harness, `Array.from(Buffer.from(${text}))`);
    for (const encoding of ["utf8", "utf-8", "UTF8", "base64", "base64url", "hex", "latin1"]) {
      await expectSame(harness, `Buffer.from(${text}).toString("${encoding}")`);
      await expectSame(
        harness,
        `Buffer.from(Buffer.from(${text}).toString("${encoding}"), "${encoding}").toString("hex")`,
      );
    }
    await expectSame(harness, `btoa(${text})`);
    await expectSame(harness, `atob(btoa(${text}))`);
  });
});

test.each([
  ["a start that is cut off", "[0x80, ...rest]"],
  ["an end that is cut off", "[...rest, 0xe2, 0x82]"],
  ["an overlong form", "[...rest, 0xc0, 0x80, ...rest]"],
  ["a surrogate", "[...rest, 0xed, 0xa0, 0x80, ...rest]"],
  ["a code that is too high", "[...rest, 0xf4, 0x90, 0x80, 0x80, ...rest]"],
  ["two byte order marks", "[0xef, 0xbb, 0xbf, 0xef, 0xbb, 0xbf, ...rest]"],
  ["zeros", "[...rest, 0, 0, ...rest]"],
])("bytes with %s", async (_, list) => {
  const bytes = `((rest) => Uint8Array.from(${list}))(Array(200).fill(97))`;
  await expectSame(harness, `new TextDecoder().decode(${bytes})`);
  await expectSame(harness, `new TextDecoder().decode(${bytes}.buffer)`);
  await expectSame(harness, `new TextDecoder("utf-8", { fatal: true }).decode(${bytes})`);
  await expectSame(harness, `new TextDecoder("utf-8", { ignoreBOM: true }).decode(${bytes})`);
  await expectSame(harness, `Buffer.from(${bytes}).toString("base64")`);
});

test.each([
  ["lines", "'YWJj\\n'.repeat(100)"],
  ["no padding", "'YWJj'.repeat(100) + 'YQ'"],
  ["padding within", "'YWJj'.repeat(100) + 'YQ==' + 'YWJj'.repeat(100)"],
  ["padding at the end of a part", "'YWJj'.repeat(149_999) + 'YQ==' + 'YWJj'.repeat(100)"],
  ["bits that are not used", "'YWJj'.repeat(100) + 'YR=='"],
  ["letters of URLs", "'_-A_'.repeat(100)"],
  ["other characters", "'YW!j'.repeat(100)"],
  ["characters beyond ASCII", "'YW中j'.repeat(100)"],
])("base64 with %s", async (_, text) => {
  await expectSame(harness, `atob(${text})`);
  await expectSame(
    harness,
    `Buffer.from(${text}, "base64").length > 0 && Buffer.from(${text}, "base64url").length > 0`,
  );
});

test("hexadecimal text of other forms", async () => {
  await expectSame(harness, "Array.from(Buffer.from('aF'.repeat(200), 'hex'))");
  await expectSame(harness, "Array.from(Buffer.from('ab'.repeat(200) + 'a', 'hex'))");
  await expectSame(harness, "Array.from(Buffer.from('ab'.repeat(200) + 'zzabab', 'hex'))");
});

test("parts of a buffer, and streams", async () => {
  const view = "new Uint8Array(new TextEncoder().encode('ab€'.repeat(300)).buffer, 5, 1_000)";
  await expectSame(harness, `new TextDecoder().decode(${view})`);
  await expectSame(harness, `Buffer.from('ab€'.repeat(300)).subarray(5, 1_005).toString("base64")`);
  await expectSame(harness, `Buffer.from('ab€'.repeat(300)).toString("utf8", 5, 700)`);
  await expectSame(harness, `Buffer.prototype.toString.call(Buffer.from("ab".repeat(300)), undefined)`);
  const stream = `((decoder, bytes) => [
    decoder.decode(bytes.subarray(0, 303), { stream: true }), decoder.decode(bytes.subarray(303)), decoder.decode(bytes)
  ])(new TextDecoder(), new TextEncoder().encode('a€'.repeat(300)))`;
  await expectSame(harness, stream);
  await expectSame(
    harness,
    "((bytes) => { bytes[0] = 98; return [bytes.buffer.byteLength, bytes[0]] })(new TextEncoder().encode('a'.repeat(300)))",
  );
});

test("the functions have their names and lengths", async () => {
  await expectSame(harness, "[atob, btoa].map(({ name, length }) => [name, length])");
  await expectSame(harness, "[TextDecoder.prototype.decode.name, TextEncoder.prototype.encode.name]");
});

test.each([
  ["encoded texts", "const text = 'x'.repeat(5e6); for (;;) kept.push(new TextEncoder().encode(text))"],
  ["small encoded texts", "const text = 'x'.repeat(1e3); for (;;) kept.push(Buffer.from(text))"],
  ["decoded texts", "const bytes = new Uint8Array(5e6).fill(97); for (;;) kept.push(new TextDecoder().decode(bytes))"],
  [
    "base64",
    "const bytes = new Uint8Array(5e6); for (;;) kept.push(Buffer.from(Buffer.from(bytes).toString('base64'), 'base64'))",
  ],
  ["base64 of texts", "const text = 'x'.repeat(3e6); for (;;) kept.push(atob(btoa(text)))"],
])("memory that is full of %s ends the program", async (_, fill) => {
  expect(await harness.run(`const kept: unknown[] = []; ${fill}`)).toMatchObject({ ok: false, reason: "memory" });
  expect(await harness.value("return 1")).toBe(1);
});
