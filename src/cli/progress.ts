/** A line on a terminal that says how far something is; nothing where nobody watches. */
import type { Output } from "./io.ts";

const width = 24;

export class Progress {
  readonly #output: Output | undefined;
  readonly #noun: string;
  readonly #total: number;
  #done = 0;

  constructor(output: Output | undefined, noun: string, total: number) {
    this.#output = output?.isTerminal ? output : undefined;
    this.#noun = noun;
    this.#total = total;
    this.#draw("");
  }

  /** One more is done. */
  advance(name: string): void {
    this.#done += 1;
    this.#draw(name);
  }

  /** Takes the line away. */
  end(): void {
    void this.#output?.write("\r\u001b[2K");
  }

  #draw(name: string): void {
    const filled = this.#total === 0 ? width : Math.round((this.#done / this.#total) * width);
    const bar = `${"█".repeat(filled)}${"░".repeat(width - filled)}`;
    void this.#output?.write(`\r\u001b[2K${bar} ${this.#done}/${this.#total} ${this.#noun} ${name}`);
  }
}
