/**
 * Edits TOML and keeps every other byte: removes whole statements and adds one. No library does this: toml-patch removes
 * comments that belong to the next table and does not write servers as `[mcp_servers.name]` tables.
 */
import { messageOf } from "../../errors.ts";
import { isObject, type JsonObject, valueAt } from "../../json-object.ts";
import { invalidFile } from "./invalid-file.ts";

type Path = readonly string[];

/** Throws CONFIG_INVALID with the file, the line and the problem. */
export function parseToml(text: string, file: string): JsonObject {
  try {
    return Bun.TOML.parse(text) as JsonObject;
  } catch (cause) {
    const why = messageOf(cause).replace(/^TOML Parse error: /, "");
    throw invalidFile(file, text, firstWrong(text), `not valid TOML: ${why}`);
  }
}

/** The offset of the first statement that makes the text invalid. */
function firstWrong(text: string): number {
  for (const { start, end } of statementsOf(text)) {
    try {
      Bun.TOML.parse(text.slice(0, end));
    } catch {
      return start;
    }
  }
  return 0;
}

/** `[a.b]`, `[[a]]`, or `key = value`. */
interface Statement {
  /** The full path, from the root. */
  path: Path;
  kind: "table" | "array" | "value";
  /** The range of all its lines, with the last line break. */
  start: number;
  end: number;
  /** The range of the value. */
  valueStart: number;
  valueEnd: number;
}

/** The text without these members of the table, in any notation. */
export function removeFromTable(text: string, table: Path, names: ReadonlySet<string>): string {
  let edited = text;
  // Backwards, so that earlier offsets stay valid.
  for (const statement of outermost(statementsOf(text), table, names).toReversed()) {
    const isTable = statement.kind === "value" && isSame(statement.path, table);
    edited = isTable ? withoutInline(edited, statement, names) : withoutStatement(edited, statement);
  }
  return edited;
}

/** The text with one more member of the table: beside the others, or at the end of the file. `value` has strings and lists of strings. */
export function addToTable(text: string, table: Path, name: string, value: JsonObject): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const statements = statementsOf(text);
  const inline = statements.find(({ kind, path }) => kind === "value" && isSame(path, table));
  if (inline) {
    const inside = text.slice(inline.valueStart + 1, inline.valueEnd - 1).replace(/^\s+|[\s,]+$/g, "");
    const members = [...(inside === "" ? [] : [inside]), `${keyText(name)} = ${inlineText(value)}`];
    return `${text.slice(0, inline.valueStart)}{ ${members.join(", ")} }${text.slice(inline.valueEnd)}`;
  }
  const dotted = statements.find(
    ({ kind, path }, place) =>
      kind === "value" && startsWith(path, table) && !statements.slice(0, place).some((each) => each.kind !== "value"),
  );
  if (dotted) {
    const line = `${[...table, name].map(keyText).join(".")} = ${inlineText(value)}${eol}`;
    return text.slice(0, dotted.start) + line + text.slice(dotted.start);
  }
  const lines = [
    `[${[...table, name].map(keyText).join(".")}]`,
    ...Object.entries(value).map(([key, each]) => `${keyText(key)} = ${inlineText(each)}`),
  ];
  const block = lines.map((line) => `${line}${eol}`).join("");
  const beside = statements.find(
    ({ kind, path }) => kind === "table" && path.length > table.length && startsWith(path, table),
  );
  if (beside) return `${text.slice(0, beside.start)}${block}${eol}${text.slice(beside.start)}`;
  const end = text === "" || text.endsWith("\n") ? text : `${text}${eol}`;
  const gap = end.trim() === "" || /\n\r?\n$/.test(end) ? "" : eol;
  return `${end}${gap}${block}`;
}

/** The statements to remove, none inside another; and the table itself if it is an inline table. */
function outermost(statements: Statement[], table: Path, names: ReadonlySet<string>): Statement[] {
  const gone = statements.filter(
    ({ path, kind }) =>
      (startsWith(path, table) && names.has(path[table.length] ?? "")) || (kind === "value" && isSame(path, table)),
  );
  return gone.filter(
    (inner) => !gone.some((outer) => outer !== inner && outer.start <= inner.start && inner.end <= outer.end),
  );
}

/** Comments on their own lines below the statement stay. Blank lines below it are removed if there are also blank lines above it. */
function withoutStatement(text: string, { start, end }: Statement): string {
  const blank = /^(?:[ \t]*\r?\n)*/.exec(text.slice(end))?.[0] ?? "";
  const hasGap = start === 0 || /\n[ \t]*\r?\n$/.test(text.slice(0, start));
  return text.slice(0, start) + text.slice(end + (hasGap ? blank.length : 0));
}

