/** Keeps recent events of one client, so that it can resume after a broken connection. */

export interface EventLogOptions {
  /** Maximum size of all events together. The newest event is kept whatever its size. */
  maxBytes: number;
  maxAgeMs: number;
}

interface Kept {
  stream: number;
  number: number;
  frame: Uint8Array;
  at: number;
}

export class EventLog {
  readonly #options: EventLogOptions;
  /** In the order they were sent. */
  readonly #kept: Kept[] = [];
  #bytes = 0;

  constructor(options: EventLogOptions) {
    this.#options = options;
  }

  add(stream: number, number: number, frame: Uint8Array): void {
    this.#kept.push({ stream, number, frame, at: performance.now() });
    this.#bytes += frame.byteLength;
    this.forgetOld();
  }

  /** The events of a stream after the given one, as far as they are kept. */
  after(stream: number, number: number): Uint8Array[] {
    return this.#kept.filter((each) => each.stream === stream && each.number > number).map(({ frame }) => frame);
  }

  forgetOld(): void {
    const { maxBytes, maxAgeMs } = this.#options;
    const oldest = performance.now() - maxAgeMs;
    let [count, bytes] = [0, this.#bytes];
    for (const { frame, at } of this.#kept) {
      const isNeeded = bytes <= maxBytes || count === this.#kept.length - 1;
      if (isNeeded && at >= oldest) break;
      bytes -= frame.byteLength;
      count += 1;
    }
    this.#kept.splice(0, count);
    this.#bytes = bytes;
  }
}
