/** Shows the difference of two texts as `diff -u` does. */
import { structuredPatch } from "diff";
import { cyan, dim, green, paint, red } from "./colours.ts";

/** Returns an empty string if the texts are equal. Line ends count: `\r\n` differs from `\n`. */
export function unifiedDiff(name: string, from: string, to: string, colours = false): string {
  const { hunks } = structuredPatch(name, name, from, to, "", "", { context: 3 });
  if (hunks.length === 0) return "";
  const lines = hunks.flatMap(({ oldStart, oldLines, newStart, newLines, lines }) => [
    paint(`@@ -${rangeText(oldStart, oldLines)} +${rangeText(newStart, newLines)} @@`, cyan, colours),
    ...lines.map((line) => lineText(line.replace(/\r$/, ""), colours)),
  ]);
  return `${[paint(`--- ${name}`, dim, colours), paint(`+++ ${name}`, dim, colours), ...lines].join("\n")}\n`;
}

/** An empty range names the line before it, as in POSIX. */
function rangeText(start: number, lines: number): string {
  return `${lines === 0 ? start - 1 : start},${lines}`;
}

function lineText(line: string, colours: boolean): string {
  return line.startsWith("-") ? paint(line, red, colours) : line.startsWith("+") ? paint(line, green, colours) : line;
}
