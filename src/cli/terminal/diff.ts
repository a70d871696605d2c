/** Colours the difference of two texts for a terminal. */
import { cyan, dim, green, red } from "./terminal-output.ts";

const styles: Record<string, (line: string) => string> = { "---": dim, "+++": dim, "@@": cyan, "+": green, "-": red };

export function colouredDiff(diff: string): string {
  return diff.replace(/^(---|\+\+\+|@@|[+-]).*$/gm, (line, kind) => styles[kind]!(line));
}
