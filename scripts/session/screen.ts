/** A terminal without a window: it accepts the output of programs, and has rows. */
import { type IBufferCell, type IBufferLine, Terminal } from "@xterm/headless";
import { nearestColour } from "./palette.ts";
import { type Cell, type Colour, type Row, rowOf } from "./rows.ts";

export interface View {
  /** Every line since the beginning, including those that scrolled away, without empty lines at the end. */
  lines: Row[];
  /** The number of lines that scrolled away. */
  top: number;
}

/** More than any reasonable session. */
const scrollback = 10_000;

export class Screen {
  readonly columns: number;
  readonly rows: number;
  readonly #terminal: Terminal;

  constructor(columns: number, rows: number) {
    this.columns = columns;
    this.rows = rows;
    this.#terminal = new Terminal({ cols: columns, rows, scrollback, allowProposedApi: true });
  }

  write(text: string): Promise<void> {
    return new Promise((resolve) => this.#terminal.write(text, resolve));
  }

  /** The line of the cursor, counted from the first line. */
  get cursorLine(): number {
    const { baseY, cursorY } = this.#terminal.buffer.active;
    return baseY + cursorY;
  }

  get cursorColumn(): number {
    return this.#terminal.buffer.active.cursorX;
  }

  /** Throws if a program uses the whole screen, which has no lasting lines. */
  view(): View {
    const { active } = this.#terminal.buffer;
    if (active.type !== "normal") throw new Error("a program took the whole screen, which cannot be recorded");
    const lines: Row[] = [];
    for (let place = 0; place < active.length; place += 1) {
      const line = active.getLine(place);
      lines.push(line ? rowOf(cellsOf(line)) : { runs: [], grounds: [] });
    }
    while (lines.at(-1)?.runs.length === 0 && lines.at(-1)?.grounds.length === 0) lines.pop();
    return { lines, top: active.baseY };
  }
}

function* cellsOf(line: IBufferLine): Generator<Cell> {
  for (let column = 0; column < line.length; column += 1) {
    const cell = line.getCell(column);
    if (cell) yield cellOf(cell);
  }
}

function cellOf(cell: IBufferCell): Cell {
  const colour = cell.isFgDefault() ? "text" : colourOf(cell.isFgRGB(), cell.getFgColor());
  const ground = cell.isBgDefault() ? "ground" : colourOf(cell.isBgRGB(), cell.getBgColor());
  const isInverse = cell.isInverse() !== 0;
  return {
    text: cell.isInvisible() ? "" : cell.getChars(),
    width: cell.getWidth(),
    colour: isInverse ? ground : colour,
    ground: isInverse ? colour : ground,
    isBold: cell.isBold() !== 0,
    isDim: cell.isDim() !== 0,
  };
}

function colourOf(isRgb: boolean, value: number): Colour {
  return isRgb ? nearestColour(value >> 16, (value >> 8) & 255, value & 255) : plainColour(value);
}

/** The first 16 of 256 colours are the basic ones, followed by a cube of 6 × 6 × 6 colours and 24 greys. */
function plainColour(value: number): number {
  if (value < 16) return value;
  if (value >= 232) {
    const grey = 8 + (value - 232) * 10;
    return nearestColour(grey, grey, grey);
  }
  const steps = [0, 95, 135, 175, 215, 255];
  const at = (size: number) => steps[Math.floor((value - 16) / size) % 6] ?? 0;
  return nearestColour(at(36), at(6), at(1));
}
