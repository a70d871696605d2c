/** A line on a terminal that says how far something is, or what it is at; nothing where nobody watches. */
import { visibleText } from "../visible-text.ts";
import type { Output } from "./io.ts";
import { eraseLine } from "./terminal-output.ts";

const width = 24;

/** Whether somebody watches, and a line can be taken away again. */
function hasLines({ isTerminal, isDumb }: Output): boolean {
  return isTerminal && !isDumb;
}

/** As much as fits into one line: more than one could not be taken away. */
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

  /** One more is done. */
  advance(name: string): void {
    this.#done += 1;
    this.#draw(name);
  }

  /** Takes the line away, for good. */
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

/** What lasts shorter needs no words. */
const quietMs = 1_000;
const redrawMs = 100;

/** Does something that says nothing itself; these words stand there meanwhile, if it takes long. */
export async function saying<T>(output: Output, words: string, work: Promise<T>): Promise<T> {
  const activity = new Activity(output, words);
  return work.finally(() => activity.end());
}

/** What something that takes long is at, as its last words. */
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

  /** To be told, where somebody watches. */
  get onProgress(): ((line: string) => void) | undefined {
    if (!this.#output) return undefined;
    return (line) => {
      this.#text = line;
    };
  }

  /** Takes the line away. */
  end(): void {
    clearInterval(this.#timer);
    this.#erase();
  }

  /** Makes room for other words, until what it gives is called. */
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
