/** A progress line on a terminal. Without a terminal nothing is written. */
import { visibleText } from "../visible-text.ts";
import type { Output } from "./io.ts";
import { eraseLine } from "./terminal-output.ts";

const width = 24;

/** Whether a line can be drawn and erased. */
function hasLines({ isTerminal, isDumb }: Output): boolean {
  return isTerminal && !isDumb;
}

/** Shortens the text to one line, because only one line can be erased. */
function fitting(text: string, { columns = 80 }: Output): string {
  return visibleText(text)
    .replace(/[\n\t]/g, " ")
    .slice(0, columns - 1);
}

export class Progress {
  readonly #output: Output | undefined;
  readonly #noun: string;
  readonly #total: number;
  #done = 0;
  #ended = false;

  constructor(output: Output | undefined, noun: string, total: number) {
    this.#output = output && hasLines(output) ? output : undefined;
    this.#noun = noun;
    this.#total = total;
    this.#draw("");
  }

  /** Counts one more finished item. */
  advance(name: string): void {
    this.#done += 1;
    this.#draw(name);
  }

  /** Erases the line. Nothing is drawn afterwards. */
  end(): void {
    if (!this.#ended) void this.#output?.write(eraseLine);
    this.#ended = true;
  }

  #draw(name: string): void {
    if (this.#ended) return;
    const filled = this.#total === 0 ? width : Math.round((this.#done / this.#total) * width);
    const bar = `${"█".repeat(filled)}${"░".repeat(width - filled)}`;
    const line = `${bar} ${this.#done}/${this.#total} ${this.#noun} ${name}`;
    void this.#output?.write(eraseLine + fitting(line, this.#output));
  }
}

/** Work that takes less time than this shows no line, in milliseconds. */
const quietMs = 1_000;
const redrawMs = 100;

/** Shows `words` while the work runs, if it takes long. */
export async function saying<T>(output: Output, words: string, work: Promise<T>): Promise<T> {
  const activity = new Activity(output, words);
  return work.finally(() => activity.end());
}

/** Shows the latest progress message of long work. */
export class Activity {
  readonly #output: Output | undefined;
  readonly #startedAt = performance.now();
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #text = "";
  #drawn = "";
  #pauses = 0;

  constructor(output: Output, text = "") {
    this.#text = text;
    this.#output = hasLines(output) ? output : undefined;
    if (!this.#output) return;
    this.#timer = setInterval(() => this.#draw(), redrawMs);
    this.#timer.unref();
  }

  /** Takes progress messages. Undefined without a terminal. */
  get onProgress(): ((line: string) => void) | undefined {
    if (!this.#output) return undefined;
    return (line) => {
      this.#text = line;
    };
  }

  /** Erases the line. */
  end(): void {
    clearInterval(this.#timer);
    this.#erase();
  }

  /** Hides the line until the returned function is called. */
  pause(): () => void {
    this.#pauses += 1;
    this.#erase();
    return () => {
      this.#pauses -= 1;
    };
  }

  #erase(): void {
    if (this.#drawn !== "") void this.#output?.write(eraseLine);
    this.#drawn = "";
  }

  #draw(): void {
    if (this.#pauses > 0 || this.#text === this.#drawn || performance.now() - this.#startedAt < quietMs) return;
    this.#drawn = this.#text;
    if (this.#output) void this.#output.write(eraseLine + fitting(this.#text, this.#output));
  }
}
