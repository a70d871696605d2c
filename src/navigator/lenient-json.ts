/**
 * Reads JSON as small models write it: with single quotes, bare keys, comments, extra commas, `True` and `None`. jsonrepair
 * cannot be used: it completes answers that were cut off, so that a call would get half of an argument, and it does not tell
 * where a value in prose ends.
 */

const maxDepth = 64;

const words: Record<string, unknown> = { true: true, false: false, null: null, True: true, False: false, None: null };

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f" };

/** The value that begins at `from`, and the offset after it; undefined if there is none or it is cut off. */
export function readValue(text: string, from = 0): { value: unknown; end: number } | undefined {
  const reader = new Reader(text, from);
  try {
    return { value: reader.value(0), end: reader.at };
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

class NotJson extends Error {}

class Reader {
  readonly #text: string;
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  value(depth: number): unknown {
    this.#space();
    if (depth > maxDepth) throw new NotJson();
    const first = this.#text[this.at];
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#list(depth);
    if (first === '"' || first === "'") return this.#string(first);
    return this.#plain();
  }

  #object(depth: number): unknown {
    const entries: [string, unknown][] = [];
    this.at += 1;
    while (!this.#ends("}")) {
      const quote = this.#text[this.at];
      const key = quote === '"' || quote === "'" ? this.#string(quote) : this.#match(/[\p{L}_$][\p{L}\p{N}_$-]*/uy);
      this.#space();
      if (this.#text[this.at] !== ":") throw new NotJson();
      this.at += 1;
      entries.push([key, this.value(depth + 1)]);
      this.#separator("}");
    }
    return Object.fromEntries(entries);
  }

  #list(depth: number): unknown[] {
    const items: unknown[] = [];
    this.at += 1;
    while (!this.#ends("]")) {
      items.push(this.value(depth + 1));
      this.#separator("]");
    }
    return items;
  }

  /** Whether the object or list ends here. Skips the end if so. */
  #ends(end: string): boolean {
    this.#space();
    if (this.#text[this.at] !== end) return false;
    this.at += 1;
    return true;
  }

  #separator(end: string): void {
    this.#space();
    if (this.#text[this.at] === ",") this.at += 1;
    else if (this.#text[this.at] !== end) throw new NotJson();
  }

  /** Unescaped line breaks are allowed. */
  #string(quote: string): string {
    let value = "";
    for (this.at += 1; this.at < this.#text.length; this.at++) {
      const char = this.#text[this.at]!;
      if (char === quote) {
        this.at += 1;
        return value;
      }
      value += char === "\\" ? this.#escaped() : char;
    }
    throw new NotJson();
  }

  #escaped(): string {
    this.at += 1;
    const char = this.#text[this.at] ?? "";
    if (char !== "u") return escapes[char] ?? char;
    this.at += 1;
    const code = Number.parseInt(this.#match(/[\da-fA-F]{4}/y), 16);
    this.at -= 1;
    return String.fromCharCode(code);
  }

  #plain(): unknown {
    const word = this.#match(/[\w.+-]+/y);
    if (Object.hasOwn(words, word)) return words[word];
    if (/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(word)) return Number(word);
    throw new NotJson();
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new NotJson();
    this.at += found.length;
    return found;
  }

  #space(): void {
    const space = /(?:\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;
    space.lastIndex = this.at;
    this.at += space.exec(this.#text)?.[0].length ?? 0;
  }
}
