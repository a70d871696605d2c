/** Counts the characters that content takes in a model's context. */

/**
 * Characters that an image counts for in a context. It costs about 1,500 tokens by its pixels, not by its base64. Audio and files are
 * counted the same.
 */
const imageContextChars = 6_000;

/** The characters of content blocks and of the resources in them. */
export function charsOfBlocks(blocks: unknown): number {
  if (!Array.isArray(blocks)) return 0;
  return blocks.reduce((sum: number, block) => sum + charsOfBlock(block ?? {}), 0);
}

function charsOfBlock(block: Record<string, unknown>): number {
  const { text, data, blob, resource } = block;
  if (typeof text === "string") return text.length;
  if (typeof data === "string" || typeof blob === "string") return imageContextChars;
  if (typeof resource === "object" && resource !== null) return charsOfBlock(resource as Record<string, unknown>);
  return JSON.stringify(block).length;
}

/** How far a text of JSON was read. */
export interface JsonReading {
  at: number;
  /** Characters of the same JSON without white space between its parts, as programs return it. */
  chars: number;
  isInText: boolean;
}

export const jsonAtStart = (): JsonReading => ({ at: 0, chars: 0, isInText: false });

const [tab, newline, enter, space, quote, backslash, u, zero, one] = [9, 10, 13, 32, 34, 92, 117, 48, 49];

/**
 * Counts JSON in the form in which a program returns it, because a server may indent what it sends and escape other letters than ASCII. It
 * continues a reading, and stops at the character `end` of the text or when there are `most` characters. Other texts are counted roughly.
 */
export function readJson(text: string, reading: JsonReading, end: number, most = Number.POSITIVE_INFINITY): void {
  let { at, chars, isInText } = reading;
  for (const last = Math.min(end, text.length); at < last && chars < most; at++) {
    const code = text.charCodeAt(at);
    if (!isInText) {
      if (code === quote) isInText = true;
      if (code !== space && code !== newline && code !== enter && code !== tab) chars += 1;
    } else if (code === backslash) {
      const isLetter = text.charCodeAt(at + 1) === u && !isControl(text, at + 2);
      at += isLetter ? 5 : 1;
      chars += isLetter ? 1 : 2;
    } else {
      if (code === quote) isInText = false;
      chars += 1;
    }
  }
  Object.assign(reading, { at, chars, isInText });
}

/** Whether the four digits are of a control character, which is always escaped. */
function isControl(text: string, at: number): boolean {
  const third = text.charCodeAt(at + 2);
  return text.startsWith("00", at) && (third === zero || third === one);
}
