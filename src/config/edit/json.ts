/**
 * Edits JSON with comments and keeps every other byte. `modify` of jsonc-parser cannot be used: it reformats one-line objects,
 * removes comments beside a removed member, and leaves `{,}` after the last member with a trailing comma.
 */
import { createScanner, getNodeValue, type Node, type ParseError, parseTree } from "jsonc-parser";
import { ClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { syntaxText } from "../problems.ts";

type Path = readonly string[];

/** The error for a settings file that cannot be read: CONFIG_INVALID with the file, the line of the offset, and what is wrong there. */
export function invalidFile(file: string, text: string, offset: number, why: string): ClaudikinsError {
  const line = text.slice(0, offset).split("\n").length;
  return new ClaudikinsError("CONFIG_INVALID", `${file}:${line}: ${why}`, {
    hint: "Fix the file and run the command again. The file was not changed.",
  });
}

/** Parses the text; an empty file is an empty object. Throws CONFIG_INVALID with the file, the line and the problem. */
export function parseJson(text: string, file: string): JsonObject {
  const root = treeOf(text, file);
  // Its objects have no prototype, so that `__proto__` is an ordinary key.
  const value: unknown = root ? getNodeValue(root) : {};
  if (isObject(value)) return value;
  throw invalidFile(file, text, 0, "expected an object");
}

/** The text with the value at the path: replaced if it exists, else added as the last member of its object. */
export function setMember(text: string, path: Path, value: unknown, file: string): string {
  const root = treeOf(text, file);
  if (!root) return `${text}${written(nestedIn(path, value), layoutOf(text), "")}${layoutOf(text).eol}`;
  let parent = root;
  for (const [depth, key] of path.entries()) {
    if (parent.type !== "object") throw invalidFile(file, text, parent.offset, `expected an object around "${key}"`);
    const member = membersOf(parent, key).at(-1);
    if (!member) return appended(text, parent, key, nestedIn(path.slice(depth + 1), value));
    parent = member.children![1]!;
  }
  const layout = layoutOf(text);
  return spliced(text, parent.offset, parent.length, written(value, layout, indentAt(text, parent.offset)));
}

/** The text without these members of the object at the path. Comments between members stay. */
export function removeMembers(text: string, path: Path, names: readonly string[], file: string): string {
  const object = nodeAt(text, path, file);
  if (object?.type !== "object") return text;
  // Only the object is parsed again for each name, because the file may be large.
  let source = text.slice(object.offset, object.offset + object.length);
  for (const name of names) {
    for (;;) {
      const root = treeOf(source, file);
      const member = root && membersOf(root, name).at(-1);
      if (!root || !member) break;
      source = withoutMember(source, root, member);
    }
  }
  return spliced(text, object.offset, object.length, source);
}

/** The text with an item added to the end of a list. */
export function appendItem(text: string, path: Path, item: string, file: string): string {
  const node = nodeAt(text, path, file);
  if (node?.type !== "array") return text;
  const last = node.children?.at(-1);
  if (!last) return spliced(text, node.offset + 1, 0, JSON.stringify(item));
  const before = text.slice(0, last.offset);
  const gap = /\n[ \t]*$/.test(before) ? `${layoutOf(text).eol}${indentAt(text, last.offset)}` : " ";
  return spliced(text, last.offset + last.length, 0, `,${gap}${JSON.stringify(item)}`);
}

/** The text with another list of texts at the path. The items that stay keep their places and comments. */
export function setItems(text: string, path: Path, items: readonly string[], file: string): string {
  const known = nodeAt(text, path, file);
  const length = known?.type === "array" ? (known.children?.length ?? 0) : 0;
  if (length === 0 || items.length < length) return setMember(text, path, items, file);
  let edited = text;
  for (const [at, item] of items.slice(0, length).entries()) {
    const node = nodeAt(edited, path, file)?.children?.[at];
    if (node && node.value !== item) edited = spliced(edited, node.offset, node.length, JSON.stringify(item));
  }
  return items.slice(length).reduce((done, item) => appendItem(done, path, item, file), edited);
}

/** The text without an item of a list. */
export function removeItem(text: string, path: Path, item: string, file: string): string {
  let edited = text;
  for (;;) {
    const node = nodeAt(edited, path, file);
    const found = node?.type === "array" ? node.children?.find(({ value }) => value === item) : undefined;
    if (!node || !found) return edited;
    edited = withoutMember(edited, node, found);
  }
}

/** Undefined if the text has only comments. */
function treeOf(text: string, file: string): Node | undefined {
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, allowEmptyContent: true });
  const [first] = errors;
  if (first) throw invalidFile(file, text, first.offset, syntaxText(text, first));
  return root;
}

