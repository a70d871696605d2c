/**
 * Makes text safe for a terminal, and styles it. Only the styles of claudikins, which carry a random mark, reach a terminal as control
 * sequences; all others are shown as escapes. A pipe or a file gets text from elsewhere unchanged, and no styles.
 */
import { visibleText } from "../../base/visible-text.ts";
import type { Io, Output } from "../io.ts";
import type { StyledCell } from "./table.ts";

/** Random digits, which text from elsewhere cannot contain. */
const mark = crypto.getRandomValues(new Uint32Array(4)).join("");

const ownSequence = new RegExp(`(\\u001b\\[\\d+;${mark}[mK])`);

/** A control sequence with the mark. `Bun.stringWidth` does not count it. */
const own = (code: number, final: "m" | "K") => `\u001b[${code};${mark}${final}`;

/** A colour or a weight, by its number in ECMA-48. */
const style = (code: number) => (text: string) => `${own(code, "m")}${text}${own(0, "m")}`;

export const red = style(31);
export const green = style(32);
export const yellow = style(33);
export const cyan = style(36);
export const bold = style(1);
export const dim = style(2);

/** Erases the line of the cursor. */
export const eraseLine = own(2, "K");

/** Returns the output with a `write` that makes text safe. Styles are left out unless `keepsStyles`. */
export function safeOutput(output: Output, keepsStyles = true): Output {
  const sequence = (marked: string) => {
    const plain = marked.replace(`;${mark}`, "");
    if (plain.endsWith("K")) return `\r${plain}`;
    return keepsStyles ? plain : "";
  };
  const write = (text: string) => {
    // Own sequences are at the odd places.
    const pieces = text.split(ownSequence);
    return output.write(pieces.map((piece, at) => (at % 2 === 1 ? sequence(piece) : shown(piece, output))).join(""));
  };
  return Object.create(output, { write: { value: write } });
}

/** On a terminal, removes carriage returns at line ends. Others would overwrite the line and are shown as escapes. */
function shown(text: string, { isTerminal }: Output): string {
  return isTerminal ? visibleText(text.replaceAll("\r\n", "\n")) : text;
}

/**
 * Whether text on this output may have styles. A terminal has them unless it is dumb. NO_COLOR turns them off. FORCE_COLOR, except
 * `0` and `false`, turns them on for pipes too.
 */
export function hasStyles(output: Output, { NO_COLOR, FORCE_COLOR, TERM }: Io["env"]): boolean {
  if (NO_COLOR) return false;
  if (FORCE_COLOR) return FORCE_COLOR !== "0" && FORCE_COLOR !== "false";
  return output.isTerminal && TERM !== "dumb";
}

/*
 * What the colours mean, for every command: red is broken or failed, yellow needs the user's attention, green is well, cyan says what to do
 * next, and dim is beside the point.
 */
const well = /^(?:ready|ok$|signed in|approved|current|open$)/;
const bad = /^(?:broken|failed|denied|refused|crashed|not readable|timed out|out of|stack overflow|[A-Z_]{5,}$)/;
const attention = /^(?:needs|waits|signed out|not signed in|expired|stale|older|changed|disabled|not responding)/;

/** A state in the colour of what it means. */
export function stateCell(text: string): StyledCell {
  if (well.test(text)) return { text, style: green };
  if (bad.test(text)) return { text, style: red };
  return { text, style: attention.test(text) ? yellow : (whole) => whole };
}

export const warningLabel = `${yellow("warning")}:`;

const styles: Record<string, (line: string) => string> = { "---": dim, "+++": dim, "@@": cyan, "+": green, "-": red };

export function colouredDiff(diff: string): string {
  return diff.replace(/^(---|\+\+\+|@@|[+-]).*$/gm, (line, kind) => styles[kind]!(line));
}
