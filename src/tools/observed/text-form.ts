/**
 * The form of a text that a tool returns, such as JSON lines or CSV with these columns. A form is stored, so the only words that it takes
 * from the text are names of columns and well-known marks.
 */
import { parsedJson } from "../../base/json-object.ts";
import { isJson } from "../../servers/result.ts";
import { looksLikeData } from "./data-keys.ts";

/** Characters of a text that are looked at for its form. */
const maxFormChars = 20_000;

/** Lines of a text that are looked at for its form. */
const maxFormLines = 200;

/** Columns or marks of a form. */
const maxFormNames = 12;

/** A kind of text, and names in it: columns or marks. */
export type TextForm = [kind: FormKind, ...names: string[]];

const kinds = {
  sentence: "a sentence",
  text: "",
  "json lines": "one JSON value per line",
  "fenced json": "JSON in a code fence",
  "line and json": "a line, then JSON",
  csv: "CSV",
  tsv: "tab-separated",
  "markdown table": "Markdown table",
  markdown: "Markdown",
  markup: "XML or HTML",
  paths: "one path per line",
  marks: "lines",
  pairs: 'lines "key: value"',
  bullets: 'lines "- …"',
  numbers: 'lines "1. …"',
  lines: "one entry per line",
} as const;
type FormKind = keyof typeof kinds;

/** Marks at the beginning of lines that are not data. */
const knownMarks =
  /^\[(?:FILE|DIR|LINK|SYMLINK|INFO|WARN|WARNING|ERROR|DEBUG|OK|PASS|FAIL|SKIP|TODO|DONE|OPEN|CLOSED|NEW)\]$/;

