/** Cuts a stream of bytes into lines. Each line is a JSON text. */
import { PendingLine } from "../../servers/pending-line.ts";

const newline = 0x0a;

export class JsonLines {
  readonly #pending = new PendingLine();
  readonly #maxBytes: number;
  readonly #onLine: (text: string) => void;

  constructor(maxBytes: number, onLine: (text: string) => void) {
    this.#maxBytes = maxBytes;
    this.#onLine = onLine;
  }

  /** Keeps the chunk without a copy. Returns false if the line is too long. */
  add(chunk: Buffer): boolean {
    let rest: Buffer = chunk;
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      this.#pending.add(rest.subarray(0, end));
      if (this.#pending.size > this.#maxBytes) return false;
      const text = Buffer.from(this.#pending.bytes()).toString("utf8");
      this.#pending.clear();
      rest = rest.subarray(end + 1);
      this.#onLine(text);
    }
    this.#pending.add(rest);
    return this.#pending.size <= this.#maxBytes;
  }
}
