/** Receives messages of servers: small ones are parsed at once, large ones in a worker thread. */
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { eventLoopTurn, hasTurnTime } from "../../base/event-loop.ts";
import { OffThread } from "../../base/off-thread.ts";
import { maxInlineBytes } from "../limits.ts";
import { assemble, decode, type Packed, unpack } from "./decode.ts";

/** Time for a worker to decode a message. Decoding is linear: 256 MB take some seconds on a busy machine. */
const decodingMs = 30_000;

const workers = new OffThread<Uint8Array[], Packed | undefined>("./servers/decoding/worker.ts");

/** Undefined if the bytes are not a message. A promise only if the message is large. */
export function receive(bytes: Uint8Array): JSONRPCMessage | undefined | Promise<JSONRPCMessage | undefined> {
  // The worker gets its own buffer: these bytes may be part of a larger one.
  if (bytes.length > maxInlineBytes) return receiveLarge([new Uint8Array(bytes)]);
  const decoded = decode(bytes);
  return decoded && assemble(decoded);
}

/** Decodes a message in a worker. The parts are moved there: each must be the only user of its buffer. */
export async function receiveLarge(parts: Uint8Array<ArrayBuffer>[]): Promise<JSONRPCMessage | undefined> {
  try {
    const packed = await workers.run(parts, { limitMs: decodingMs, transfer: parts.map(({ buffer }) => buffer) });
    // Several messages may be ready at once, and each takes some milliseconds.
    await eventLoopTurn();
    return packed && assemble(unpack(packed));
  } catch {
    // An error in one message must not stop the reading of later ones.
    return undefined;
  }
}

/** Passes on values in the order in which they were added, and only some in each turn of the event loop. */
export class InOrder<T> {
  readonly #hand: (value: T) => void;
  readonly #waiting: { make: () => T | Promise<T>; size: number }[] = [];
  #isHanding = false;
  /** The sizes of the values that wait, together. */
  waitingSize = 0;

  constructor(hand: (value: T) => void) {
    this.#hand = hand;
  }

  /** `make` returns the value when it is its turn: at once, if nothing before it waits. */
  add(make: () => T | Promise<T>, size = 0): void {
    if (!this.#isHanding && hasTurnTime()) {
      const value = make();
      if (value instanceof Promise) this.#addLater(() => value, size);
      else this.#hand(value);
    } else this.#addLater(make, size);
  }

  #addLater(make: () => T | Promise<T>, size: number): void {
    this.#waiting.push({ make, size });
    this.waitingSize += size;
    if (!this.#isHanding) void this.#handAll();
  }

  async #handAll(): Promise<void> {
    this.#isHanding = true;
    try {
      for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
        if (!hasTurnTime()) await eventLoopTurn();
        this.waitingSize -= next.size;
        const value = next.make();
        this.#hand(value instanceof Promise ? await value : value);
      }
    } finally {
      this.#isHanding = false;
    }
  }
}
