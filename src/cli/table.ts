/** A table as text, no wider than the terminal. */
import { visibleText } from "../visible-text.ts";
import { oneLine } from "./word-wrap.ts";

/** Minimum width of a shortened column, in characters. */
const leastWidth = 8;

/**
 * One line per row, the head first. If `width` is too small, the widest columns are shortened, but never the first one: it has the
 * name or id that a person types next. `numbers` are the indexes of columns that are aligned to the right.
 */
export function table(
  head: string[],
  rows: string[][],
  width = Number.POSITIVE_INFINITY,
  numbers: number[] = [],
): string {
  const lines = [head, ...rows].map((row) => row.map((cell) => oneLine(cell)));
  const widths = head.map((_, column) => Math.max(...lines.map((row) => widthOf(row[column] ?? ""))));
  const whole = () => widths.reduce((sum, each) => sum + each, 2 * (widths.length - 1));
  while (whole() > width) {
    const widest = widths.lastIndexOf(Math.max(...widths.slice(1)));
    if (widest <= 0 || (widths[widest] ?? 0) <= leastWidth) break;
    widths[widest] = (widths[widest] ?? 0) - 1;
  }
  const text = (row: string[]) =>
    row
      .map((cell, column) => padded(cell, widths[column] ?? 0, numbers.includes(column)))
      .join("  ")
      .trimEnd();
  return `${lines.map(text).join("\n")}\n`;
}

function padded(cell: string, width: number, right: boolean): string {
  let shown = cell;
  if (widthOf(shown) > width) {
    const letters = [...visibleText(cell)];
    while (Bun.stringWidth(letters.join("")) > width - 1) letters.pop();
    shown = `${letters.join("")}…`;
  }
  const space = " ".repeat(width - widthOf(shown));
  return right ? space + shown : shown + space;
}

/** The width in columns of a terminal. */
function widthOf(text: string): number {
  return Bun.stringWidth(visibleText(text));
}
