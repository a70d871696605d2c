/** Receives messages of servers: small ones are parsed at once, large ones in a worker thread. */
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { eventLoopTurn } from "../../event-loop.ts";
import { OffThread } from "../../off-thread.ts";
import { assemble, decode, type Packed, unpack } from "./decode.ts";

/** Larger messages are parsed in a worker. A message of this size takes at most 3 ms, as much as the use of a worker. */
export const largeBytes = 131_072;

/** Decoding is linear: 256 MB take some seconds on a busy machine. */
const limitMs = 30_000;

const workers = new OffThread<Uint8Array[], Packed | undefined>("./clients/decoding/worker.ts");

/** Undefined if the bytes are not a message. A promise only if the message is large. */
export function receive(bytes: Uint8Array): JSONRPCMessage | undefined | Promise<JSONRPCMessage | undefined> {
  // The worker gets its own buffer: these bytes may be part of a larger one.
  if (bytes.length > largeBytes) return receiveLarge([new Uint8Array(bytes)]);
  const decoded = decode(bytes);
  return decoded && assemble(decoded);
}

/** Decodes a message in a worker. The parts are moved there: each must be the only user of its buffer. */
export async function receiveLarge(parts: Uint8Array<ArrayBuffer>[]): Promise<JSONRPCMessage | undefined> {
  try {
    const packed = await workers.run(parts, { limitMs, transfer: parts.map(({ buffer }) => buffer) });
    // Several messages may be ready at once, and each takes some milliseconds.
    await eventLoopTurn();
    return packed && assemble(unpack(packed));
  } catch {
    // An error in one message must not stop the reading of later ones.
    return undefined;
  }
}

/** Passes on values in the order in which they were added, although some of them are promises. */
export class InOrder<T> {
  readonly #hand: (value: T) => void;
  #last: Promise<void> | undefined;

  constructor(hand: (value: T) => void) {
    this.#hand = hand;
  }

  /** Passes on a value at once if nothing before it is pending. */
  add(value: T | Promise<T>): void {
    if (this.#last === undefined && !(value instanceof Promise)) {
      this.#hand(value);
      return;
    }
    const last = (this.#last ?? Promise.resolve()).then(async () => {
      this.#hand(await value);
      if (this.#last === last) this.#last = undefined;
    });
    this.#last = last;
  }
}
