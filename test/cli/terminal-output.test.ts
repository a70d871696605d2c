/** The function through which all output to a terminal passes. */
import { describe, expect, test } from "bun:test";
import { isVisible } from "../../src/base/visible-text.ts";
import { bold, eraseLine, red, safeOutput } from "../../src/cli/terminal/terminal-output.ts";
import { hostile, obeyed } from "../support/hostile-text.ts";

function outputs(isTerminal: boolean) {
  let text = "";
  const output = safeOutput({
    isTerminal,
    write: async (each) => {
      text += each;
    },
  });
  return async (each: string) => {
    text = "";
    await output.write(each);
    return text;
  };
}
const toTerminal = outputs(true);
const toPipe = outputs(false);

describe.each(Object.entries(hostile))("%s", (_, text) => {
  test("is shown at a terminal as escapes, alone and between our own colours", async () => {
    expect(obeyed(await toTerminal(text))).toEqual([]);
    expect(obeyed(await toTerminal(`${red(text)}${eraseLine}${bold(text)}`))).toEqual([]);
    // The same if it arrives in pieces.
    for (const each of text) expect(obeyed(await toTerminal(each))).toEqual([]);
  });

  test("is the same text after JSON.parse", async () => {
    expect(JSON.parse(await toTerminal(JSON.stringify({ text })))).toEqual({ text });
  });

  test("is unchanged in a pipe", async () => {
    expect(await toPipe(text)).toBe(text);
    expect(await toPipe(red(text))).toBe(`\u001b[31m${text}\u001b[0m`);
  });

  test("is not visible text", () => {
    expect(isVisible(text)).toBe(false);
  });
});

test("every control and format character is escaped", async () => {
  const all = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter((each) =>
    /(?![\n\t])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u.test(each),
  );
  expect(all.length).toBeGreaterThan(4_000);
  expect(obeyed(await toTerminal(all.join("a")))).toEqual([]);
});

test("text that looks like our own styling is escaped", async () => {
  for (const text of ["\u001b[31m", "\u001b[0m", "\u001b[31;1m", "\u001b[2;123456789m", "\u001b[2K", "\r\u001b[2K"]) {
    expect(await toTerminal(text)).toBe(text.replaceAll("\u001b", "\\u001b").replaceAll("\r", "\\u000d"));
  }
});

test("our own styling uses standard escape sequences", async () => {
  expect(await toTerminal(`${eraseLine}${red("x")}`)).toBe("\r\u001b[2K\u001b[31mx\u001b[0m");
});

test("letters of all languages, emoji, tabs and line breaks are kept, and \\r\\n becomes \\n", async () => {
  for (const text of ["Straße 日本語 привет שלום عربي", "می‌خواهم क्‍ष", "👩‍👩‍👧 ❤️ 👍🏽 🏳️‍🌈", "e\u0301\tone\ntwo"])
    expect(await toTerminal(text)).toBe(text);
  expect(await toTerminal("a\r\nb\r\n")).toBe("a\nb\n");
});

test("long text is written in linear time", async () => {
  const text = "日本語 \u001b[31m and ascii ".repeat(200_000);
  const startedAt = performance.now();
  await toTerminal(text);
  expect(performance.now() - startedAt).toBeLessThan(10_000);
});
