/** Observes the shape of one value, within limits: of large data only a part. */

import { exactDigits, parseExact } from "../../base/exact-json.ts";
import { isJson } from "../../servers/result.ts";
import {
  maxGivenTextChars,
  maxGivenTexts,
  maxObservedDepth,
  maxObservedItems,
  maxObservedKeys,
  maxObservedPartChars,
  maxObservedTextChars,
  maxObservedValues,
} from "../limits.ts";
import type { RegistryTool } from "../model.ts";
import { looksLikeData } from "./data-keys.ts";
import { bounded, merge, objectShape, type Shape } from "./shape.ts";

/** Whether a key is data because it was given as an argument (see `isGivenBy`). */
type IsGiven = (key: string) => boolean;

export interface Observed {
  shape: Shape;
  /** Only the beginning was observed. */
  part: boolean;
}

export function shapeOf(value: unknown, isGiven: IsGiven = () => false): Shape {
  return bounded(new Look(isGiven).at(value, maxObservedDepth));
}

/** The shape of text, or of its value if it is JSON. Undefined if that would take too much work. */
export function shapeOfText(text: string, isGiven?: IsGiven): Observed | undefined {
  const part = text.length > maxObservedTextChars;
  if (part ? !/^\s*[[{]/.test(text) : !isJson(text)) return { shape: { type: "string" }, part: false };
  try {
    return { shape: shapeOf(parseExact(part ? beginningOf(text) : text), isGiven), part };
  } catch {
    return part ? undefined : { shape: { type: "string" }, part };
  }
}

/** The beginning of long JSON, closed so that it parses: without the incomplete last item of the outermost list, or up to the last comma. */
function beginningOf(text: string): string {
  let closing = "";
  let cut = { end: 0, closing: "", depth: Number.POSITIVE_INFINITY };
  for (let at = 0; at < maxObservedPartChars; at++) {
    const character = text[at];
    if (character === '"') {
      do at = text.indexOf('"', at + 1);
      while (at !== -1 && isEscaped(text, at));
      if (at === -1) break;
    } else if (character === "{" || character === "[") closing = (character === "{" ? "}" : "]") + closing;
    else if (character === "}" || character === "]") closing = closing.slice(1);
    else if (character === ",") {
      const depth = closing[0] === "]" ? closing.length : Number.POSITIVE_INFINITY;
      if (depth <= cut.depth) cut = { end: at, closing, depth };
    }
  }
  return text.slice(0, cut.end) + cut.closing;
}

function isEscaped(text: string, quote: number): boolean {
  let slashes = 0;
  while (text[quote - 1 - slashes] === "\\") slashes += 1;
  return slashes % 2 === 1;
}

class Look {
  readonly #isGiven: IsGiven;
  #left = maxObservedValues;

  constructor(isGiven: IsGiven) {
    this.#isGiven = isGiven;
  }

  at(value: unknown, depth: number, mapFrom?: number): Shape {
    this.#left -= 1;
    if (value === null || value === undefined) return { type: "null" };
    if (typeof value === "string" || typeof value === "number" || typeof value === "boolean") {
      return { type: typeof value as "string" | "number" | "boolean" };
    }
    // Programs get such a number as a text.
    if (exactDigits(value) !== undefined) return { type: "string" };
    if (typeof value !== "object" || depth === 0) return {};
    if (Array.isArray(value)) return this.#list(value, depth);
    return this.#object(value as Record<string, unknown>, depth, mapFrom);
  }

  #list(list: unknown[], depth: number): Shape {
    const shown = list.length <= maxObservedItems ? list : spread(list);
    // Rows of a table have the same fields, so similar fields do not suggest a map.
    const mapFrom = shown.length > 1 ? Number.POSITIVE_INFINITY : undefined;
    let items: Shape | undefined;
    for (const item of shown) {
      if (this.#left <= 0 && items) break;
      const shape = this.at(item, depth - 1, mapFrom);
      items = items ? merge(items, shape) : shape;
    }
    return { type: "array", ...(items ? { items } : {}) };
  }

  #object(object: Record<string, unknown>, depth: number, mapFrom?: number): Shape {
    const fields: Record<string, Shape> = Object.create(null);
    const names: string[] = [];
    let data: Shape | undefined;
    let dataKeys = 0;
    let count = 0;
    for (const key in object) {
      if (!Object.hasOwn(object, key)) continue;
      count += 1;
      // Stopping inside an object would make fields look optional, so only very large objects are cut.
      if (count > maxObservedKeys || this.#left <= -maxObservedValues) break;
      const value = object[key];
      const shape = this.at(value, depth - 1);
      if (looksLikeData(key) || this.#isGiven(key) || isNameOf(key, value)) {
        dataKeys += 1;
        data = data ? merge(data, shape) : shape;
      } else {
        fields[key] = shape;
        names.push(key);
      }
    }
    // If some keys are data, the others probably are too.
    const isMap = dataKeys > 2 || (dataKeys > 0 && dataKeys >= names.length);
    return { type: "object", ...objectShape(fields, names, data, isMap ? 0 : mapFrom) };
  }
}

/** `{ anna: { login: "anna" } }`. */
function isNameOf(key: string, value: unknown): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const child = value as Record<string, unknown>;
  return ["id", "key", "name", "login", "slug", "username", "email"].some((name) => child[name] === key);
}

/** The first items, and some of the others. */
function spread(list: unknown[]): unknown[] {
  const first = maxObservedItems / 3;
  const step = (list.length - first) / (maxObservedItems - first);
  const others = Array.from({ length: maxObservedItems - first }, (_, index) => list[Math.floor(first + index * step)]);
  return [...list.slice(0, first), ...others];
}

/** The texts in a call's arguments, and the tool's description and schema, all in lower case. */
export interface GivenWords {
  texts: string[];
  ownWords: string;
}

export function givenWords(args: unknown, { description, inputSchema }: RegistryTool): GivenWords {
  return { texts: textsIn(args), ownWords: `${description} ${JSON.stringify(inputSchema)}`.toLowerCase() };
}

/**
 * Whether a key of the result is a value of the arguments: `{ users: ["anna"] }` → `{ anna: … }`. A key that the tool's
 * description or schema contains is a field.
 */
export function isGivenBy({ texts, ownWords }: GivenWords): IsGiven {
  const given = new Set(texts);
  return (key) => {
    const wanted = key.toLowerCase();
    return given.has(wanted) && !ownWords.includes(wanted);
  };
}

function textsIn(args: unknown): string[] {
  const texts: string[] = [];
  const waiting: unknown[] = [args];
  for (let looked = 0; waiting.length > 0 && looked < maxGivenTexts; looked++) {
    const value = waiting.shift();
    if (typeof value === "string") {
      if (value.length <= maxGivenTextChars) texts.push(value, ...value.split(/\s*[,;]\s*/));
    } else if (typeof value === "object" && value !== null)
      waiting.push(...Object.values(value).slice(0, maxGivenTexts));
  }
  return texts.map((text) => text.toLowerCase());
}
