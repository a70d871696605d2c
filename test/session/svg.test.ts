/** From the output of a program to an SVG: positions, styles and times. */
import { describe, expect, test } from "bun:test";
import { letter } from "../../scripts/session/drawing.ts";
import { longestWaitMs, Recorder, withShortName } from "../../scripts/session/recording.ts";
import { textOf } from "../../scripts/session/rows.ts";
import { Screen } from "../../scripts/session/screen.ts";
import { svgOf } from "../../scripts/session/svg.ts";
import { wordsFor } from "../../scripts/session/words.ts";
import { keyframesOf, lastLines, scrolled } from "./svg-screen.ts";
import { type Element, elementsOf, parseXml } from "./xml.ts";

const words = { title: "t", description: "d", caption: "c" };
const [red, bold, dim, plain] = ["\u001b[31m", "\u001b[1m", "\u001b[2m", "\u001b[0m"];

/** Texts that are written 100 ms apart. */
async function svgOfTexts(texts: string[], { columns = 20, rows = 3 } = {}): Promise<Element> {
  const recorder = new Recorder(new Screen(columns, rows));
  await recorder.play(
    texts.map((text, place) => ({ atMs: (place + 1) * 100, text })),
    (texts.length + 1) * 100,
  );
  return parseXml(svgOf(recorder.end(), words));
}

interface Drawn {
  name: string;
  text?: string;
  class?: string;
  x?: string;
  y?: string;
  width?: string;
  textLength?: string;
  lengthAdjust?: string;
}

/** Without the parts of the window. */
function drawn(svg: Element): Drawn[] {
  const elements = scrolled(svg).children.flatMap((layer) => layer.children);
  return elements.map(({ name, text, attributes }) => ({ name, ...(text === "" ? {} : { text }), ...attributes }));
}

const at = (column: number) => String(Math.round(column * letter.width * 100) / 100);

describe("a row", () => {
  test("has one text for each run of equal style, with its column and width", async () => {
    const svg = await svgOfTexts([`a b   ${red}c${bold}d${plain} ${dim}e f${plain}`]);
    const y = String(letter.baseline);
    const lengthAdjust = "spacingAndGlyphs";
    expect(drawn(svg)).toEqual([
      { name: "text", x: at(0), y, textLength: at(3), text: "a b" },
      { name: "text", class: "c1", x: at(6), y, textLength: at(1), lengthAdjust, text: "c" },
      { name: "text", class: "c1 b", x: at(7), y, textLength: at(1), lengthAdjust, text: "d" },
      { name: "text", class: "d", x: at(9), y, textLength: at(3), text: "e f" },
    ]);
  });

  test("escapes markup, and replaces characters that XML does not allow", async () => {
    const svg = await svgOfTexts([`<&"'>]]>&lt;\u0007\uFFFE\uD800x`], { columns: 40 });
    expect(lastLines(svg)).toEqual([`<&"'>]]>&lt;\uFFFD\uFFFDx`]);
    const { title, desc } = { title: '<script>&"', desc: "a\u0000\u001b[1mb\nc" };
    const recorder = new Recorder(new Screen(10, 1));
    await recorder.prompt();
    recorder.pause(1);
    const root = parseXml(svgOf(recorder.end(), { title, description: desc, caption: "]]>" }));
    expect(elementsOf(root, "title")[0]?.text).toBe(title);
    expect(elementsOf(root, "desc")[0]?.text).toBe("a\uFFFD\uFFFD[1mb\nc");
    expect(elementsOf(root, "script")).toEqual([]);
  });

  test("gives wide letters two columns, and letters of other fonts their own text", async () => {
    const svg = await svgOfTexts(["né 漢字 a·b ──x"]);
    expect(drawn(svg).map(({ text, x, textLength }) => [text, x, textLength])).toEqual([
      ["n", at(0), at(1)],
      ["é", at(1), at(1)],
      ["漢", at(3), at(2)],
      ["字", at(5), at(2)],
      ["a", at(8), at(1)],
      ["·", at(9), at(1)],
      ["b", at(10), at(1)],
      ["──", at(12), at(2)],
      ["x", at(14), at(1)],
    ]);
    expect(lastLines(svg)).toEqual(["né 漢字 a·b ──x"]);
  });

  test("draws adjacent bars as one rectangle, with a precision of an eighth of a letter", async () => {
    const svg = await svgOfTexts([`${red}▐██▌${plain} ██░░ ▏`]);
    expect(drawn(svg).map(({ name, class: style, x, width }) => [name, style, x, width])).toEqual([
      ["rect", "c1", at(0.5), at(3)],
      ["rect", undefined, at(5), at(2)],
      ["rect", "f", at(7), at(2)],
      ["rect", undefined, at(10), at(1 / 8)],
    ]);
  });

  test("uses the nearest of 16 colours, and swaps colours for inverse text", async () => {
    const svg = await svgOfTexts([
      "\u001b[91ma\u001b[38;5;46mb\u001b[38;2;1;2;3mc\u001b[38;5;244md\u001b[0;7me\u001b[0;44m f\u001b[0m",
    ]);
    expect(drawn(svg).map(({ name, text, class: style }) => [name, text, style])).toEqual([
      ["rect", undefined, undefined],
      ["rect", undefined, "c4"],
      ["text", "a", "c9"],
      ["text", "b", "c10"],
      ["text", "c", "c0"],
      ["text", "d", "c8"],
      ["text", "e", "g"],
      ["text", "f", undefined],
    ]);
    const style = elementsOf(svg, "style")[0]?.text ?? "";
    // Each in light and in dark, and no others.
    for (const colour of [0, 4, 8, 9, 10]) expect(style.split(`--c${colour}:#`)).toHaveLength(3);
    expect(style).not.toContain("--c1:");
  });
});

