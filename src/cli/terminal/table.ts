/** Lays out a table for the width of a terminal, so that what a person reads first and types next is never cut. */
import { oneLine, visibleText } from "../../base/visible-text.ts";

/** Width to which a text is shortened before its column moves below the row. */
const minColumnChars = 12;

/** Width up to which the cells of a column are filled with spaces in a pipe, where columns have any width. */
const maxPipedChars = 40;

/**
 * A column by its title. Only `text` and `path` may be shortened: a text at its end, a path at its beginning. Numbers are aligned to the
 * right. Put what matters most first: if the terminal is too narrow, the last columns move to a line of their own below each row.
 */
export type Column = string | { text: string } | { path: string } | { number: string };

export interface StyledCell {
  text: string;
  style: (text: string) => string;
}

export type Cell = string | StyledCell;

/** A column of rows of one kind: its title and its cells. */
export type RowField<Row> = readonly [column: Column, cell: (row: Row) => Cell];

interface Laid {
  title: string;
  kind: "kept" | "text" | "path" | "number";
  cells: { text: string; style?: StyledCell["style"] }[];
  width: number;
  /** Spaces fill the cells up to here. */
  padsTo: number;
}

const gap = 2;

const indent = " ".repeat(4);

/** Between the cells of a line below the row. */
const separator = " · ";

/** Returns the table, the head first. Without a width nothing is shortened, and long cells do not widen the others. */
export function table(columns: readonly Column[], rows: readonly Cell[][], width = Number.POSITIVE_INFINITY): string {
  let beside = columns.map((column, at) => laid(column, rows, at));
  if (widthOf(beside, natural) > width) beside = beside.filter((column, at) => at === 0 || !isEmpty(column));
  const below: Laid[] = [];
  while (beside.length > 1 && widthOf(beside, least) > width) below.unshift(beside.pop()!);
  shorten(beside, width);
  for (const column of beside)
    column.padsTo = Math.min(
      column.width,
      width === Number.POSITIVE_INFINITY && column.kind !== "number" ? maxPipedChars : column.width,
    );
  const lines = [beside.map((column) => padded(column.title, column))];
  const under: string[] = [""];
  for (const at of rows.keys()) {
    lines.push(beside.map((column) => styledCell(column, at)));
    under.push(lineBelow(below, at, width));
  }
  return lines.map((cells, at) => `${cells.join(" ".repeat(gap)).trimEnd()}\n${under[at]}`).join("");
}

/** Returns the table of things of one kind. Fields that are undefined are left out. */
export function tableOf<Row>(
  rows: readonly Row[],
  width: number | undefined,
  fields: readonly (RowField<Row> | undefined)[],
): string {
  const shown = fields.filter((field) => field !== undefined);
  return table(
    shown.map(([column]) => column),
    rows.map((row) => shown.map(([, cell]) => cell(row))),
    width,
  );
}

function laid(column: Column, rows: readonly Cell[][], at: number): Laid {
  const [kind, title] = typeof column === "string" ? ["kept" as const, column] : namedColumn(column);
  const cells = rows.map((row) => {
    const cell = row[at] ?? "";
    return typeof cell === "string" ? { text: oneLine(cell) } : { ...cell, text: oneLine(cell.text) };
  });
  const width = Math.max(...[title, ...cells.map(({ text }) => text)].map(columnsOf));
  return { kind, title, cells, width, padsTo: width };
}

function namedColumn(column: Exclude<Column, string>): [Laid["kind"], string] {
  if ("text" in column) return ["text", column.text];
  return "path" in column ? ["path", column.path] : ["number", column.number];
}

const isEmpty = ({ cells }: Laid) => cells.every(({ text }) => text === "" || text === "-");

const canShrink = ({ kind }: Laid, at: number) => at > 0 && (kind === "text" || kind === "path");

const natural = ({ width }: Laid) => width;
const least = (column: Laid, at: number) =>
  canShrink(column, at) ? Math.min(column.width, minColumnChars) : column.width;

function widthOf(columns: readonly Laid[], measure: (column: Laid, at: number) => number): number {
  return columns.reduce((sum, column, at) => sum + measure(column, at), gap * (columns.length - 1));
}

/** Takes width from the widest texts, until the row fits. */
function shorten(columns: readonly Laid[], width: number): void {
  const texts = columns.filter((column, at) => canShrink(column, at) && column.width > minColumnChars);
  while (widthOf(columns, natural) > width) {
    const widest = texts.reduce<Laid | undefined>(
      (most, each) => (most && most.width > each.width ? most : each),
      undefined,
    );
    if (widest === undefined || widest.width <= minColumnChars) return;
    widest.width -= 1;
  }
}

function styledCell(column: Laid, at: number): string {
  const { text, style = (whole: string) => whole } = column.cells[at] ?? { text: "" };
  const whole = padded(text, column);
  // The spaces stay outside of the style, so that they can be trimmed.
  const shown = whole.trim();
  return shown === "" ? whole : whole.replace(shown, () => style(shown));
}

function padded(text: string, { kind, width, padsTo }: Laid): string {
  const shown = fitted(text, width, kind === "path");
  const space = " ".repeat(Math.max(0, padsTo - columnsOf(shown)));
  return kind === "number" ? space + shown : shown + space;
}

/** Shortens a text that is too wide, at its beginning or at its end. */
function fitted(text: string, width: number, keepsEnd: boolean): string {
  if (columnsOf(text) <= width) return text;
  const letters = [...visibleText(text)];
  while (letters.length > 0 && Bun.stringWidth(letters.join("")) > width - 1) {
    if (keepsEnd) letters.shift();
    else letters.pop();
  }
  return keepsEnd ? `…${letters.join("")}` : `${letters.join("")}…`;
}

/** The cells that have no room in the row: what may be shortened comes last. */
function lineBelow(columns: readonly Laid[], at: number, width: number): string {
  const shown = columns.filter(({ cells }) => !["", "-"].includes(cells[at]?.text ?? ""));
  const isText = ({ kind }: Laid) => kind === "text" || kind === "path";
  const parts = [...shown.filter((column) => !isText(column)), ...shown.filter(isText)];
  const lines: string[] = [];
  /** The width of the last line. */
  let used = width;
  for (const column of parts) {
    const { text, style = (whole: string) => whole } = column.cells[at] ?? { text: "" };
    const label = `${column.title}: `;
    const fresh = width - columnsOf(indent + label);
    const shown = isText(column) ? fitted(text, Math.max(minColumnChars, fresh), column.kind === "path") : text;
    const part = columnsOf(label) + columnsOf(shown);
    const isBeside = used + separator.length + part <= width;
    if (isBeside) lines.push(`${lines.pop()}${separator}${label}${style(shown)}`);
    else lines.push(`${indent}${label}${style(shown)}`);
    used = (isBeside ? used + separator.length : indent.length) + part;
  }
  return lines.map((line) => `${line}\n`).join("");
}

/** The width in columns of a terminal. Our own styles have none. */
function columnsOf(text: string): number {
  return Bun.stringWidth(visibleText(text));
}
