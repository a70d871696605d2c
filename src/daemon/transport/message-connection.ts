/** A connection over which both sides send JSON texts, one per line. */
import { onAbort } from "../../servers/abort.ts";
import { maxInlineBytes, maxMessageBytes } from "../../servers/limits.ts";
import type { BunStream } from "../../servers/process/bun-stream.ts";
import { PendingLine } from "../../servers/process/pending-line.ts";

/** The name of this protocol in the request that begins such a connection. */
export const upgradeName = "claudikins-messages";

/** Unread bytes after which a connection is closed. */
const maxUnreadBytes = 4 * maxMessageBytes;

/** Time for the other side to read the last messages. A paused process reads nothing. */
const lastReadMs = 30_000;

const newline = 0x0a;

export interface MessageHandler {
  /** The bytes of one JSON text. */
  message(bytes: Buffer): void;
  /**
   * Called in place of `message` with the parts of a message that is larger than `maxInlineBytes`. Each part is the only user of its
   * buffer. Joining them here would take the size of the message once more.
   */
  largeMessage?(parts: Uint8Array<ArrayBuffer>[]): void;
  /** Called once. No message follows. */
  close(): void;
}

export class MessageConnection {
  readonly #stream: BunStream;
  readonly #maxBytes: number;
  /** A message within one chunk is passed on without a copy if it is not longer than this. */
  readonly #maxWholeBytes: number;
  readonly #handler: MessageHandler;
  readonly #line = new PendingLine();
  /** Texts that will be written together. */
  #unsent: string[] = [];

  /** Takes over the stream. `early` are bytes that have arrived already. */
  constructor(
    stream: BunStream,
    handler: (connection: MessageConnection) => MessageHandler,
    early: Buffer,
    maxBytes = maxMessageBytes,
  ) {
    this.#stream = stream;
    this.#maxBytes = maxBytes;
    this.#maxWholeBytes = Math.min(maxBytes, maxInlineBytes);
    this.#handler = handler(this);
    stream.onData = (chunk) => this.#add(chunk, true);
    onAbort(stream.closed, () => this.#handler.close());
    this.#add(early, false);
  }

  /** False if the connection is closed. */
  send(text: string): boolean {
    if (!this.#stream.isWritable) return false;
    if (this.#unsent.length === 0) queueMicrotask(() => this.#flush());
    this.#unsent.push(text, "\n");
    return true;
  }

  #flush(): void {
    if (this.#unsent.length === 0) return;
    const text = this.#unsent.join("");
    this.#unsent = [];
    this.#stream.write(text);
    if (this.#stream.unsentBytes > maxUnreadBytes) this.#stream.destroy();
  }

  /** Closes the connection when the other side has read everything. This process may end before that. */
  close(): void {
    this.#flush();
    const timer = setTimeout(() => this.#stream.destroy(), lastReadMs).unref();
    onAbort(this.#stream.closed, () => clearTimeout(timer));
    this.#stream.end();
    this.#stream.unref();
  }

  /** Closes the connection at once. */
  terminate(): void {
    this.#flush();
    this.#stream.destroy();
  }

  /** `isOwn` means that no other code uses the chunk. */
  #add(chunk: Buffer, isOwn: boolean): void {
    let rest = chunk;
    for (let end = rest.indexOf(newline); end >= 0; end = rest.indexOf(newline)) {
      const part = rest.subarray(0, end);
      rest = rest.subarray(end + 1);
      if (this.#line.size === 0 && end <= this.#maxWholeBytes) {
        this.#handler.message(part);
        continue;
      }
      this.#line.add(part);
      if (this.#line.size > this.#maxBytes) break;
      this.#hand();
    }
    if (rest.length > 0) this.#line.add(rest, isOwn && rest === chunk);
    if (this.#line.size > this.#maxBytes) this.terminate();
  }

  /** Passes the line to the handler, and begins a new line. */
  #hand(): void {
    if (this.#handler.largeMessage && this.#line.size > maxInlineBytes) {
      this.#handler.largeMessage(this.#line.take());
      return;
    }
    const { buffer, byteOffset, length } = this.#line.bytes();
    this.#line.clear();
    this.#handler.message(Buffer.from(buffer, byteOffset, length));
  }
}
