/** The worker thread that parses large messages of servers. */
import { answerJobs } from "../../base/off-thread.ts";
import { decode, type Packed, pack } from "./decode.ts";

declare const self: Worker;

answerJobs<Uint8Array<ArrayBuffer>[], Packed | undefined>(self, (parts) => {
  const decoded = decode(joined(parts), release);
  return decoded && pack(decoded);
});

function joined(parts: Uint8Array<ArrayBuffer>[]): Uint8Array {
  const [first] = parts;
  if (first && parts.length === 1) return first;
  const bytes = Buffer.concat(parts);
  for (const part of parts) release(part);
  return bytes;
}

/** Frees the memory at once. The garbage collector only sees a small object, and would wait. */
function release({ buffer }: Uint8Array): void {
  (buffer as ArrayBuffer).transfer(0);
}
