/** `console`: shows values as Node does, and sends every line to the host, in order and with its level. */
import { host } from "./host.ts";
import { formatWithOptions, type InspectOptions, inspect, logOptions } from "./inspect.ts";

let indent = "";
const counts = new Map<string, number>();
const timers = new Map<string, number>();

function write(level: string, values: unknown[]): void {
  print(level, logged(values));
}

function print(level: string, text: string): void {
  host.log(level, indent ? text.replace(/^/gm, indent) : text);
}

function time(label: string, values: unknown[]): void {
  const since = timers.get(label);
  if (since === undefined) write("warn", [`There is no timer called "${label}"`]);
  else write("log", [`${label}: ${(host.now() - since).toFixed(1)}ms`, ...values]);
}

export const guestConsole = {
  log: (...values: unknown[]) => write("log", values),
  info: (...values: unknown[]) => write("info", values),
  debug: (...values: unknown[]) => write("debug", values),
  warn: (...values: unknown[]) => write("warn", values),
  error: (...values: unknown[]) => write("error", values),
  trace: (...values: unknown[]) => write("debug", ["Trace:", ...values]),
  dir: (value: unknown, options: InspectOptions = {}) =>
    print("log", inspected(value, { customInspect: false, ...options })),
  dirxml: (...values: unknown[]) => write("log", values),
  table: (rows: unknown, columns?: string[]) => {
    const table = textTable(rows, columns);
    if (table === undefined) write("log", [rows]);
    else print("log", table);
  },
  assert: (condition: unknown, ...values: unknown[]) => {
    if (condition) return;
    const [first, ...rest] = values;
    if (typeof first === "string") write("error", [`Assertion failed: ${first}`, ...rest]);
    else write("error", values.length === 0 ? ["Assertion failed"] : ["Assertion failed:", ...values]);
  },
  clear: () => {},
  count: (label: unknown = "default") => {
    const name = String(label);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    print("log", `${name}: ${count}`);
  },
  countReset: (label: unknown = "default") => void counts.delete(String(label)),
  group: (...values: unknown[]) => {
    if (values.length > 0) write("log", values);
    indent += "  ";
  },
  groupCollapsed: (...values: unknown[]) => guestConsole.group(...values),
  groupEnd: () => {
    indent = indent.slice(2);
  },
  time: (label: unknown = "default") => void timers.set(String(label), host.now()),
  timeLog: (label: unknown = "default", ...values: unknown[]) => time(String(label), values),
  timeEnd: (label: unknown = "default") => {
    time(String(label), []);
    timers.delete(String(label));
  },
  timeStamp: () => {},
  profile: () => {},
  profileEnd: () => {},
};

const literal = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\\n]|\\.)*`/.source;
const lines = new RegExp(`(?:${literal})(?: \\+\\n *(?:${literal}))+`, "g");

/** Longer output is left as it is, because searching it takes too long. */
const maxChars = 500_000;

/** A text on its own, and texts beside others, are shown as they are. */
export function logged(values: readonly unknown[]): string {
  if (values.length === 1 && typeof values[0] === "string") return values[0];
  try {
    return joined(values);
  } catch {
    // The program has broken the prototypes.
    return formatWithOptions(logOptions, ...values);
  }
}

function joined(values: readonly unknown[]): string {
  const [first] = values;
  // A first text with `%` says how the others are shown.
  if (typeof first === "string" && first.includes("%")) return formatWithOptions(logOptions, ...values);
  return values.map((value) => (typeof value === "string" ? value : withLines(inspect(value, logOptions)))).join(" ");
}

/** Shows one value. */
export function inspected(value: unknown, options: InspectOptions): string {
  const text = inspect(value, { ...logOptions, ...options });
  try {
    return withLines(text);
  } catch {
    return text;
  }
}

/** `{ a: 'one\n' + 'two' }` becomes a text in backticks with a line break in it. */
function withLines(text: string): string {
  if (text.length > maxChars || !/\\n['"`] \+\n/.test(text)) return text;
  return text.replace(lines, (found) => {
    const parts = found.match(new RegExp(literal, "g")) ?? [];
    return `\`${parts.map((part) => unescaped(part.slice(1, -1))).join("")}\``;
  });
}

const plain: Record<string, string> = { n: "\n", t: "\t" };

/** Other escapes stay, because what they stand for cannot be seen. */
function unescaped(text: string): string {
  return text.replace(/\\([nt'"`\\])/g, (_, letter: string) => plain[letter] ?? letter);
}

/** Renders the table of `console.table` as aligned text. Returns undefined if the data has no rows. It is then logged as it is. */
function textTable(data: unknown, columns?: string[]): string | undefined {
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