/** The value at a path of keys. If several members have the same key, the last one counts. */
function nodeAt(text: string, path: Path, file: string): Node | undefined {
  let node = treeOf(text, file);
  for (const key of path) node = node && membersOf(node, key).at(-1)?.children?.[1];
  return node;
}

function membersOf(object: Node, key: string): Node[] {
  if (object.type !== "object") return [];
  return (object.children ?? []).filter(({ children }) => children?.[0]?.value === key && children[1]);
}

interface Layout {
  eol: string;
  unit: string;
}

/** The file's line breaks and indentation. */
function layoutOf(text: string): Layout {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /\n([ \t]+)["}\]]/.exec(text)?.[1] ?? "  ";
  return { eol, unit: unit.startsWith("\t") ? "\t" : unit };
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? "";
}

/** The source of a value, whose further lines are indented by `indent`. Short lists are written on one line. */
function written(value: unknown, layout: Layout, indent: string): string {
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) return JSON.stringify(value);
  const inner = `${indent}${layout.unit}`;
  const members = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([key, each]) => (isList ? "" : `${JSON.stringify(key)}: `) + written(each, layout, inner));
  const [open, close] = isList ? "[]" : "{}";
  const oneLine = `${open}${members.join(", ")}${close}`;
  if (members.length === 0 || (isList && oneLine.length <= 80 && !oneLine.includes("\n"))) return oneLine;
  return `${open}${layout.eol}${inner}${members.join(`,${layout.eol}${inner}`)}${layout.eol}${indent}${close}`;
}

function nestedIn(path: Path, value: unknown): unknown {
  return path.reduceRight((inner, key) => ({ [key]: inner }), value);
}

function appended(text: string, object: Node, key: string, value: unknown): string {
  const layout = layoutOf(text);
  const last = object.children?.at(-1);
  const close = object.offset + object.length - 1;
  if (!last) {
    const outer = indentAt(text, object.offset);
    const inner = text.slice(object.offset + 1, close).trimEnd();
    const member = `${JSON.stringify(key)}: ${written(value, layout, outer + layout.unit)}`;
    const content = `${inner}${layout.eol}${outer}${layout.unit}${member}${layout.eol}${outer}`;
    return spliced(text, object.offset + 1, close - object.offset - 1, content);
  }
  const end = last.offset + last.length;
  const comma = commaAfter(text, end);
  const isOneLine = !text.slice(object.offset, last.offset).includes("\n");
  if (isOneLine) {
    const member = `${JSON.stringify(key)}: ${JSON.stringify(value)}`;
    return comma === undefined ? spliced(text, end, 0, `, ${member}`) : spliced(text, comma + 1, 0, ` ${member},`);
  }
  const indent = indentAt(text, last.offset);
  const member = `${layout.eol}${indent}${JSON.stringify(key)}: ${written(value, layout, indent)}`;
  // A comment on the line of the last member stays with it.
  const from = comma === undefined ? end : comma + 1;
  const comment =
    /^[ \t]*(?:\/\/[^\r\n]*|\/\*[^\r\n]*?\*\/)(?=[ \t]*\r?\n)/.exec(text.slice(from, close + 1))?.[0] ?? "";
  const place = from + comment.length;
  const withMember = spliced(text, place, 0, comma === undefined ? member : `${member},`);
  return comma === undefined ? spliced(withMember, end, 0, ",") : withMember;
}

function withoutMember(text: string, object: Node, member: Node): string {
  const members = object.children ?? [];
  let [start, end] = [member.offset, member.offset + member.length];
  const comma = commaAfter(text, end);
  const before = members[members.indexOf(member) - 1];
  let edited = text;
  if (comma !== undefined) {
    const between = text.slice(end, comma);
    // A comment before the comma stays.
    if (between.trim() === "") end = comma + 1;
    else edited = spliced(text, comma, 1, "");
  } else if (before) {
    const previous = commaAfter(text, before.offset + before.length);
    if (previous !== undefined) {
      edited = spliced(text, previous, 1, "");
      start -= 1;
      end -= 1;
    }
  }
  // Removes whole lines if nothing else is on them, else the spaces before the next member.
  const lineStart = edited.lastIndexOf("\n", start - 1) + 1;
  const rest = /^[ \t]*\r?\n/.exec(edited.slice(end))?.[0];
  if (edited.slice(lineStart, start).trim() === "" && rest !== undefined) {
    return spliced(edited, lineStart, end + rest.length - lineStart, "");
  }
  const spaces = /^[ \t]*/.exec(edited.slice(end))?.[0].length ?? 0;
  return spliced(edited, start, end + spaces - start, "");
}

/** The offset of the comma after a value, past spaces and comments. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  scanner.scan();
  return text[scanner.getTokenOffset()] === "," ? scanner.getTokenOffset() : undefined;
}

function spliced(text: string, offset: number, length: number, content: string): string {
  return text.slice(0, offset) + content + text.slice(offset + length);
}
