/** Messages of servers as they arrive: small ones are parsed at once, large ones in a worker thread. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { OffThread } from "../../off-thread.ts";
import { assemble, type Decoded, decode } from "./decode.ts";

/** Larger messages are parsed in a worker. One of this size takes 3 ms at most, which is what a worker costs, too. */
export const largeBytes = 131_072;

/** Decoding is linear: 256 MB take some seconds on a busy machine. */
const limitMs = 30_000;

const workers = new OffThread<Uint8Array, Decoded | undefined>({ start: startWorker });

/** Undefined for what is no message. A promise only where the message is large. */
export function receive(bytes: Uint8Array): JSONRPCMessage | undefined | Promise<JSONRPCMessage | undefined> {
  if (bytes.length > largeBytes) return receiveLarge(bytes);
  const decoded = decode(bytes);
  return decoded && assemble(decoded);
}

async function receiveLarge(bytes: Uint8Array): Promise<JSONRPCMessage | undefined> {
  // The worker gets a buffer of its own: these bytes may be part of a larger one.
  const own = new Uint8Array(bytes);
  try {
    const decoded = await workers.run(own, { limitMs, transfer: [own.buffer] });
    return decoded && assemble(decoded);
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
