/** Writes types as text. This is the common part of signatures and declarations, with the limits of their work. */

import { isIdentifier } from "../names.ts";
import type { ObjectNode, ReferenceNode, TypeNode } from "./node.ts";
import { type Role, SchemaReader } from "./read-schema.ts";

/**
 * Nodes of one type, in all attempts, because small schemas can describe infinitely large types. Real schemas take some hundreds; the
 * maximum takes about 10 ms.
 */
const maxTypeNodes = 10_000;

/** Thrown if a text gets too long or takes too much work. */
class TooMuch extends Error {}

export type TextOf = (node: TypeNode) => string;

/** `Place` is what is known about the place of a type; `left` is the number of objects and lists that may be inside each other. */
export abstract class Printer<Place extends { left: number }> {
  protected readonly reader: SchemaReader;
  #stepsLeft = maxTypeNodes;
  #lengthLeft = 0;

  constructor(schema: unknown, role: Role) {
    this.reader = new SchemaReader(schema, role);
  }

  protected abstract unionText(options: TypeNode[], place: Place): string;
  protected abstract intersectionText(parts: TypeNode[], place: Place): string;
  protected abstract referenceText(node: ReferenceNode, place: Place): string;
  /** `textOf` writes a type inside the object. */
  protected abstract objectText(node: ObjectNode, place: Place, textOf: TextOf): string;

  /** The text that `write` returns. Undefined if it would be longer than `maxLength`, or takes too much work. */
  protected attempt(maxLength: number, write: () => string): string | undefined {
    this.#lengthLeft = maxLength;
    try {
      return write();
    } catch (error) {
      if (error instanceof TooMuch) return undefined;
      throw error;
    }
  }

  protected step(): void {
    this.#stepsLeft -= 1;
    if (this.#stepsLeft < 0) throw new TooMuch();
  }

  protected counted(text: string): string {
    this.#lengthLeft -= text.length;
    if (this.#lengthLeft < 0) throw new TooMuch();
    return text;
  }

  protected text(node: TypeNode, place: Place): string {
    this.step();
    switch (node.kind) {
      case "plain":
        return this.counted(node.text);
      case "literal":
        return this.counted(JSON.stringify(node.value));
      case "union":
        return this.unionText(node.of, place);
      case "intersection":
        return this.intersectionText(node.of, place);
      case "reference":
        return this.referenceText(node, place);
    }
    if (place.left === 0) return "unknown";
    const textOf = (part: TypeNode) => this.text(part, { ...place, left: place.left - 1 });
    switch (node.kind) {
      case "list":
        return listText(textOf(node.of));
      case "tuple":
        return tupleText(node.of.map(textOf), node.required, node.rest && textOf(node.rest));
      case "object":
        return this.objectText(node, place, textOf);
    }
  }
}

const anything = "unknown";
const anyObject = "Record<string, unknown>";

/** Types that add nothing to a more specific type of the same value. */
const vague = new Set(["string", "number", "boolean", "unknown[]", anyObject]);

export function joinedByOr(types: string[]): string {
  if (types.length === 1) return types[0]!;
  const distinct = new Set(types);
  if (distinct.size > 1) distinct.delete("never");
  if (distinct.size === 0 || distinct.has(anything)) return anything;
  return [...distinct].join(" | ");
}

export function joinedByAnd(types: string[]): string {
  const telling = [...new Set(types)].filter((text) => text !== anything);
  const precise = telling.filter((text) => !vague.has(text));
  const left = precise.length > 0 ? precise : telling;
  if (left.length < 2) return left[0] ?? anything;
  return left.map(inBrackets).join(" & ");
}

function listText(item: string): string {
  return `${inBrackets(item)}[]`;
}

/** `[string, number?, ...boolean[]]`. */
function tupleText(items: string[], required: number, rest: string | undefined): string {
  const texts = items.map((item, i) => (i < required ? item : `${inBrackets(item)}?`));
  return `[${[...texts, ...(rest === undefined ? [] : [`...${listText(rest)}`])].join(", ")}]`;
}

/** The text of an object with only one kind of keys; undefined for others. */
export function recordText({ members, others }: ObjectNode, textOf: TextOf): string | undefined {
  if (members.length > 0 || others.length > 1) return undefined;
  const [only] = others;
  return only ? `Record<${only.key}, ${textOf(only.type)}>` : "Record<string, never>";
}

/** A property's name as source text. */
export function keyText(name: string): string {
  return isIdentifier(name) ? name : JSON.stringify(name);
}

function inBrackets(text: string): string {
  return isCombined(text) ? `(${text})` : text;
}

/** Whether the type has `|` or `&` outside of brackets and strings. */
function isCombined(text: string): boolean {
  if (!text.includes(" ")) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    switch (text[at]) {
      case '"':
      case "`":
        at = endOfText(text, at);
        break;
      case "{":
      case "[":
      case "(":
      case "<":
        depth += 1;
        break;
      case "}":
      case "]":
      case ")":
      case ">":
        depth -= 1;
        break;
      case "|":
      case "&":
        if (depth === 0) return true;
    }
  }
  return false;
}

function endOfText(text: string, start: number): number {
  let at = start + 1;
  while (at < text.length && text[at] !== text[start]) at += text[at] === "\\" ? 2 : 1;
  return at;
}
