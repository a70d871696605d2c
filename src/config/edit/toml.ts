/**
 * Edits TOML and keeps every other byte: removes whole statements and adds one. No library does this: toml-patch removes
 * comments that belong to the next table and does not write servers as `[mcp_servers.name]` tables. Values are read by Bun,
 * because `getStaticTOMLValue` of toml-eslint-parser lets a key `__proto__` change all objects.
 */
import { type AST, getStaticTOMLValue, ParseError, parseTOML } from "toml-eslint-parser";
import { messageOf } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { invalidFile } from "./json.ts";

type Path = readonly (string | number)[];

/** Throws CONFIG_INVALID with the file, the line and the problem. */
export function parseToml(text: string, file: string): JsonObject {
  try {
    return Bun.TOML.parse(text) as JsonObject;
  } catch (cause) {
    const why = messageOf(cause).replace(/^TOML Parse error: /, "");
    throw invalidFile(file, text, wrongPlace(text), `not valid TOML: ${why}`);
  }
}

function wrongPlace(text: string): number {
  try {
    parseTOML(text);
    return 0;
  } catch (cause) {
    const before = text.slice(0, cause instanceof ParseError ? cause.index : 0);
    try {
      Bun.TOML.parse(before);
      return before.length;
    } catch {
      // Something is missing after the last character. The parser reports the next one.
      return before.trimEnd().length;
    }
  }
}

/** `[a.b]` or `[[a]]` with its values, or `key = value` above all tables. Throws CONFIG_INVALID. */
function statementsOf(text: string, file: string): AST.TOMLTopLevelTable["body"] {
  try {
    return parseTOML(text).body[0].body;
  } catch (cause) {
    throw invalidFile(file, text, wrongPlace(text), `not valid TOML: ${messageOf(cause)}`);
  }
}

/** The text without these members of the table, in any notation. */
export function removeFromTable(text: string, table: Path, names: ReadonlySet<string>, file: string): string {
  const isGone = (path: Path) => startsWith(path, table) && names.has(String(path[table.length]));
  let edited = text;
  // Backwards, so that earlier offsets stay valid.
  for (const statement of statementsOf(text, file).toReversed()) {
    if (statement.type === "TOMLTable" && isGone(statement.resolvedKey)) {
      edited = withoutStatement(edited, statement);
      continue;
    }
    for (const { path, member } of membersOf(statement).toReversed()) {
      const { value } = member;
      if (isGone(path)) edited = withoutStatement(edited, member);
      else if (value.type === "TOMLInlineTable" && isSame(path, table)) {
        const kept = value.body.filter(({ key }) => !names.has(getStaticTOMLValue(key)[0] ?? ""));
        if (kept.length < value.body.length) edited = withMembers(edited, value, kept.map(sourceIn(text)));
      }
    }
  }
  return edited;
}

/** The text with one more member of the table: beside the others, or at the end of the file. `value` has strings and lists of strings. */
export function addToTable(text: string, table: Path, name: string, value: JsonObject, file: string): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const statements = statementsOf(text, file);
  const members = statements.flatMap(membersOf);
  const inline = members.find(({ path }) => isSame(path, table))?.member.value;
  if (inline?.type === "TOMLInlineTable") {
    return withMembers(text, inline, [...inline.body.map(sourceIn(text)), `${keyText(name)} = ${inlineText(value)}`]);
  }
  const key = [...table, name].map(keyText).join(".");
  const dotted = statements.find((each) => each.type === "TOMLKeyValue" && startsWith(pathOf(each), table));
  if (dotted) return inserted(text, lineStart(text, dotted), `${key} = ${inlineText(value)}${eol}`);
  const lines = [`[${key}]`, ...Object.entries(value).map(([each, one]) => `${keyText(each)} = ${inlineText(one)}`)];
  const block = lines.map((line) => `${line}${eol}`).join("");
  const beside = statements.find(
    (each) => each.type === "TOMLTable" && each.kind === "standard" && startsWith(each.resolvedKey, table),
  );
  if (beside) return inserted(text, lineStart(text, beside), `${block}${eol}`);
  const end = text === "" || text.endsWith("\n") ? text : `${text}${eol}`;
  const gap = end.trim() === "" || /\n\r?\n$/.test(end) ? "" : eol;
  return `${end}${gap}${block}`;
}

interface Member {
  /** From the root. */
  path: Path;
  member: AST.TOMLKeyValue;
}

function membersOf(statement: AST.TOMLTable | AST.TOMLKeyValue): Member[] {
  if (statement.type === "TOMLKeyValue") return [{ path: pathOf(statement), member: statement }];
  return statement.body.map((member) => ({ path: [...statement.resolvedKey, ...pathOf(member)], member }));
}

function pathOf({ key }: AST.TOMLKeyValue): string[] {
  return getStaticTOMLValue(key);
}

/** Comments on their own lines below the statement stay. Blank lines below it are removed if there are also blank lines above it. */
function withoutStatement(text: string, statement: AST.TOMLNode): string {
  const start = lineStart(text, statement);
  const lineBreak = text.indexOf("\n", statement.range[1]);
  const end = lineBreak === -1 ? text.length : lineBreak + 1;
  const blank = /^(?:[ \t]*\r?\n)*/.exec(text.slice(end))?.[0] ?? "";
  const hasGap = start === 0 || /\n[ \t]*\r?\n$/.test(text.slice(0, start));
  return text.slice(0, start) + text.slice(end + (hasGap ? blank.length : 0));
}

/** Writes an inline table with these members. */
function withMembers(text: string, { range: [start, end] }: AST.TOMLInlineTable, members: string[]): string {
  const written = members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  return text.slice(0, start) + written + text.slice(end);
}

const sourceIn = (text: string) => (node: AST.TOMLNode) => text.slice(...node.range);

function inserted(text: string, offset: number, content: string): string {
  return text.slice(0, offset) + content + text.slice(offset);
}

function lineStart(text: string, { range: [start] }: AST.TOMLNode): number {
  return text.lastIndexOf("\n", start - 1) + 1;
}

function startsWith(path: Path, prefix: Path): boolean {
  return path.length > prefix.length && prefix.every((key, place) => path[place] === key);
}

function isSame(path: Path, other: Path): boolean {
  return path.length === other.length && other.every((key, place) => path[place] === key);
}

function keyText(key: string | number): string {
  return /^[A-Za-z0-9_-]+$/.test(String(key)) ? String(key) : JSON.stringify(key);
}

function inlineText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(inlineText).join(", ")}]`;
  if (isObject(value)) {
    const members = Object.entries(value).map(([key, each]) => `${keyText(key)} = ${inlineText(each)}`);
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  return JSON.stringify(value);
}