/** Writes an inline table again without the named members. The text stays as it is if a value, such as a date, would change. */
function withoutInline(text: string, { valueStart, valueEnd }: Statement, names: ReadonlySet<string>): string {
  const source = text.slice(valueStart, valueEnd);
  const value = (Bun.TOML.parse(`v = ${source}`) as JsonObject)["v"];
  if (!isObject(value) || !Object.keys(value).some((name) => names.has(name))) return text;
  const kept = Object.fromEntries(Object.entries(value).filter(([name]) => !names.has(name)));
  const bare = (written: string) => written.replace(/\s/g, "");
  const isSameAgain = Object.values(kept).every((each) => bare(source).includes(bare(inlineText(each))));
  return isSameAgain ? text.slice(0, valueStart) + inlineText(kept) + text.slice(valueEnd) : text;
}

function startsWith(path: Path, prefix: Path): boolean {
  return path.length > prefix.length && prefix.every((key, place) => path[place] === key);
}

function isSame(path: Path, other: Path): boolean {
  return path.length === other.length && other.every((key, place) => path[place] === key);
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

function inlineText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inlineText).join(", ")}]`;
  if (isObject(value)) {
    const members = Object.entries(value).map(([key, each]) => `${keyText(key)} = ${inlineText(each)}`);
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  return JSON.stringify(value);
}

/** The statements of the text in order, as far as it is valid. */
function statementsOf(text: string): Statement[] {
  const statements: Statement[] = [];
  let table: Path = [];
  for (let at = 0; at < text.length; ) {
    const blank = /^[ \t]*(?:#[^\n]*)?(?:\n|$)|^[ \t]*\r\n/.exec(text.slice(at, lineEnd(text, at)));
    if (blank) {
      at = lineEnd(text, at);
      continue;
    }
    const start = at;
    const header = /^[ \t]*(\[\[?)/.exec(text.slice(at, lineEnd(text, at)));
    if (header) {
      table = keysOf(text, start + header[0].length).keys;
      const end = lineEnd(text, start);
      const kind = header[1] === "[[" ? "array" : "table";
      statements.push({ path: table, kind, start, end, valueStart: end, valueEnd: end });
      at = end;
      continue;
    }
    const { keys, end: afterKeys } = keysOf(text, start);
    const valueStart =
      afterKeys + (/^[ \t]*=[ \t]*/.exec(text.slice(afterKeys, lineEnd(text, afterKeys)))?.[0].length ?? 0);
    const valueEnd = endOfValue(text, valueStart);
    at = lineEnd(text, valueEnd);
    statements.push({ path: [...table, ...keys], kind: "value", start, end: at, valueStart, valueEnd });
  }
  return withBodies(statements);
}

/** Extends the range of each table to its last value. */
function withBodies(statements: Statement[]): Statement[] {
  return statements.map((statement, place) => {
    if (statement.kind === "value") return statement;
    const next = statements.findIndex((each, at) => at > place && each.kind !== "value");
    const last = statements[(next === -1 ? statements.length : next) - 1];
    return { ...statement, end: last?.end ?? statement.end };
  });
}

function lineEnd(text: string, at: number): number {
  const end = text.indexOf("\n", at);
  return end === -1 ? text.length : end + 1;
}

/** Reads a dotted key such as `a."b c".'d'`. `end` is the offset after it. */
function keysOf(text: string, at: number): { keys: string[]; end: number } {
  const keys: string[] = [];
  const part = /[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)'|([A-Za-z0-9_-]+))[ \t]*(\.)?/y;
  let end = at;
  for (let isMore = true; isMore; ) {
    part.lastIndex = end;
    const found = part.exec(text);
    if (!found) break;
    const [whole, basic, literal, bare, dot] = found;
    keys.push(basic === undefined ? (literal ?? bare ?? "") : unescaped(basic));
    end += whole.length;
    isMore = dot !== undefined;
  }
  return { keys, end };
}

function unescaped(text: string): string {
  try {
    return String(valueAt(Bun.TOML.parse(`v = "${text}"`), ["v"]));
  } catch {
    return text;
  }
}

/** The offset after a value, past strings, comments and brackets. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  let lastSign = from;
  for (let at = from; at < text.length; ) {
    const quote = /^(?:"""|'''|["'])/.exec(text.slice(at, at + 3))?.[0];
    if (quote) {
      at = endOfText(text, at + quote.length, quote);
      lastSign = at;
      continue;
    }
    const sign = text[at];
    if (sign === "#") {
      at = Math.max(at, lineEnd(text, at) - (depth > 0 ? 0 : 1));
      if (depth === 0) return lastSign;
      continue;
    }
    if (sign === "[" || sign === "{") depth += 1;
    if (sign === "]" || sign === "}") depth -= 1;
    if (sign === "\n" && depth <= 0) return lastSign;
    at += 1;
    if (!/\s/.test(sign ?? "")) lastSign = at;
  }
  return lastSign;
}

function endOfText(text: string, from: number, quote: string): number {
  for (let at = from; at < text.length; at++) {
    if (quote[0] === '"' && text[at] === "\\") at += 1;
    else if (text.startsWith(quote, at)) {
      // Up to two quotes may precede the closing ones.
      let end = at + quote.length;
      if (quote.length === 3) while (text[end] === quote[0] && end < at + 5) end += 1;
      return end;
    } else if (quote.length === 1 && text[at] === "\n") return at;
  }
  return text.length;
}