/** Undefined if the text says nothing about its form. `hasOwnNames` is false if the names of columns depend on the arguments of the call. */
export function formOf(text: string, hasOwnNames: boolean): TextForm | undefined {
  const whole = text.slice(0, maxFormChars).trim();
  const lines = whole.split(/\r?\n/).slice(0, maxFormLines);
  // The last line of a long text may be cut.
  if (text.length > maxFormChars) lines.pop();
  if (lines.length === 1) return /\s/.test(whole) ? ["sentence"] : undefined;
  const all = (pattern: RegExp) => lines.every((line) => pattern.test(line));
  if (/^```json\s*\n[\s\S]*\n```$/.test(text.trim())) return ["fenced json"];
  if (all(/^\s*[[{].*[\]}]\s*$/) && lines.slice(0, 5).every((line) => parsedJson(line) !== undefined))
    return ["json lines"];
  const rest = text.slice(text.trimStart().indexOf("\n") + 1);
  if (text.length <= maxFormChars && /^\s*[[{]/.test(rest) && isJson(rest)) return ["line and json"];
  if (/^\|.*\|$/.test(lines[0] ?? "") && /^\|[\s:|-]+\|$/.test(lines[1] ?? ""))
    return ["markdown table", ...columns(cellsOf(lines[0]!.slice(1, -1), "|"), hasOwnNames)];
  if (/^<[a-z!?]/i.test(whole)) return ["markup"];
  if (/^#{1,4} \S/.test(whole)) return ["markdown"];
  for (const [kind, separator] of [
    ["csv", ","],
    ["tsv", "\t"],
  ] as const) {
    const table = tableOf(lines, separator);
    if (table) return [kind, ...columns(table, hasOwnNames)];
  }
  // A first line such as "Found 3 files:" is not one of the entries.
  const entries = lines.length > 2 && /:\s*$/.test(lines[0]!) ? lines.slice(1).filter((line) => line !== "") : lines;
  return formOfEntries(entries);
}

function formOfEntries(entries: readonly string[]): TextForm {
  const all = (pattern: RegExp) => entries.every((line) => pattern.test(line));
  if (all(/^\[[A-Z]{2,16}\] /)) {
    const marks = new Set(entries.map((line) => line.slice(0, line.indexOf("]") + 1)));
    const known = [...marks].every((mark) => knownMarks.test(mark)) ? [...marks].sort() : [];
    return ["marks", ...known.slice(0, maxFormNames)];
  }
  if (all(/^(?:\.{0,2}\/|[A-Za-z]:\\|[\w.@-]+\/)\S*$/)) return ["paths"];
  if (all(/^\s*[-*•] /)) return ["bullets"];
  if (all(/^\s*\d+[.)] /)) return ["numbers"];
  if (all(/^\s*[A-Za-z][\w -]{0,30}: /)) return ["pairs"];
  return all(/^(?=.{1,200}$).*[^.:;{}\s]$/) ? ["lines"] : ["text"];
}

/** The first line as names of columns, if a column has numbers or dates below a heading that is neither. */
function tableOf(lines: readonly string[], separator: string): string[] | undefined {
  const rows = lines.map((line) => cellsOf(line, separator));
  const [header = [], ...others] = rows;
  if (header.length < 2 || others.length === 0 || !rows.every(({ length }) => length === header.length))
    return undefined;
  const isName = (cell: string) => /^[\p{L}_][\p{L}\p{N}_ ]*$/u.test(cell);
  const isHeader = header.every(isName) && header.some((_, at) => others.every((row) => /^-?\d/.test(row[at] ?? "")));
  return isHeader ? header : undefined;
}

function cellsOf(line: string, separator: string): string[] {
  const unquoted = line.replace(/"(?:[^"]|"")*"/g, (quoted) => quoted.replaceAll(separator, " "));
  return unquoted.split(separator).map((cell) => cell.trim());
}

/** Returns no names if one of them looks like data. */
function columns(names: readonly string[], hasOwnNames: boolean): string[] {
  const isSure = hasOwnNames && !names.some((name) => looksLikeData(name.replaceAll(" ", "_")));
  return isSure ? names.slice(0, maxFormNames) : [];
}

/** The form of both. Order and grouping do not matter. A tool that answers with a sentence has often found nothing. */
export function mergedForm(a: TextForm | undefined, b: TextForm | undefined): TextForm | undefined {
  if (a === undefined || a[0] === "sentence") return b ?? a;
  if (b === undefined || b[0] === "sentence") return a;
  const [kind, ...names] = a;
  const [other, ...otherNames] = b;
  if (kind !== other) return ["text"];
  if (kind === "marks" && names.length > 0 && otherNames.length > 0) {
    return ["marks", ...[...new Set([...names, ...otherNames])].sort().slice(0, maxFormNames)];
  }
  return names.join() === otherNames.join() ? a : [kind];
}

/** Whether merging the form of a text into one that is known would change nothing. False in doubt: only texts of one line are looked at. */
export function addsNoForm(text: string, known: TextForm | undefined): boolean {
  if (text.length > maxFormChars) return false;
  const line = text.trim();
  return !line.includes("\n") && (known !== undefined || !/\s/.test(line));
}

/** Reads a form from a file that may have been edited. Undefined for an invalid one. */
export function readForm(value: unknown): TextForm | undefined {
  const isForm =
    Array.isArray(value) && Object.hasOwn(kinds, String(value[0])) && value.every((each) => typeof each === "string");
  const hasNames =
    isForm && value.slice(1).every((name) => knownMarks.test(name) || /^[\p{L}_][\p{L}\p{N}_ -]{0,60}$/u.test(name));
  return hasNames ? (value as TextForm) : undefined;
}

/** `CSV: id, name`; empty if there is nothing to say. */
export function formText([kind, ...names]: TextForm): string {
  if (kind === "marks")
    return names.length > 0 ? `lines ${names.map((mark) => `"${mark} …"`).join(", ")}` : 'lines "[MARK] …"';
  return names.length > 0 ? `${kinds[kind]}: ${names.join(", ")}` : kinds[kind];
}
