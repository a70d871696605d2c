/** Renders the table of `console.table` as aligned text. */
import { inspect } from "./inspect.ts";

/** Returns undefined if the data has no rows. It is then logged as it is. */
export function textTable(data: unknown, columns?: string[]): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const isCollection = data instanceof Map || data instanceof Set;
  const entries = isCollection ? Object.entries([...data.values()]) : Object.entries(data as Record<string, unknown>);
  const keys = data instanceof Map ? [...data.keys()] : undefined;
  const names = columns?.map(String) ?? [
    ...new Set(entries.flatMap(([, row]) => (isRecord(row) ? Object.keys(row) : []))),
  ];
  const hasValues = entries.some(([, row]) => !isRecord(row));
  const lines = entries.map(([index, row], at) => [
    index,
    ...(keys ? [cell(keys[at])] : []),
    ...names.map((name) => (isRecord(row) && name in row ? cell(row[name]) : "")),
    ...(hasValues ? [isRecord(row) ? "" : cell(row)] : []),
  ]);
  const index = isCollection ? "(iteration index)" : "(index)";
  return aligned([[index, ...(keys ? ["Key"] : []), ...names, ...(hasValues ? ["Values"] : [])], ...lines]);
}

const isRecord = (value: unknown): value is Record<string, unknown> => {
  if (typeof value !== "object" || value === null) return false;
  return !(value instanceof Date || value instanceof Map || value instanceof Set || value instanceof Error);
};

function cell(value: unknown): string {
  const shown = typeof value === "string" ? value : inspect(value, { depth: 1, breakLength: Infinity, compact: true });
  const line = shown.replaceAll("\n", "\\n");
  return line.length <= maxCell ? line : `${line.slice(0, 60)}… (${line.length - 60} more characters)`;
}

/** Longer cells are shortened, because every row is padded to the longest cell of its column. */
const maxCell = 300;

function aligned(lines: string[][]): string {
  const widths: number[] = [];
  for (const line of lines)
    for (const [at, text] of line.entries()) widths[at] = Math.max(widths[at] ?? 0, widthOf(text));
  const padded = lines.map((line) =>
    line
      .map((text, at) => text + " ".repeat(widths[at]! - widthOf(text)))
      .join(" | ")
      .trimEnd(),
  );
  const rule = widths.map((width) => "-".repeat(width)).join("-|-");
  return [padded[0], rule, ...padded.slice(1)].join("\n");
}

/** Returns the number of terminal columns of a text. Wide characters take two. */
function widthOf(text: string): number {
  let width = 0;
  for (const char of text) {
    if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(char)) continue;
    width +=
      /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]/.test(char) ||
      char > "\u{1f2ff}"
        ? 2
        : 1;
  }
  return width;
}
