/** The difference of two texts as `diff -u` shows it. */
import { createTwoFilesPatch, FILE_HEADERS_ONLY } from "diff";

/** Returns an empty string if the texts are equal. Line ends count: `\r\n` differs from `\n`. */
export function unifiedDiff(name: string, from: string, to: string): string {
  if (from === to) return "";
  const options = { context: 3, headerOptions: FILE_HEADERS_ONLY };
  return createTwoFilesPatch(name, name, from, to, undefined, undefined, options).replaceAll("\r\n", "\n");
}
