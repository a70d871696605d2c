/** Observes the shape of one value within limits. Only a part of large data is observed. */

import { exactDigits, parseExact } from "../../base/exact-json.ts";
import { isObject } from "../../base/json-object.ts";
import { isJson, valueInText } from "../../servers/result.ts";
import { maxObservedDepth, maxObservedTextChars } from "../limits.ts";
import type { RegistryTool } from "../model.ts";
import { looksLikeData } from "./data-keys.ts";
import { anyFields, bounded, merge, objectShape, type Shape } from "./shape.ts";
import { addsNoForm, formOf } from "./text-form.ts";

/** Characters of the beginning of a longer text that are observed. */
const maxObservedPartChars = 200_000;

/** Maximum number of observed values. */
const maxObservedValues = 20_000;

/** Items of an outer list: enough to meet the rows that lack a value. */
const maxObservedItems = 1_000;

/** Items of a list inside of another list, and of an outer list of large items. */
const maxInnerItems = 60;

/** Keys of one object. */
const maxObservedKeys = 200;

/** Texts in the arguments of a call that are compared with the keys of its result. */
const maxGivenTexts = 500;

/** Characters of one of these texts. Keys are not longer. */
const maxGivenTextChars = 1_000;

/** Which keys of a result depend on the arguments of its call. */
export interface Given {
  /** Whether a key is data because it was given as an argument, or is a word of a query. */
  isKey(key: string): boolean;
  /** Whether an argument is a query that names the columns of the result. */
  isQuery: boolean;
}

const nothingGiven: Given = { isKey: () => false, isQuery: false };

export interface Observed {
  shape: Shape;
  /** Only the beginning was observed. */
  part: boolean;
}

export function shapeOf(value: unknown, given = nothingGiven): Shape {
  const shape = bounded(new Look(given).at(value, maxObservedDepth));
  if (typeof value === "string") return withForm(shape, value, given);
  const [key = "", ...others] = isObject(value) ? Object.keys(value) : [];
  const [text, field] = [isObject(value) ? value[key] : undefined, shape.properties?.[key]];
  if (others.length > 0 || typeof text !== "string" || !field) return shape;
  return { ...shape, properties: { [key]: withForm(field, text, given) } };
}

/** The content of a result: a text, which may be JSON, or a value. */
export interface SeenContent {
  text?: string;
  value?: unknown;
}

/** Whether observing the content would add nothing to a shape that is known. False in doubt. Takes a tenth of the time of observing it. */
export function isOfShape({ text, value }: SeenContent, shape: Shape): boolean {
  try {
    const seen = text === undefined ? value : valueInText(text);
    if (!new Look(nothingGiven).fits(seen, shape, maxObservedDepth)) return false;
    if (typeof seen === "string") return addsNoForm(seen, shape.form);
    const [key = "", ...others] = isObject(seen) ? Object.keys(seen) : [];
    const only = isObject(seen) && others.length === 0 ? seen[key] : undefined;
    return typeof only !== "string" || addsNoForm(only, shape.properties?.[key]?.form);
  } catch {
    return false;
  }
}

function withForm(shape: Shape, text: string, { isQuery }: Given): Shape {
  const form = formOf(text, !isQuery);
  return form ? { ...shape, form } : shape;
}

