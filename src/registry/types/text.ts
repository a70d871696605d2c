/** Combines the texts of types. */
import { isIdentifier } from "../names.ts";
import type { ObjectNode, TypeNode } from "./node.ts";

const anything = "unknown";
const anyObject = "Record<string, unknown>";

/** Types that add nothing to a more specific type of the same value. */
const vague = new Set(["string", "number", "boolean", "unknown[]", anyObject]);

export function unionText(types: string[]): string {
  const distinct = new Set(types);
  if (distinct.size > 1) distinct.delete("never");
  if (distinct.size === 0 || distinct.has(anything)) return anything;
  return [...distinct].join(" | ");
}

export function intersectionText(types: string[]): string {
  const telling = [...new Set(types)].filter((text) => text !== anything);
  const precise = telling.filter((text) => !vague.has(text));
  const left = precise.length > 0 ? precise : telling;
  if (left.length < 2) return left[0] ?? anything;
  return left.map((text) => (isCombined(text) ? `(${text})` : text)).join(" & ");
}

export function listText(item: string): string {
  return isCombined(item) ? `(${item})[]` : `${item}[]`;
}

/** `[string, number?, ...boolean[]]`. */
export function tupleText(items: string[], required: number, rest: string | undefined): string {
  const texts = items.map((item, i) => (i < required ? item : `${isCombined(item) ? `(${item})` : item}?`));
  return `[${[...texts, ...(rest === undefined ? [] : [`...${listText(rest)}`])].join(", ")}]`;
}

/** The text of an object with only one kind of keys; undefined for others. */
export function recordText({ members, others }: ObjectNode, typeOf: (node: TypeNode) => string): string | undefined {
  if (members.length > 0 || others.length > 1) return undefined;
  const [only] = others;
  return only ? `Record<${only.key}, ${typeOf(only.type)}>` : "Record<string, never>";
}

const maxUsualChars = 60;

/** ` /* default "css" *\/`: the default of an argument; empty if it is long or missing. */
export function usualText(usual: unknown): string {
  const text = usual === undefined ? "" : JSON.stringify(usual);
  return text === "" || text.length > maxUsualChars ? "" : ` /* default ${text.replaceAll("*/", "*\\/")} */`;
}

/** A property's name as source text. */
export function keyText(name: string): string {
  return isIdentifier(name) ? name : JSON.stringify(name);
}

/** Whether the type has `|` or `&` outside of brackets and strings. */
function isCombined(text: string): boolean {
  if (!text.includes(" ")) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"' || character === "`") at = endOfText(text, at);
    else if ("{[(<".includes(character)) depth += 1;
    else if ("}])>".includes(character)) depth -= 1;
    else if (depth === 0 && (character === "|" || character === "&")) return true;
  }
  return false;
}

function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== text[start]) at += text[at] === "\\" ? 2 : 1;
  return at;
}
