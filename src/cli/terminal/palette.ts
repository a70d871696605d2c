/**
 * What the colours mean, for every command: red is broken or failed, yellow needs the user's attention, green is well, cyan says what to do
 * next, and dim is beside the point.
 */

import type { StyledCell } from "./table.ts";
import { cyan, dim, green, red, yellow } from "./terminal-output.ts";

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
