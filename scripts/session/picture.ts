/** Lines of a terminal as one SVG without other files, in a light and a dark scheme. */
import { homedir, hostname, tmpdir, userInfo } from "node:os";
import { resolve } from "node:path";
import type { IBufferCell, IBufferLine } from "@xterm/headless";
import { columns } from "./steps.ts";

/** Characters of one style at a place that does not depend on the reader's font. */
export interface Run {
  column: number;
  /** In columns. */
  width: number;
  text: string;
  /** Names of classes. */
  style: string;
}

export type Line = Run[];

/** The size of one character in pixels. The letters of most fonts are 0.6 of their size wide. */
const letter = { width: 7.8, height: 17, size: 13, baseline: 13 };
const padding = 16;

/** The colours that the output has, by their numbers: in the light and in the dark scheme. */
const colours: Record<number, readonly [string, string]> = {
  1: ["#c0212d", "#ff7b72"],
  2: ["#116329", "#56d364"],
  3: ["#7d4e00", "#e3b341"],
  6: ["#0b6a78", "#56d4dd"],
};

const others = { text: ["#1f2328", "#e6edf3"], ground: ["#ffffff", "#0d1117"], edge: ["#d1d9e0", "#30363d"] };

/** Throws if the line has a colour or a form that the picture does not have. */
export function lineOf(line: IBufferLine): Line {
  const runs: Run[] = [];
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    const text = cell?.getChars() ?? "";
    if (!cell || text.trim() === "") continue;
    const [style, width, last] = [styleOf(cell), cell.getWidth(), runs.at(-1)];
    const gap = last ? column - last.column - last.width : 0;
    if (last?.style === style && belongs(last.text, text, gap)) {
      last.text += " ".repeat(gap) + text;
      last.width += gap + width;
    } else runs.push({ column, width, text, style });
  }
  return runs;
}

const isAscii = (text: string) => /^[ -~]*$/.test(text);

/** Another font with other widths may draw what is not ASCII, so that only equal characters share a run. A wide gap ends a run. */
function belongs(run: string, text: string, gap: number): boolean {
  return isAscii(run) ? gap <= 1 && isAscii(text) : gap === 0 && run === text.repeat(run.length / text.length);
}

function styleOf(cell: IBufferCell): string {
  const colour = cell.isFgDefault() ? undefined : cell.getFgColor();
  if (!cell.isBgDefault() || cell.isInverse() || cell.isFgRGB() || (colour !== undefined && !colours[colour])) {
    throw new Error(`the picture has no style for "${cell.getChars()}": add it to picture.ts`);
  }
  return [colour !== undefined && `c${colour}`, cell.isBold() && "b", cell.isDim() && "d"].filter(Boolean).join(" ");
}

export function textOf(line: Line): string {
  return line.reduce((text, run) => text + " ".repeat(run.column - Bun.stringWidth(text)) + run.text, "");
}

/** The description for screen readers has the whole text. */
export function svgOf(lines: readonly Line[]): string {
  const width = Math.ceil(columns * letter.width) + 2 * padding;
  const height = lines.length * letter.height + 2 * padding;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-labelledby="title description">`,
    `<title id="title">claudikins in a terminal</title>`,
    `<desc id="description">${lines.map((line) => `${escaped(textOf(line))}\n`).join("")}</desc>`,
    `<style>\n${styles()}\n</style>`,
    `<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="10"/>`,
    ...lines.flatMap((line, place) => line.map((run) => drawn(run, place))),
    "</svg>\n",
  ].join("\n");
}

/** The length makes each font as wide as its columns: by the space between letters, or by the letters if they are alone or have to join. */
function drawn({ column, width, text, style }: Run, place: number): string {
  const x = rounded(padding + column * letter.width);
  const y = padding + place * letter.height + letter.baseline;
  const adjust = width === 1 || !isAscii(text) ? ' lengthAdjust="spacingAndGlyphs"' : "";
  const names = style === "" ? "" : ` class="${style}"`;
  return `<text${names} x="${x}" y="${y}" textLength="${rounded(width * letter.width)}"${adjust}>${escaped(text)}</text>`;
}

function styles(): string {
  const all = { ...others, ...Object.fromEntries(Object.entries(colours).map(([name, pair]) => [`c${name}`, pair])) };
  const scheme = (at: 0 | 1) =>
    `svg{${Object.entries(all)
      .map(([name, pair]) => `--${name}:${pair[at]}`)
      .join(";")}}`;
  return [
    scheme(0),
    `@media (prefers-color-scheme:dark){${scheme(1)}}`,
    `text{font:${letter.size}px ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"Liberation Mono","DejaVu Sans Mono",monospace;fill:var(--text)}`,
    "rect{fill:var(--ground);stroke:var(--edge)}.b{font-weight:600}.d{fill-opacity:.72}",
    ...Object.keys(colours).map((name) => `.c${name}{fill:var(--c${name})}`),
  ].join("\n");
}

const rounded = (value: number) => Math.round(value * 100) / 100;

/** XML does not allow control characters, not even escaped. A terminal has no others in its cells. */
function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** What a picture shows of the person and the machine that made it. The picture is public. */
export function privateFacts(svg: string): string[] {
  const paths = {
    "the folder of this repository": resolve(import.meta.dir, "..", ".."),
    "a home folder": homedir(),
    "a temporary folder": tmpdir(),
  };
  const [machine, user] = [hostname(), userInfo().username].map((name) => RegExp.escape(name || "nobody"));
  const names = {
    "the name of this machine": new RegExp(`(?<![\\w-])${machine}(?![\\w-])`, "i"),
    // On its own it may be an ordinary word.
    "a user's name": new RegExp(`[/\\\\~]${user}(?!\\w)|(?<!\\w)${user}@`),
  };
  return [
    ...Object.entries(paths).filter(([, path]) => path.length > 1 && svg.includes(path)),
    ...Object.entries(names).filter(([, name]) => name.test(svg)),
  ].map(([what]) => what);
}
