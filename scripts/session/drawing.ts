/** Rows of a terminal as elements of an SVG. Where each character stands is in them, and not left to the reader's font. */
import type { Colour, Ground, Row, Run } from "./rows.ts";

/** Of one character, in pixels. Most fonts' letters are 0.6 of their size wide. */
export const letter = { width: 8.4, height: 19, size: 14, baseline: 14 };

/** Bars stand a little apart from those above and below. */
const barGap = 2.5;

/** Blocks are drawn, so that they join: from where to where in the width of a character. */
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

/** The elements of a row that stands on that line. */
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
  // A single letter has no spacing to adjust, so in a font with wider letters the letter itself is made narrower.
  const adjust = [...text].length === 1 ? ' lengthAdjust="spacingAndGlyphs"' : "";
  return `<text${names} x="${x(column)}" y="${rounded(line * letter.height + letter.baseline)}" textLength="${x(width)}"${adjust}>${escaped(text)}</text>`;
}

/** Those that touch are one bar: between two there would be a seam. */
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

/** XML has no place for most control characters, however they are written; a terminal shows none of them. */
export function escaped(text: string): string {
  const known: Record<string, string> = { "<": "&lt;", ">": "&gt;", "&": "&amp;", '"': "&quot;" };
  return text.replace(/[<>&"]/g, (each) => known[each] ?? "").replace(/[^\P{Cc}\n]|[\p{Cs}\uFFFE\uFFFF]/gu, "\uFFFD");
}
