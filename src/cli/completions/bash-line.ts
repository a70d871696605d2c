/** A line of bash up to the cursor, as words; and what bash has to put in the place of the last of them. */

export interface BashLine {
  /** Without their quotes; the name of the program first. */
  words: string[];
  current: string;
  /** The quote that the cursor stands in. */
  quote: string;
  /** Where in `current` that begins which bash replaces: behind the last break between what it takes for words. */
  replacedFrom: number;
  /** The cursor stands behind `>` or `<`. */
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
      // `2>` is no word.
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

/** The values that begin as the current word does, each as the text that belongs in the place of what bash replaces. */
export function repliesTo({ current, quote, replacedFrom }: BashLine, values: string[]): string[] {
  return values.filter((value) => value.startsWith(current)).map((value) => quoted(value.slice(replacedFrom), quote));
}

function quoted(text: string, quote: string): string {
  if (quote === "'") return text.replaceAll("'", "'\\''");
  if (quote === '"') return text.replace(/[$`"\\]/g, "\\$&");
  return text.replace(/[^\p{L}\p{N}\w@%+=:,./-]/gu, "\\$&");
}
