/** Reads a stream of server-sent events within limits. Large events are taken out, so that the SDK does not parse them. */

import type { Chunks } from "../../base/bounded-body.ts";
import { eventLoopTurn, hasTurnTime } from "../../base/event-loop.ts";
import { markExact, mayHaveExact } from "../../base/exact-json.ts";
import { megabytes } from "../../base/units.ts";

const newline = 0x0a;
const carriageReturn = 0x0d;
const space = 0x20;
const mark = "\uFEFF";

export interface EventOptions {
  /** Larger events are not passed on. `take` gets their data, and the stream continues when its promise resolves. */
  largeBytes: number;
  take: (data: Buffer) => Promise<void>;
  /** Limits of one event. The stream as a whole may be endless. */
  maxBytes: number;
  maxLines: number;
  /** The error for an event over a limit, such as "256 MB". */
  tooLarge: (limit: string) => Error;
}

/** The complete small events of the stream, in order. */
export async function* smallEvents(chunks: Chunks, options: EventOptions): Chunks {
  const { largeBytes, take, maxBytes, maxLines, tooLarge } = options;
  /** The bytes of an incomplete event. */
  let parts: Uint8Array[] = [];
  let [size, lines] = [0, 0];
  for await (const chunk of chunks) {
    // A blank line may be split between chunks.
    const tail = Buffer.concat([parts.at(-1)?.subarray(-3) ?? new Uint8Array(), chunk]);
    parts.push(chunk);
    let added: Uint8Array = chunk;
    if (endOfEvent(tail) !== -1) {
      let rest = Buffer.concat(parts);
      for (let end = endOfEvent(rest); end !== -1; end = endOfEvent(rest)) {
        const event = unmarked(rest.subarray(0, end));
        // A chunk may have thousands of events, and who reads them takes no turn between two of them.
        if (!hasTurnTime()) await eventLoopTurn();
        if (event.length > largeBytes) await take(dataOf(event));
        else yield markedEvent(event);
        rest = rest.subarray(end);
      }
      parts = rest.length > 0 ? [rest] : [];
      [size, lines, added] = [0, 0, rest];
    }
    size += added.length;
    lines += lineEnds(added);
    if (size > maxBytes) throw tooLarge(megabytes(maxBytes));
    if (lines > maxLines) throw tooLarge(`${maxLines.toLocaleString("en")} lines`);
  }
  // The reader handles an incomplete event.
  if (size <= largeBytes && parts.length > 0) yield markedEvent(Buffer.concat(parts));
}

/** The event with marks at numbers that its reader would round. */
function markedEvent(event: Buffer): Buffer {
  const text = event.toString();
  // The other lines of an event are no JSON.
  return mayHaveExact(text) ? Buffer.from(text.replace(/^data:.*$/gm, markExact)) : event;
}

/** The position after the first blank line, or -1. Lines end with \n, \r or both. */
function endOfEvent(bytes: Buffer): number {
  let event = bytes;
  for (const ends of ["\n\n", "\n\r", "\r\r"]) {
    const at = event.indexOf(ends);
    if (at !== -1) event = bytes.subarray(0, at + 2);
  }
  if (event === bytes) return -1;
  const isHalf = event.at(-1) === carriageReturn && bytes[event.length] === newline;
  return isHalf ? event.length + 1 : event.length;
}

/** The event without a byte order mark before its first line, and before its data. */
function unmarked(event: Buffer): Buffer {
  const at = event.indexOf(mark);
  if (at === -1 || !/(?:^|[\r\n]data:|^data:) ?$/.test(event.subarray(Math.max(0, at - 7), at).toString()))
    return event;
  return unmarked(Buffer.concat([event.subarray(0, at), event.subarray(at + Buffer.byteLength(mark))]));
}

/** The text after `data:` in the lines of an event. */
export function dataOf(event: Buffer): Buffer {
  const data: Uint8Array[] = [];
  const next = (end: number, start: number) => {
    const at = event.indexOf(end, start);
    return at === -1 ? event.length : at;
  };
  let [feed, carriage] = [-1, -1];
  for (let start = 0; start < event.length; start = Math.min(feed, carriage) + 1) {
    if (feed < start) feed = next(newline, start);
    if (carriage < start) carriage = next(carriageReturn, start);
    const line = event.subarray(start, Math.min(feed, carriage));
    if (line.subarray(0, 5).toString() !== "data:") continue;
    if (data.length > 0) data.push(Buffer.from("\n"));
    data.push(line.subarray(line[5] === space ? 6 : 5));
  }
  return Buffer.concat(data);
}

function lineEnds(bytes: Uint8Array): number {
  let count = 0;
  for (const end of [newline, carriageReturn]) {
    for (let at = bytes.indexOf(end); at !== -1; at = bytes.indexOf(end, at + 1)) count += 1;
  }
  return count;
}
