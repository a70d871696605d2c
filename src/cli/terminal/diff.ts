/** Shows the difference of two texts as `diff -u` does. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";
import { cyan, dim, green, red } from "./terminal-output.ts";

/** Returns an empty string if the texts are equal. Line ends count: `\r\n` differs from `\n`. */
export function unifiedDiff(name: string, from: string, to: string): string {
  if (from === to) return "";
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(name, name, from, to, undefined, undefined, options).replaceAll("\r\n", "\n");
}

const styles: Record<string, (line: string) => string> = { "---": dim, "+++": dim, "@@": cyan, "+": green, "-": red };

export function colouredDiff(diff: string): string {
  return diff.replace(/^(---|\+\+\+|@@|[+-]).*$/gm, (line, kind) => styles[kind]!(line));
}
