/**
 * Reads JSON as small models write it: with single quotes, bare keys, comments, extra commas, `True` and `None`. jsonrepair
 * cannot be used: it completes answers that were cut off, so that a call would get half of an argument, and it does not tell
 * where a value in prose ends.
 */

/** Levels of the JSON of an answer. */
const maxAnswerDepth = 64;

const words: Record<string, unknown> = { true: true, false: false, null: null, True: true, False: false, None: null };

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

class NotJson extends Error {}

/** The value that begins at `from`, and the offset after it; undefined if there is none or it is cut off. */
export function readValue(text: string, from = 0): { value: unknown; end: number } | undefined {
  let at = from;
  try {
    return { value: value(0), end: at };
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }

  function value(depth: number): unknown {
    space();
    if (depth > maxAnswerDepth) throw new NotJson();
    const first = text[at];
    if (first === "{") return object(depth);
    if (first === "[") return list(depth);
    if (first === '"' || first === "'") return string(first);
    return plain();
  }

  function object(depth: number): unknown {
    const entries: [string, unknown][] = [];
    at += 1;
    while (!ends("}")) {
      const quote = text[at];
      const key = quote === '"' || quote === "'" ? string(quote) : match(/[\p{L}_$][\p{L}\p{N}_$-]*/uy);
      space();
      if (text[at] !== ":") throw new NotJson();
      at += 1;
      entries.push([key, value(depth + 1)]);
      separator("}");
    }
    return Object.fromEntries(entries);
  }

  function list(depth: number): unknown[] {
    const items: unknown[] = [];
    at += 1;
    while (!ends("]")) {
      items.push(value(depth + 1));
      separator("]");
    }
    return items;
  }

  /** Whether the object or list ends here. Skips the end if so. */
  function ends(end: string): boolean {
    space();
    if (text[at] !== end) return false;
    at += 1;
    return true;
  }

  function separator(end: string): void {
    space();
    if (text[at] === ",") at += 1;
    else if (text[at] !== end) throw new NotJson();
  }

  /** Unescaped line breaks are allowed. */
  function string(quote: string): string {
    let read = "";
    for (at += 1; at < text.length; at++) {
      const char = text[at]!;
      if (char === quote) {
        at += 1;
        return read;
      }
      read += char === "\\" ? escaped() : char;
    }
    throw new NotJson();
  }

  function escaped(): string {
    at += 1;
    const char = text[at] ?? "";
    if (char !== "u") return escapes[char] ?? char;
    at += 1;
    const code = Number.parseInt(match(/[\da-fA-F]{4}/y), 16);
    at -= 1;
    return String.fromCharCode(code);
  }

  function plain(): unknown {
    const word = match(/[\w.+-]+/y);
    if (Object.hasOwn(words, word)) return words[word];
    if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(word)) return Number(word);
    throw new NotJson();
  }

  function match(pattern: RegExp): string {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    if (found === undefined) throw new NotJson();
    at += found.length;
    return found;
  }

  function space(): void {
    const space = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    space.lastIndex = at;
    at += space.exec(text)?.[0].length ?? 0;
  }
}
