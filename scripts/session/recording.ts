/** A recorded session: the screen over time, the typed lines, and the duration. */
import type { Screen, View } from "./screen.ts";

export interface Frame extends View {
  atMs: number;
}

/** A line that appears letter by letter. */
export interface Typed {
  /** Counted from the first line. */
  line: number;
  fromColumn: number;
  toColumn: number;
  fromMs: number;
  toMs: number;
}

export interface Recording {
  columns: number;
  rows: number;
  frames: Frame[];
  typed: Typed[];
  /** Including the pause at the end. */
  durationMs: number;
  /** The number of waits that were shortened. */
  shortened: number;
}

/** A piece of a program's output, and the time since its start. */
export interface Written {
  atMs: number;
  text: string;
}

/** Longer waits are shortened to this time. */
export const longestWaitMs = 1_000;

/** Output within this time appears together. */
const togetherMs = 25;

const [prompt, morePrompt] = ["$ ", "> "];
const [green, bold, plain] = ["\u001b[32m", "\u001b[1m", "\u001b[0m"];

export class Recorder {
  readonly #screen: Screen;
  readonly #frames: Frame[] = [];
  readonly #typed: Typed[] = [];
  #nowMs = 0;
  #shortened = 0;

  constructor(screen: Screen) {
    this.#screen = screen;
  }

  /** A shell waits for a command. */
  async prompt(): Promise<void> {
    await this.#show(`${green}${prompt}${plain}`);
  }

  /** A person types the command after the prompt, and the shell prompts for further lines. */
  async type(command: string, letterMs: number): Promise<void> {
    for (const [place, line] of command.split("\n").entries()) {
      if (place > 0) await this.#show(`\r\n${green}${morePrompt}${plain}`);
      const { cursorLine, cursorColumn } = this.#screen;
      const length = Bun.stringWidth(line);
      if (cursorColumn + length >= this.#screen.columns) throw new Error(`a line is too long to be typed: ${line}`);
      await this.#show(`${place === 0 ? bold : ""}${line}${plain}`);
      const fromMs = this.#nowMs;
      this.#nowMs += length * letterMs;
      if (length === 0) continue;
      const columns = { fromColumn: cursorColumn, toColumn: cursorColumn + length };
      this.#typed.push({ line: cursorLine, ...columns, fromMs, toMs: this.#nowMs });
    }
    this.pause(letterMs * 4);
    await this.#show("\r\n");
  }

  /** The output of the program, until its end. */
  async play(written: readonly Written[], endMs: number): Promise<void> {
    let lastMs = 0;
    for (const { atMs, text } of joined(written)) {
      this.#wait(atMs - lastMs);
      await this.#show(text);
      lastMs = atMs;
    }
    this.#wait(endMs - lastMs);
  }

  /** A pause for reading. */
  pause(ms: number): void {
    this.#nowMs += ms;
  }

  end(): Recording {
    const { columns, rows } = this.#screen;
    const [frames, typed] = [this.#frames, this.#typed];
    return { columns, rows, frames, typed, durationMs: this.#nowMs, shortened: this.#shortened };
  }

  #wait(ms: number): void {
    if (ms > longestWaitMs) this.#shortened += 1;
    this.#nowMs += Math.min(ms, longestWaitMs);
  }

  async #show(text: string): Promise<void> {
    await this.#screen.write(text);
    const frame = { atMs: this.#nowMs, ...this.#screen.view() };
    if (this.#frames.at(-1)?.atMs === frame.atMs) this.#frames.pop();
    this.#frames.push(frame);
  }
}

function joined(written: readonly Written[]): Written[] {
  const all: Written[] = [];
  for (const { atMs, text } of written) {
    const last = all.at(-1);
    if (last && atMs - last.atMs < togetherMs) last.text += text;
    else all.push({ atMs, text });
  }
  return all;
}

/** The same output with a short name in place of a folder's path, even if the path was written in two parts. */
export function withShortName(written: readonly Written[], folder: string, name: string): Written[] {
  let rest = "";
  return written.map(({ atMs, text }, place) => {
    const whole = (rest + text).replaceAll(folder, name);
    rest = place < written.length - 1 ? beginning(whole, folder) : "";
    return { atMs, text: whole.slice(0, whole.length - rest.length) };
  });
}

/** The end of a text that is the beginning of the other. */
function beginning(text: string, other: string): string {
  for (let length = Math.min(text.length, other.length - 1); length > 0; length -= 1) {
    if (text.endsWith(other.slice(0, length))) return other.slice(0, length);
  }
  return "";
}
