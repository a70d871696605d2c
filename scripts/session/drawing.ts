/** Rows of a terminal as SVG elements. The position of each character is explicit, and does not depend on the reader's font. */
import type { Colour, Ground, Row, Run } from "./rows.ts";

/** The size of one character in pixels. The letters of most fonts are 0.6 of their size wide. */
export const letter = { width: 8.4, height: 19, size: 14, baseline: 14 };

/** Bars leave a small gap to those above and below. */
const barGap = 2.5;

/** Blocks are drawn as rectangles, so that they join: their start and end as shares of a character's width. */
const blocks: Record<string, [number, number]> = {
  "█": [0, 1],
  "▉": [0, 7 / 8],
  "▊": [0, 6 / 8],
  "▋": [0, 5 / 8],
  "▌": [0, 4 / 8],
  "▍": [0, 3 / 8],
  "▎": [0, 2 / 8],
  "▏": [0, 1 / 8],
  "▐": [1 / 2, 1],
  "░": [0, 1],
};

/** The elements of a row at this line. */
export function drawRow(row: Row, line: number): string {
  return (
    row.grounds.map((ground) => drawGround(ground, line)).join("") + row.runs.map((run) => draw(run, line)).join("")
  );
}

const x = (column: number) => rounded(column * letter.width);
const y = (line: number) => rounded(line * letter.height);

function drawGround({ column, width, colour }: Ground, line: number): string {
  return `<rect${classes(colour)} x="${x(column)}" y="${y(line)}" width="${x(width)}" height="${letter.height}"/>`;
}

function draw(run: Run, line: number): string {
  return run.text[0] !== undefined && Object.hasOwn(blocks, run.text[0]) ? drawBlocks(run, line) : drawText(run, line);
}

function drawText({ text, column, width, colour, isBold, isDim }: Run, line: number): string {
  const names = classes(colour, isBold && "b", isDim && "d");
  // A single letter has no spacing to adjust, so a font with wider letters makes the letter itself narrower.
  const adjust = [...text].length === 1 ? ' lengthAdjust="spacingAndGlyphs"' : "";
  return `<text${names} x="${x(column)}" y="${rounded(line * letter.height + letter.baseline)}" textLength="${x(width)}"${adjust}>${escaped(text)}</text>`;
}

/** Adjacent blocks are one bar: a gap between two would show. */
function drawBlocks({ text, column, colour, isDim }: Run, line: number): string {
  const names = classes(colour, (isDim || text.startsWith("░")) && "f");
  const bars: { start: number; end: number }[] = [];
  for (const [place, block] of [...text].entries()) {
    const [from, to] = blocks[block] ?? [0, 1];
    const last = bars.at(-1);
    if (last?.end === column + place + from) last.end = column + place + to;
    else bars.push({ start: column + place + from, end: column + place + to });
  }
  return bars
    .map(({ start, end }) => {
      const size = `width="${x(end - start)}" height="${letter.height - 2 * barGap}"`;
      return `<rect${names} x="${x(start)}" y="${rounded(line * letter.height + barGap)}" ${size}/>`;
    })
    .join("");
}

function classes(colour: Colour, ...more: (string | false)[]): string {
  const names = [colour === "text" ? false : colour === "ground" ? "g" : `c${colour}`, ...more].filter(Boolean);
  return names.length === 0 ? "" : ` class="${names.join(" ")}"`;
}

export function rounded(value: number): number {
  return Math.round(value * 100) / 100;
}

/** XML does not allow most control characters, not even escaped; a terminal shows none of them. */
export function escaped(text: string): string {
  const known: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };
  return text.replace(/[<>&"]/g, (each) => known[each] ?? "").replace(/[^\P{Cc}\n]|[\p{Cs}\uFFFE\uFFFF]/gu, "\uFFFD");
}
