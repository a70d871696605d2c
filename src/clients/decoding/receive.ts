/** Messages of servers as they arrive: small ones are parsed at once, large ones in a worker thread. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { eventLoopTurn } from "../../event-loop.ts";
import { OffThread } from "../../off-thread.ts";
import { assemble, decode, type Packed, unpack } from "./decode.ts";

/** Larger messages are parsed in a worker. One of this size takes 3 ms at most, which is what a worker costs, too. */
export const largeBytes = 131_072;

/** Decoding is linear: 256 MB take some seconds on a busy machine. */
const limitMs = 30_000;

const workers = new OffThread<Uint8Array[], Packed | undefined>({ start: startWorker });

/** Undefined for what is no message. A promise only where the message is large. */
export function receive(bytes: Uint8Array): JSONRPCMessage | undefined | Promise<JSONRPCMessage | undefined> {
  // The worker gets a buffer of its own: these bytes may be part of a larger one.
  if (bytes.length > largeBytes) return receiveLarge([new Uint8Array(bytes)]);
  const decoded = decode(bytes);
  return decoded && assemble(decoded);
}

/** Decodes a message in a worker. The parts are moved there: each must be the only user of its buffer. */
export async function receiveLarge(parts: Uint8Array<ArrayBuffer>[]): Promise<JSONRPCMessage | undefined> {
  try {
    const packed = await workers.run(parts, { limitMs, transfer: parts.map(({ buffer }) => buffer) });
    // Several may be ready at once, and each takes some milliseconds.
    await eventLoopTurn();
    return packed && assemble(unpack(packed));
  } catch {
    // A message that cannot be decoded must not end the reading of those after it.
    return undefined;
  }
}

function startWorker(): Worker {
  // Relative to this file from source, and to the entry in an executable, where everything is one bundle.
  const path = Bun.isStandaloneExecutable ? "./clients/decoding/worker.ts" : "./worker.ts";
  return new Worker(new URL(path, import.meta.url).href);
}
