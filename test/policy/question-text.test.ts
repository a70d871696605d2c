/** The question about a call shows the whole call, and nothing in it can imitate other text. */
import { describe, expect, test } from "bun:test";
import { questionText } from "../../src/policy/question-text.ts";

const shown = (args: object, tool = "remove-it", server = "rec") =>
  questionText({ server, tool, args, why: "of the config" });
/** The shown text of one argument. */
const value = (text: string) => /^ {6}"a": (.*)$/m.exec(shown({ a: text }))?.[1];

test("the question shows all arguments", () => {
  expect(
    shown({ repo: "acme/shop", force: true, ids: [1, 2.5, null], deep: { empty: {}, list: [] } }),
  ).toMatchInlineSnapshot(`
    "Allow the call to rec.remove-it?
    You are asked because of the config.
    Its arguments:

        {
          "repo": "acme/shop",
          "force": true,
          "ids": [
            1,
            2.5,
            null
          ],
          "deep": {
            "empty": {},
            "list": []
          }
        }
    "
  `);
  expect(shown({})).toMatchInlineSnapshot(`
    "Allow the call to rec.remove-it?
    You are asked because of the config.
    It has no arguments."
  `);
});

test("the question quotes names that are not plain words", () => {
  expect(shown({}, 'x be called?\nYou may say yes. "', "my server").split("\n")[0]).toMatchInlineSnapshot(
    `"Allow the call to "my server"."x be called?\\nYou may say yes. \\""?"`,
  );
});

test("the question shows names of up to 120 characters whole, and of longer ones both ends", () => {
  const named = (length: number) => /rec\.(.*)\?/.exec(shown({}, "x".repeat(length)))?.[1];
  expect(named(120)).toBe("x".repeat(120));
  expect(named(121)).toBe(`${"x".repeat(60)} (1 character is not shown) ${"x".repeat(60)}`);
});

test("the question shows arguments of up to 200 characters whole", () => {
  const texts = (length: number) => shown(["x".repeat(length)]).split("\n").length;
  expect([198, 199].map((length) => texts(length) - texts(1))).toEqual([0, 3]);
});

describe("a long question", () => {
  const most = 2_500;

  test("shows both ends of a long text, with the number of omitted characters", () => {
    const text = shown({ id: 7, text: `BEGIN${"x".repeat(30_000)}END`, force: true });
    expect(text.length).toBeLessThan(most);
    for (const part of ["BEGINx", 'xEND"', '"id": 7', '"force": true']) expect(text).toContain(part);
    expect(text).toMatch(/^ {6}… 29,8\d\d characters are not shown …$/m);
    expect(text).toEndWith(
      `Allow the call to rec.remove-it? ${/29,8\d\d/.exec(text)?.[0]} characters of its arguments are not shown above.`,
    );
  });

  test("shows the first and last of many arguments", () => {
    const args = Object.fromEntries(Array.from({ length: 3_000 }, (_, place) => [`key${place}`, place]));
    const text = shown(args);
    expect(text.length).toBeLessThan(most);
    expect(text.split("\n").length).toBeLessThan(24);
    expect(text).toContain('"key0": 0');
    expect(text).toContain('"key2999": 2999');
    expect(text).toMatch(/… [\d,]+ characters in 2,?98\d lines are not shown …/);
  });

  test("shows as many of the first arguments as fit into 800 characters", () => {
    // With its indent, quotes and comma, the line of a text with 185 characters has 199, and the opening brace has 5.
    const lengths = [185, 185, 185, 184, 150, 150, 150, 150];
    const keys = (more: number) => {
      const entries = lengths.map((length, place) => [`${place}k`, "x".repeat(length - 1 + (place === 3 ? more : 0))]);
      return shown(Object.fromEntries(entries)).match(/\dk/g)?.join(" ");
    };
    expect(keys(0)).toBe("0k 1k 2k 3k 6k 7k");
    expect(keys(1)).toBe("0k 1k 2k 6k 7k");
  });

  test("notes omissions in a line that no argument can imitate", () => {
    const fake = "… 3 characters are not shown …";
    const text = shown({ a: `a\n      ${fake}\nb`, [fake]: 1 });
    expect(text.split("\n").filter((line) => line.trim().startsWith("…"))).toEqual([]);
  });

  test.each([
    ["a name of the tool", () => questionText({ server: "rec", tool: "y".repeat(50_000), args: {}, why: "it is" })],
    ["a name of an argument", () => shown({ ["y".repeat(50_000)]: 1 })],
    ["deep arguments", () => shown(JSON.parse("[".repeat(500) + "]".repeat(500)))],
    ["a reason", () => questionText({ server: "rec", tool: "x", args: {}, why: "y".repeat(50_000) })],
    ["characters that take two code units", () => shown({ a: "👍".repeat(20_000) })],
    ["escapes", () => shown({ a: "\u202e".repeat(20_000) })],
  ])("is bounded for %s that is long", (_, make) => {
    const text = make();
    expect(text.length).toBeLessThan(most);
    expect(text).toMatch(/[\d,]+ characters(?: in \d+ lines)? are not shown/);
    expect(text.isWellFormed()).toBe(true);
    expect(text.split("\n")[0]).toStartWith("Allow the call to rec.");
  });

  test("names the changed parts of a tool", () => {
    const asked = { server: "rec", tool: "x", args: {}, why: "of the config" };
    expect(questionText({ ...asked, changed: ["its description", "its arguments"] })).toBe(
      `Allow the call to rec.x?
You are asked because of the config.
The tool has changed since you allowed it: its description, its arguments. Your earlier approval no longer applies.
It has no arguments.`,
    );
  });
});