/** The shape of text, or of its value if it is JSON. Undefined if that would take too much work. */
export function shapeOfText(text: string, given = nothingGiven): Observed | undefined {
  const part = text.length > maxObservedTextChars;
  if (part ? !/^\s*[[{]/.test(text) : !isJson(text))
    return { shape: withForm({ type: "string" }, text, given), part: false };
  try {
    return { shape: shapeOf(parseExact(part ? beginningOf(text) : text), given), part };
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
  readonly #given: Given;
  #left = maxObservedValues;
  /** Lists around the value. */
  #lists = 0;

  constructor(given: Given) {
    this.#given = given;
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
    // Rows of a table have the same fields, so similar fields do not suggest a map.
    const mapFrom = list.length > 1 ? Number.POSITIVE_INFINITY : undefined;
    const ofItem = (item: unknown) => {
      return this.#given.isQuery && isObject(item) ? anyFields : this.at(item, depth - 1, mapFrom);
    };
    this.#lists += 1;
    const before = this.#left;
    let items = list.length > 0 ? ofItem(list[0]) : undefined;
    const fitting = Math.floor(this.#left / Math.max(1, before - this.#left));
    const max = this.#lists > 1 ? maxInnerItems : Math.min(maxObservedItems, Math.max(maxInnerItems, fitting));
    for (const item of spread(list, max)) {
      if (this.#left <= 0 || !items) break;
      if (!this.fits(item, items, depth - 1)) items = merge(items, ofItem(item));
    }
    this.#lists -= 1;
    return { type: "array", ...(items ? { items } : {}) };
  }

  /** Whether merging the value into the shape would change nothing. False in doubt. Takes far less time than merging. */
  fits(value: unknown, shape: Shape, depth: number): boolean {
    this.#left -= 1;
    if (this.#left <= 0) return false;
    const { type, items, properties, required = [], additionalProperties } = shape;
    if (type === undefined) return true;
    const has = (kind: string) => type === kind || type.includes(kind as never);
    if (value === null || value === undefined) return has("null");
    if (typeof value !== "object") return has(typeof value);
    if (exactDigits(value) !== undefined) return has("string");
    if (depth === 0) return false;
    if (Array.isArray(value)) {
      if (value.length > maxInnerItems || !has("array")) return false;
      return value.every((item) => items !== undefined && this.fits(item, items, depth - 1));
    }
    if (!has("object")) return false;
    if (additionalProperties) return properties === undefined && Object.keys(additionalProperties).length === 0;
    const object = value as Record<string, unknown>;
    const fits = (key: string) => {
      const field = properties !== undefined && Object.hasOwn(properties, key) ? properties[key] : undefined;
      return field !== undefined && this.fits(object[key], field, depth - 1);
    };
    return Object.keys(object).every(fits) && required.every((key) => Object.hasOwn(object, key));
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
      if (looksLikeData(key) || this.#given.isKey(key) || isNameOf(key, value)) {
        dataKeys += 1;
        data = data ? merge(data, shape) : shape;
      } else {
        fields[key] = shape;
        names.push(key);
      }
    }
    if (this.#given.isQuery && count > 0 && Object.keys(object).every(this.#given.isKey)) return anyFields;
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

/** Items of a long list: the first ones, and some of the others. */
function spread(list: unknown[], max: number): unknown[] {
  if (list.length <= max) return list;
  const first = Math.floor(max / 3);
  const step = (list.length - first) / (max - first);
  const others = Array.from({ length: max - first }, (_, index) => list[Math.floor(first + index * step)]);
  return [...list.slice(0, first), ...others];
}

/** The texts in a call's arguments, and the tool's description and schema, all in lower case. */
export interface GivenWords {
  texts: string[];
  ownWords: string;
  isQuery: boolean;
}

export function givenWords(args: unknown, { description, inputSchema }: RegistryTool): GivenWords {
  const texts = textsIn(args);
  const isQuery = texts.some((text) => query.test(text)) || projection.test(JSON.stringify(args) ?? "");
  return { texts, ownWords: `${description} ${JSON.stringify(inputSchema)}`.toLowerCase(), isQuery };
}

/** SQL, Cypher and GraphQL, in lower case, which name the columns or fields of their results. Prose that begins with "select" is no query. */
const query = new RegExp(
  [
    /^(?:\s|\(|--.*\n)*select\s(?=[\s\S]*(?:\bfrom\b|\bas\b|[*('"\d?]))/,
    /^\s*with\s+(?:recursive\s+)?["\w]+\s*(?:\([^)]*\)\s*)?as\s*\(/,
    /^\s*(?:pragma\s+\w|values\s*\(|explain\s+(?:query|select|analyze)\b|show\s+(?:tables|columns|databases|index(?:es)?)\b)/,
    /^\s*(?:insert\s+into|update\s+\S+\s+set|delete\s+from)\b[\s\S]*\breturning\b/,
    /^\s*(?:optional\s+)?match\s*\([\s\S]*\breturn\b/,
    /^\s*(?:(?:query|mutation|subscription)\b[^{]*)?\{\s*(?:\.\.\.|\w)[\s\S]*\}\s*$/,
  ]
    .map(({ source }) => source)
    .join("|"),
);

/** Stages of a pipeline that name the fields of its documents. */
const projection = /"\$(?:group|project|addFields|facet)"/;

function wordsOfQuery(texts: readonly string[]): string[] {
  return texts.filter((text) => query.test(text)).flatMap((text) => text.match(/[\p{L}_$][\p{L}\p{N}_$]*/gu) ?? []);
}

/**
 * The keys of the result that are values of the arguments: `{ users: ["anna"] }` → `{ anna: … }`. A key that the tool's
 * description or schema contains is a field.
 */
export function givenBy({ texts, ownWords, isQuery }: GivenWords): Given {
  const given = new Set(texts);
  const words = new Set(isQuery ? wordsOfQuery(texts) : []);
  const isKey = (key: string) => {
    const wanted = key.toLowerCase();
    return words.has(wanted) || (given.has(wanted) && !ownWords.includes(wanted));
  };
  return { isKey, isQuery };
}

function textsIn(args: unknown): string[] {
  const texts: string[] = [];
  const waiting: unknown[] = [args];
  for (let looked = 0; waiting.length > 0 && looked < maxGivenTexts; looked++) {
    const value = waiting.shift();
    if (typeof value === "string") {
      const isLong = value.length > maxGivenTextChars;
      texts.push(value.slice(0, maxGivenTextChars), ...(isLong ? [] : value.split(/\s*[,;]\s*/)));
    } else if (typeof value === "object" && value !== null)
      waiting.push(...Object.values(value).slice(0, maxGivenTexts));
  }
  return texts.map((text) => text.toLowerCase());
}
