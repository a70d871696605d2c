/** Lays out text for a terminal: wrapped lines, tables, bars and ages. */
import { visibleText } from "../visible-text.ts";
import type { Output } from "./io.ts";
import { cyan } from "./terminal-output.ts";

/** Replaces control characters and runs of white space with single spaces. */
function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\s]+/gu, " ").trim();
}

/** Returns the lines of a text that is wrapped between words. The lines after the first may have a different width. */
export function wrapped(text: string, width = Number.POSITIVE_INFINITY, widthOfOthers = width): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of oneLine(text).split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && Bun.stringWidth(longer) > (lines.length === 0 ? width : widthOfOthers)) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** Minimum width of a shortened column, in characters. */
const leastColumn = 8;

/**
 * Returns a table as text, one line per row, the head first. If `width` is too small, the widest columns are shortened, but never the
 * first one: it has the name or id that a person types next. `numbers` are the indexes of columns that are aligned to the right.
 */
export function table(
  head: string[],
  rows: string[][],
  width = Number.POSITIVE_INFINITY,
  numbers: number[] = [],
): string {
  const lines = [head, ...rows].map((row) => row.map(oneLine));
  const widths = head.map((_, column) => Math.max(...lines.map((row) => widthOf(row[column] ?? ""))));
  const whole = () => widths.reduce((sum, each) => sum + each, 2 * (widths.length - 1));
  while (whole() > width) {
    const widest = widths.lastIndexOf(Math.max(...widths.slice(1)));
    if (widest <= 0 || widths[widest]! <= leastColumn) break;
    widths[widest]! -= 1;
  }
  const cells = (row: string[]) => row.map((cell, at) => padded(cell, widths[at] ?? 0, numbers.includes(at)));
  return lines.map((row) => `${cells(row).join("  ").trimEnd()}\n`).join("");
}

function padded(cell: string, width: number, isNumber: boolean): string {
  let shown = cell;
  if (widthOf(shown) > width) {
    const letters = [...visibleText(cell)];
    while (Bun.stringWidth(letters.join("")) > width - 1) letters.pop();
    shown = `${letters.join("")}…`;
  }
  const space = " ".repeat(width - widthOf(shown));
  return isNumber ? space + shown : shown + space;
}

/** The width in columns of a terminal. */
function widthOf(text: string): number {
  return Bun.stringWidth(visibleText(text));
}

export interface Bar {
  name: string;
  value: number;
  /** Text after the bar. */
  text: string;
}

/** The output that text is laid out for. Without a terminal, bars use plain characters. */
export type Canvas = Pick<Output, "columns" | "isTerminal">;

/** Maximum and minimum width of a bar, in characters. */
const maxBar = 60;
const leastBar = 4;

/** Blocks that fill a character from the left by no eighths to seven. */
export const eighthBlocks = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Returns a bar chart as text, one bar per line. Values below zero have no bar. */
export function chart(bars: Bar[], { columns = 80, isTerminal }: Canvas): string {
  const longest = (pick: (bar: Bar) => string) => Math.max(0, ...bars.map((bar) => Bun.stringWidth(pick(bar))));
  const names = longest(({ name }) => name);
  const room = Math.min(maxBar, Math.max(leastBar, columns - names - longest(({ text }) => text) - 4));
  const most = Math.max(0, ...bars.map(({ value }) => value));
  const lines = bars.map(({ name, value, text }) => {
    const length = most > 0 ? (Math.max(0, value) / most) * room : 0;
    const bar = isTerminal ? smoothBar(length) : "#".repeat(value > 0 ? Math.max(1, Math.round(length)) : 0);
    return `${name.padEnd(names)}  ${bar === "" ? "" : `${cyan(bar)} `}${text}`.trimEnd();
  });
  return lines.map((line) => `${line}\n`).join("");
}

/** A value above zero has at least one eighth of a character. */
function smoothBar(length: number): string {
  const eighths = length > 0 ? Math.max(1, Math.round(length * 8)) : 0;
  return "█".repeat(Math.floor(eighths / 8)) + eighthBlocks[eighths % 8];
}

/** How long ago: `just now`, `5 min ago`, `3 h ago`, `12 days ago`. */
export function ageText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ago`;
  return `${Math.floor(minutes / 1_440)} days ago`;
}
