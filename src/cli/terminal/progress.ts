/** A progress line on a terminal. Without a terminal nothing is written. */
import { visibleText } from "../../base/visible-text.ts";
import type { Output } from "../io.ts";
import { eraseLine } from "./terminal-output.ts";

/** Width of the bar of a progress line. */
const progressBarChars = 24;

/** Work that takes less time shows no progress line. */
const progressQuietMs = 1_000;

/** How often the line is drawn. */
const progressRedrawMs = 100;

/** The line, on an output that can draw and erase it. */
class StatusLine {
  #output: Output | undefined;
  #isDrawn = false;

  constructor(output: Output | undefined) {
    this.#output = output?.isTerminal && !output.isDumb ? output : undefined;
  }

  get isShown(): boolean {
    return this.#output !== undefined;
  }

  /** The text is shortened to one line, because only one line can be erased. */
  draw(text: string): void {
    const { columns = 80 } = this.#output ?? {};
    const line = visibleText(text).replace(/[\n\t]/g, " ");
    void this.#output?.write(eraseLine + line.slice(0, columns - 1));
    this.#isDrawn = true;
  }

  erase(): void {
    if (this.#isDrawn) void this.#output?.write(eraseLine);
    this.#isDrawn = false;
  }

  /** Erases the line. Nothing is drawn afterwards. */
  end(): void {
    this.erase();
    this.#output = undefined;
  }
}

/** Shows how many of the servers are done while the work runs. The work calls `onServer` for each. */
export async function countingServers<T>(
  output: Output | undefined,
  total: number,
  work: (onServer: (name: string) => void) => Promise<T>,
): Promise<T> {
  const line = new StatusLine(total > 0 ? output : undefined);
  let done = 0;
  const draw = (name: string) => {
    const filled = Math.round((done / total) * progressBarChars);
    line.draw(`${"█".repeat(filled)}${"░".repeat(progressBarChars - filled)} ${done}/${total} servers ${name}`);
  };
  draw("");
  const running = work((name) => {
    done += 1;
    draw(name);
  });
  return running.finally(() => line.end());
}

/** Shows `words` while the work runs, if it takes long. */
export async function saying<T>(output: Output, words: string, work: Promise<T>): Promise<T> {
  const activity = new Activity(output, words);
  return work.finally(() => activity.end());
}

/** Shows the latest progress message of long work. */
export class Activity {
  readonly #line: StatusLine;
  readonly #startedAt = performance.now();
  readonly #timer: ReturnType<typeof setInterval> | undefined;
  #text: string;
  #drawn = "";
  #pauses = 0;

  constructor(output: Output | undefined, text = "") {
    this.#text = text;
    this.#line = new StatusLine(output);
    if (this.#line.isShown) this.#timer = setInterval(() => this.#draw(), progressRedrawMs).unref();
  }

  /** Takes progress messages. Undefined without a terminal. */
  get onProgress(): ((line: string) => void) | undefined {
    if (!this.#line.isShown) return undefined;
    return (line) => {
      this.#text = line;
    };
  }

  /** Erases the line. */
  end(): void {
    clearInterval(this.#timer);
    this.#line.end();
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
    this.#line.erase();
    this.#drawn = "";
  }

  #draw(): void {
    if (this.#pauses > 0 || this.#text === this.#drawn || performance.now() - this.#startedAt < progressQuietMs) return;
    this.#drawn = this.#text;
    this.#line.draw(this.#text);
  }
}