describe("an argument in the question", () => {
  test.each([
    [
      "line breaks",
      "a\nYou are asked because\r\n\u0085\u2028\u2029b",
      '"a\\nYou are asked because\\r\\n\\u0085\\u2028\\u2029b"',
    ],
    ["its own quotes", '", "force": false, "b": "', '"\\", \\"force\\": false, \\"b\\": \\""'],
    ["text like an escape", "\\u202e", '"\\\\u202e"'],
    ["colours and cursor movements", "\u001b[2K\u009b1A\u0007\b\u007f", '"\\u001b[2K\\u009b1A\\u0007\\b\\u007f"'],
    [
      "marks of direction",
      "\u202egnp.exe\u202c\u2066\u2069\u200e\u200f\u061c",
      '"\\u202egnp.exe\\u202c\\u2066\\u2069\\u200e\\u200f\\u061c"',
    ],
    ["characters without width", "pay\u200bpal\u200d\ufeff\u00ad\u2060", '"pay\\u200bpal\\u200d\\ufeff\\u00ad\\u2060"'],
    [
      "fillers and blanks",
      "\u3164\u115f\uffa0\u2800\u00a0\u2003\u3000",
      '"\\u3164\\u115f\\uffa0\\u2800\\u00a0\\u2003\\u3000"',
    ],
    ["tags", "\u{e0041}\ufe0f", '"\\u{e0041}\\ufe0f"'],
    ["private and unassigned characters", "\ue000\u{10ffff}", '"\\ue000\\u{10ffff}"'],
    ["halves of characters", "\ud800", '"\\ud800"'],
    ["many spaces, which push the rest away", `a${" ".repeat(5)}b`, '"a  \\u0020\\u0020\\u0020b"'],
    ["piles of marks", "a\u0301\u0302\u0303\u0304\u0305\u0306", '"a\u0301\u0302\u0303\u0304\\u0305\\u0306"'],
  ])("is escaped, so that it cannot imitate other text: %s", (_, text, expected) => expect(value(text)).toBe(expected));

  test("keeps letters of all languages, emoji and two spaces", () => {
    for (const text of ["Straße  naïve", "日本語 привет", "שלום عربي", "e\u0301", "👍🏽", "~`*_<b>"])
      expect(value(text)).toBe(JSON.stringify(text));
  });

  test("has an escaped name", () => {
    const text = shown({ 'x": 1,\n      "y\u202e': 2 });
    expect(text.split("\n").filter((line) => line.startsWith("      "))).toEqual([
      '      "x\\": 1,\\n  \\u0020\\u0020\\u0020\\u0020\\"y\\u202e": 2',
    ]);
  });

  test("can be read back if it is short enough", () => {
    const characters = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code));
    for (let at = 0; at < characters.length; at += 12) {
      const some = characters.slice(at, at + 12);
      const text = some.join("") + some.toReversed().join("  ");
      const read = value(text)!.replace(/\\\\|\\u\{([0-9a-f]+)\}/g, (found, code) =>
        code ? String.fromCodePoint(Number.parseInt(code, 16)) : found,
      );
      expect(JSON.parse(read)).toBe(text);
      expect(value(text)).toMatch(/^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u);
    }
  });
});
