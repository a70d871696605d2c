/**
 * Measures how much a JSON text costs to parse, without parsing it: its depth, its keys and its values. Decides which messages cost too
 * much.
 */

/**
 * A message of a host or a browser. The SDK and our schemas copy each object several times, on the thread that answers all clients: about a
 * microsecond for each key, and more for keys that no other object has. A list of 100,000 values takes some 30 ms. Numbers
 * with more digits are not exact, and take long to read.
 */
const clientMessage = { keys: 20_000, values: 100_000, levels: 200, digits: 1_000 };

const quote = 0x22;
const backslash = 0x5c;

/** Kinds of bytes outside strings. */
const opens = 1;
const closes = 2;
const separates = 3;
const begins = 4;
const names = 5;
const counts = 6;
const kinds = new Uint8Array(256);
for (const char of "{[") kinds[char.charCodeAt(0)] = opens;
for (const char of "}]") kinds[char.charCodeAt(0)] = closes;
kinds[",".charCodeAt(0)] = separates;
kinds[quote] = begins;
kinds[":".charCodeAt(0)] = names;
for (const char of "0123456789") kinds[char.charCodeAt(0)] = counts;

/** The position of an array or object in the text, with its brackets. */
export interface Span {
  start: number;
  end: number;
}

export interface Weight {
  depth: number;
  values: number;
  keys: number;
  /** Digits of the longest number. */
  digits: number;
  /** The arrays and objects at depth 3 with at least this many bytes. In an answer, these are the parts of its result. */
  large: Span[];
}

/** Takes about 1.2 ms per megabyte. The text need not be valid JSON. */
export function weigh(json: Uint8Array, largeBytes = Number.POSITIVE_INFINITY): Weight {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  let keys = 0;
  let digits = 0;
  let start = 0;
  const large: Span[] = [];
  for (let at = 0; at < json.length; at++) {
    const kind = kinds[json[at]!]!;
    if (kind === 0) continue;
    if (kind === begins) at = endOfString(json, at);
    else if (kind === names) keys += 1;
    else if (kind === counts) {
      const first = at;
      while (kinds[json[at + 1]!] === counts) at += 1;
      if (at - first >= digits) digits = at - first + 1;
    } else if (kind === closes) {
      if (depth === 3 && at - start >= largeBytes) large.push({ start, end: at + 1 });
      depth -= 1;
    } else {
      values += 1;
      if (kind !== opens) continue;
      depth += 1;
      if (depth > deepest) deepest = depth;
      if (depth === 3) start = at;
    }
  }
  return { depth: deepest, values, keys, digits, large };
}

/** The position of the closing quote, or the end of the text. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}

/**
 * Why a message is too expensive to parse on the thread that answers all clients, with the next step. Undefined if it is not. The size of
 * texts does not matter: code and images are one text each.
 */
export function tooHeavy(json: Uint8Array, most: typeof clientMessage = clientMessage): string | undefined {
  const { depth, values, keys, digits } = weigh(json);
  const what = (has: string) => `The message ${has}. Send less at once, or large data as one text`;
  if (depth > most.levels) return what(`is nested more than ${most.levels} levels deep`);
  if (keys > most.keys) return what(`has more than ${most.keys} keys`);
  if (values > most.values) return what(`has more than ${most.values} values`);
  return digits > most.digits ? what(`has a number of more than ${most.digits} digits`) : undefined;
}

/** The id of a message that is not parsed. It is at the beginning or the end. */
export function requestIdIn(json: Uint8Array): string | number | undefined {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+|"[^"\\]*")/.exec(bytes.toString("utf8", 0, 1_024)) ??
    /"id"\s*:\s*(\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(bytes.subarray(-1_024).toString());
  return found ? (JSON.parse(found[1] ?? "") as number | string) : undefined;
}
