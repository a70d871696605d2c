/** The worker thread that parses large messages of servers. */
import { edenGC } from "bun:jsc";
import { answerJobs } from "../../base/off-thread.ts";
import { collectedInWorkerBytes } from "../limits.ts";
import { decode, type Packed, pack } from "./decode.ts";
import { release } from "./release.ts";

declare const self: Worker;

answerJobs<Uint8Array<ArrayBuffer>[], Packed | undefined>(self, (parts) => {
  const bytes = joined(parts);
  // After the answer. By the time the answer is in a program, its copies here are gone. `Bun.gc(true)` would discard compiled code too.
  if (bytes.length > collectedInWorkerBytes) setImmediate(edenGC);
  const decoded = decode(bytes, release);
  return decoded && pack(decoded);
});

/** Frees each part as soon as it is copied. The memory of the whole is taken page by page, so the two are never there together. */
function joined(parts: Uint8Array<ArrayBuffer>[]): Uint8Array {
  const [first] = parts;
  if (first && parts.length === 1) return first;
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
    release(part);
  }
  return bytes;
}