describe("over time", () => {
  test("an unchanged line appears once, and a replaced line disappears when its replacement appears", async () => {
    const svg = await svgOfTexts(["first\r\n", "50 %", "\r\u001b[2Kdone", "\r\nlast"]);
    expect(drawn(svg).map(({ text }) => text)).toEqual(["first", "50 %", "done", "last"]);
    expect([...keyframesOf(svg).values()]).toEqual([
      "0%{visibility:hidden}20%{visibility:visible}",
      "0%{visibility:hidden}40%{visibility:visible}60%{visibility:hidden}",
      "0%{visibility:hidden}60%{visibility:visible}",
      "0%{visibility:hidden}80%{visibility:visible}",
    ]);
    // Without animation, everything except replaced lines.
    expect(lastLines(svg)).toEqual(["first", "done", "last"]);
  });

  test("a full screen scrolls, and ends at the last screen", async () => {
    const svg = await svgOfTexts(["1\r\n2\r\n", "3", "\r\n4\r\n5", "\r\n6"]);
    expect(lastLines(svg)).toEqual(["1", "2", "3", "4", "5", "6"]);
    const up = (lines: number) => `transform:translateY(${-lines * letter.height}px)`;
    expect(keyframesOf(svg).get("scroll")).toBe(`0%{${up(0).replace("-0", "0")}}60%{${up(2)}}80%{${up(3)}}`);
    expect(elementsOf(svg, "style")[0]?.text).toContain(`\n.scroll{${up(3)}}\n`);
  });

  test("a line wraps at the width of the terminal", async () => {
    expect(lastLines(await svgOfTexts(["abcdefgh"], { columns: 5 }))).toEqual(["abcde", "fgh"]);
  });

  test("typed text appears letter by letter behind a cursor", async () => {
    const recorder = new Recorder(new Screen(20, 5));
    await recorder.prompt();
    recorder.pause(100);
    await recorder.type("echo '\nab'", 10);
    await recorder.play([{ atMs: 30, text: "\r\nab\r\n" }], 40);
    await recorder.prompt();
    recorder.pause(730);
    const svg = parseXml(svgOf(recorder.end(), words));
    expect(lastLines(svg)).toEqual(["$ echo '", "> ab'", "", "ab", "$"]);
    // 100 ms, six letters, three letters, Enter; then the program; a second in total.
    const typed = [...keyframesOf(svg)].filter(([name]) => name.startsWith("t")).map(([, frames]) => frames);
    const move = (columns: number) => `transform:translateX(${at(columns)}px)`;
    expect(typed).toEqual([
      `0%{visibility:hidden}10%{visibility:visible;${move(0)};animation-timing-function:steps(6)}16%{visibility:hidden;${move(6)}}`,
      `0%{visibility:hidden}16%{visibility:visible;${move(0)};animation-timing-function:steps(3)}19%{visibility:hidden;${move(3)}}`,
    ]);
    const [first] = scrolled(svg).children.filter(({ attributes }) => attributes["class"]?.startsWith("t"));
    expect(first?.children.map(({ attributes }) => [attributes["x"], attributes["width"]])).toEqual([
      [at(2), at(18)],
      [at(2), at(1)],
    ]);
  });

  test("a line that is too long to type is refused", async () => {
    const recorder = new Recorder(new Screen(10, 5));
    await recorder.prompt();
    await recorder.type("12345678".slice(1), 10);
    await recorder.prompt();
    await expect(recorder.type("12345678", 10)).rejects.toThrow("too long to be typed: 12345678");
  });

  test("a long wait is shortened, and the caption says so", async () => {
    const captions: string[] = [];
    for (const waits of [[10, 20], [5_000], [2_000, 4_000]]) {
      const recorder = new Recorder(new Screen(20, 5));
      await recorder.play(
        waits.map((atMs) => ({ atMs, text: "x" })),
        waits.at(-1) ?? 0,
      );
      const recording = recorder.end();
      expect(recording.durationMs).toBe(waits[0] === 10 ? 20 : waits.length * longestWaitMs);
      captions.push(/; ([^.;]*)\. ~/.exec(wordsFor(recording).caption)?.[1] ?? "");
    }
    expect(captions).toEqual(["waits are real", "one wait is shortened to 1 s", "2 waits are shortened to 1 s"]);
  });

  test("a program that uses the whole screen is refused", async () => {
    const screen = new Screen(20, 5);
    await screen.write("\u001b[?1049hhello");
    expect(() => screen.view()).toThrow("took the whole screen");
    await screen.write("\u001b[?1049lhello");
    expect(screen.view().lines.map(textOf)).toEqual(["hello"]);
  });
});

test("withShortName replaces a folder's path, even if it is split into parts", () => {
  const texts = ["at /tm", "p/a1", "/x, /tmp/a", "2 /tmp/a1", "/tm"];
  const written = texts.map((text, atMs) => ({ atMs, text }));
  const short = withShortName(written, "/tmp/a1", "~");
  expect(short.map(({ text }) => text).join("")).toBe("at ~/x, /tmp/a2 ~/tm");
  expect(short.map(({ atMs }) => atMs)).toEqual([0, 1, 2, 3, 4]);
});
