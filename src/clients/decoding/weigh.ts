/** What a JSON text costs to parse, known without parsing it: how deeply it is nested and how many values it has. */

const quote = 0x22;
const comma = 0x2c;
const openBracket = 0x5b;
const backslash = 0x5c;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;

export interface Weight {
  depth: number;
  values: number;
}

/** Linear in the number of bytes; about 7 ms per megabyte. The text need not be valid JSON. */
export function weigh(json: Uint8Array): Weight {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  for (let at = 0; at < json.length; at++) {
    switch (json[at]) {
      case quote:
        at = endOfString(json, at);
        break;
      case openBrace:
      case openBracket:
        values += 1;
        depth += 1;
        if (depth > deepest) deepest = depth;
        break;
      case closeBrace:
      case closeBracket:
        depth -= 1;
        break;
      case comma:
        values += 1;
    }
  }
  return { depth: deepest, values };
}

/** The position of the closing quote, or the end of the text. */
function endOfString(json: Uint8Array, start: number): number {
  for (let end = json.indexOf(quote, start + 1); end !== -1; end = json.indexOf(quote, end + 1)) {
    let slashes = 0;
    while (json[end - 1 - slashes] === backslash) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return json.length;
}
