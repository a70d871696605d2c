/** A line of a terminal as runs of characters with equal style, whose positions do not depend on a font. */

/** The number of one of 16 colours, or the colour of plain text or the ground. */
export type Colour = number | "text" | "ground";

export interface Style {
  colour: Colour;
  ground: Colour;
  isBold: boolean;
  isDim: boolean;
}

export interface Cell extends Style {
  /** Empty for cells that were never written. */
  text: string;
  /** In columns: 2 for wide characters of East Asia, and 0 for the column that they cover. */
  width: number;
}

export interface Run {
  column: number;
  /** In columns. */
  width: number;
  text: string;
  colour: Colour;
  isBold: boolean;
  isDim: boolean;
}

/** Columns with a background colour. */
export interface Ground {
  column: number;
  width: number;
  colour: Colour;
}

export interface Row {
  runs: Run[];
  grounds: Ground[];
}

/**
 * Splits a line into runs. Single spaces stay in a run, and wider gaps end it. Characters outside ASCII have their own
 * runs, because another font with other widths may draw them.
 */
export function rowOf(cells: Iterable<Cell>): Row {
  const row: Row = { runs: [], grounds: [] };
  let column = 0;
  for (const cell of cells) {
    if (cell.width > 0 && cell.ground !== "ground") addGround(row.grounds, cell, column);
    if (cell.text.trim() !== "") addText(row.runs, cell, column);
    column += cell.width;
  }
  return row;
}

function addGround(grounds: Ground[], { ground, width }: Cell, column: number): void {
  const last = grounds.at(-1);
  if (last && last.colour === ground && last.column + last.width === column) last.width += width;
  else grounds.push({ column, width, colour: ground });
}

function addText(runs: Run[], { text, width, colour, isBold, isDim }: Cell, column: number): void {
  const last = runs.at(-1);
  const gap = last ? column - last.column - last.width : 0;
  const looksAlike = last?.colour === colour && last.isBold === isBold && last.isDim === isDim;
  if (last && looksAlike && belongs(last, text, gap)) {
    last.text += " ".repeat(gap) + text;
    last.width += gap + width;
  } else runs.push({ column, width, text, colour, isBold, isDim });
}

const isAscii = (text: string) => /^[ -~]*$/.test(text);

/** Blocks that reach from one side of a character to the other, or part of the way. */
const isBar = (text: string) => /^[▉-▏█▐]+$/.test(text);

function belongs(run: Run, text: string, gap: number): boolean {
  if (isAscii(text)) return gap <= 1 && isAscii(run.text);
  if (isBar(text)) return gap === 0 && isBar(run.text);
  return gap === 0 && run.text === text.repeat(run.text.length / text.length);
}

/** The line as text with spaces. */
export function textOf({ runs }: Row): string {
  let [line, end] = ["", 0];
  for (const { column, width, text } of runs) {
    line += " ".repeat(column - end) + text;
    end = column + width;
  }
  return line;
}
