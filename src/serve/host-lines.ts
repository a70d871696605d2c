/** The lines that a host writes to stdin. A message that would take long to read is refused here, before it is parsed, and numbers that the parser would round are marked. */

import { Transform, type TransformCallback, type Writable } from "node:stream";
import { markExact } from "../base/exact-json.ts";
import { requestIdIn, tooHeavy } from "../base/json-weight.ts";
import { megabyte } from "../base/units.ts";

/** A longer line of a host is passed on as it is: the SDK's server ends the connection. */
const maxHostLineBytes = 10 * megabyte;

const newline = 0x0a;

/** The code of JSON-RPC for a message that is not accepted. The SDK's module with the codes is loaded later. */
const invalidRequest = -32_600;

export class HostLines extends Transform {
  /** Where the host reads its answers. */
  readonly #host: Writable;
  /** The beginning of a line. */
  #parts: Buffer[] = [];
  #bytes = 0;

  constructor(host: Writable) {
    super();
    this.#host = host;
  }

  override _transform(chunk: Buffer, _: string, done: TransformCallback): void {
    let rest = chunk;
    for (let at = rest.indexOf(newline); at !== -1; at = rest.indexOf(newline)) {
      const last = rest.subarray(0, at + 1);
      this.#take(this.#parts.length === 0 ? last : Buffer.concat([...this.#parts, last]));
      this.#forget();
      rest = rest.subarray(at + 1);
    }
    if (rest.length > 0) {
      this.#parts.push(rest);
      this.#bytes += rest.length;
    }
    // The SDK's server ends the connection of a host that writes more.
    if (this.#bytes > maxHostLineBytes) this._flush(() => {});
    done();
  }

  override _flush(done: TransformCallback): void {
    for (const part of this.#parts) this.push(part);
    this.#forget();
    done();
  }

  #forget(): void {
    this.#parts = [];
    this.#bytes = 0;
  }

  #take(line: Buffer): void {
    const message = tooHeavy(line);
    if (message === undefined) {
      const text = line.toString();
      const marked = markExact(text);
      this.push(marked === text ? line : marked);
      return;
    }
    const id = requestIdIn(line);
    const refusal = `${JSON.stringify({ jsonrpc: "2.0", id: id ?? null, error: { code: invalidRequest, message } })}\n`;
    // A server waits for an answer of the host.
    if (id !== undefined && isAnswer(line)) this.push(refusal);
    else this.#host.write(refusal);
  }
}

/** Requests have their method at the beginning or the end. */
function isAnswer(line: Buffer): boolean {
  const ends = [line.subarray(0, 1_024), line.subarray(-1_024)];
  return !ends.some((each) => each.includes('"method"'));
}
