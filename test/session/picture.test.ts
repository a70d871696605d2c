/** From the cells of a terminal to texts with places and styles. */
import { expect, test } from "bun:test";
import { Terminal } from "@xterm/headless";
import { type Line, lineOf, svgOf, textOf } from "../../scripts/session/picture.ts";

/** The first line of a terminal with this output. */
async function drawn(output: string): Promise<Line> {
  const terminal = new Terminal({ cols: 40, rows: 2, allowProposedApi: true });
  await new Promise<void>((resolve) => terminal.write(output, resolve));
  return lineOf(terminal.buffer.active.getLine(0)!);
}

const [red, bold, dim, plain] = ["\u001b[31m", "\u001b[1m", "\u001b[2m", "\u001b[0m"];

test("a line has one text for each run of equal style, with its column and width", async () => {
  const line = await drawn(`a b   ${red}c${bold}d${plain} ${dim}e f${plain}`);
  expect(line).toEqual([
    { column: 0, width: 3, text: "a b", style: "" },
    { column: 6, width: 1, text: "c", style: "c1" },
    { column: 7, width: 1, text: "d", style: "c1 b" },
    { column: 9, width: 3, text: "e f", style: "d" },
  ]);
  expect(textOf(line)).toBe("a b   cd e f");
});

test("wide letters have two columns, and letters that another font may draw have their own text", async () => {
  const line = await drawn("né 漢字 a·b ──x");
  expect(line.map(({ text, column, width }) => [text, column, width])).toEqual([
    ["n", 0, 1],
    ["é", 1, 1],
    ["漢", 3, 2],
    ["字", 5, 2],
    ["a", 8, 1],
    ["·", 9, 1],
    ["b", 10, 1],
    ["──", 12, 2],
    ["x", 14, 1],
  ]);
  expect(textOf(line)).toBe("né 漢字 a·b ──x");
});

test("markup is escaped in the text and in the description", async () => {
  const svg = svgOf([await drawn("<&]]>&lt;")]);
  expect(svg.match(/&lt;&amp;\]\]&gt;&amp;lt;/g)).toHaveLength(2);
});

test.each(["\u001b[38;2;1;2;3m", "\u001b[44m", "\u001b[7m", "\u001b[35m"])("the style %j is refused", async (style) => {
  await expect(drawn(`${style}x`)).rejects.toThrow('the picture has no style for "x"');
});
