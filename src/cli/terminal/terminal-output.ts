/**
 * Makes text safe for a terminal, and styles it. Only the styles of claudikins, which carry a random mark, reach a terminal as control
 * sequences; all others are shown as escapes. A pipe or a file gets text from elsewhere unchanged, and no styles.
 */
import { visibleText } from "../../base/visible-text.ts";
import type { Io, Output } from "../io.ts";

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
