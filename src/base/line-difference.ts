/** The difference of two texts, line by line, in a limited time. */
import { diffLines } from "diff";

/** Time that the comparison of two texts takes at most, in milliseconds. Texts that need longer are shown one after the other. */
const comparingMs = 50;

export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
}

/** The lines of both texts in order: those that both have, and those that were removed or added. */
export function lineDifference(from: string, to: string): DiffLine[] {
  const parts = diffLines(from, to, { timeout: comparingMs }) ?? [
    { value: from, added: false, removed: true },
    { value: to, added: true, removed: false },
  ];
  return parts.flatMap(({ value, added, removed }) => {
    const kind = added ? "added" : removed ? "removed" : "same";
    const lines = value === "" ? [] : value.replace(/\n$/, "").split("\n");
    return lines.map((text): DiffLine => ({ kind, text }));
  });
}
