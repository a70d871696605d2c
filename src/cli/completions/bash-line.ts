/** Splits a line of bash up to the cursor into words, and quotes replies for it. */

export interface BashLine {
  /** Without quotes, beginning with the name of the program. */
  words: string[];
  current: string;
  /** The open quote at the cursor, or an empty string. */
  quote: string;
  /** Index in `current` of the part that bash replaces, which begins after the last character of COMP_WORDBREAKS. */
  replacedFrom: number;
  /** The word follows `>` or `<`. */
  isRedirection: boolean;
}

/** `breaks` is COMP_WORDBREAKS. Nothing is expanded: `$x` and `$(x)` stay as they are. */
export function readBashLine(line: string, breaks: string): BashLine {
  const words: string[] = [];
  let current: string | undefined;
  let quote = "";
  let replacedFrom = 0;
  let isRedirection = false;
  const end = () => {
    if (current === undefined) return;
    if (!isRedirection) words.push(current);
    current = undefined;
    isRedirection = false;
    replacedFrom = 0;
  };
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    const isEscape = character === "\\" && (quote === "" || (quote === '"' && /[$`"\\]/.test(line[at + 1] ?? "")));
    if (isEscape) {
      current = (current ?? "") + (line[at + 1] ?? "");
      at += 1;
    } else if (character === quote) {
      quote = "";
      replacedFrom = current?.length ?? 0;
    } else if (quote === "" && (character === '"' || character === "'")) {
      quote = character;
      current ??= "";
      replacedFrom = current.length;
    } else if (quote === "" && /\s/.test(character)) end();
    else if (quote === "" && (character === ">" || character === "<")) {
      // `2>` is not a word.
      if (/^\d*$/.test(current ?? "")) current = undefined;
      end();
      isRedirection = true;
    } else {
      current = (current ?? "") + character;
      if (quote === "" && breaks.includes(character)) replacedFrom = current.length;
    }
  }
  return { words, current: current ?? "", quote, replacedFrom, isRedirection };
}

/** Returns the values that begin with the current word, each as the quoted text that replaces it in bash. */
export function repliesTo({ current, quote, replacedFrom }: BashLine, values: string[]): string[] {
  return values.filter((value) => value.startsWith(current)).map((value) => quoted(value.slice(replacedFrom), quote));
}

function quoted(text: string, quote: string): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replace(/[$`"\\]/g, "\\$&");
  return text.replace(/[^\p{L}\p{N}\w@%+=:,./-]/gu, "\\$&");
}
