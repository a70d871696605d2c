/** Turns words of a command line into the arguments of a tool, with the types of its schema. */
import { ClaudikinsError } from "../base/errors.ts";
import { exactDigits, exactNumber, isExactText, parseExact } from "../base/exact-json.ts";
import { isObject, type JsonObject } from "../base/json-object.ts";
import { resolveReference, schemasOf, typesIn } from "../base/json-schema.ts";

/** Schemas that refer to themselves have no end. No schema written by hand has more alternatives. */
const maxSchemaParts = 100;

/** Characters of a value in an error. */
const maxShownArgumentChars = 60;

/** One word of the command line before its type is known. `word` is the word as errors show it. */
export type ArgumentWord =
  | { word: string; key: string; text: string }
  | { word: string; key: string; json: unknown }
  | { word: string; object: JsonObject };

export interface CallArguments {
  args: JsonObject;
  /** Why words do not fit the schema. */
  problems: string[];
}

/** Applies whole objects first, in their order. Arguments given by name replace theirs. */
export function argumentsOf(given: readonly ArgumentWord[], schema: JsonObject): CallArguments {
  const args: JsonObject = Object.create(null);
  const named = new Map<string, NamedWord[]>();
  for (const each of given) {
    if ("object" in each) Object.assign(args, each.object);
    else named.set(each.key, [...(named.get(each.key) ?? []), each]);
  }
  const problems: string[] = [];
  for (const [key, all] of named) {
    try {
      const place = placeOf(key, schema);
      put(args, place.names, valueFrom(all, key, formsOf(place.schema, schema)));
    } catch (problem) {
      if (!(problem instanceof ArgumentProblem)) throw problem;
      problems.push(`${problem.message} (${all.map(({ word }) => word).join(" ")})`);
    }
  }
  return { args, problems };
}

/** Turns one text into the argument of that name. Throws ArgumentProblem. */
export function argumentOf(key: string, text: string, schema: JsonObject): unknown {
  const property = placeOf(key, schema).schema;
  return valueFrom([{ word: text, key, text }], key, formsOf(property, schema));
}

type NamedWord = Exclude<ArgumentWord, { object: JsonObject }>;

/** A text does not fit the schema of its argument. */
export class ArgumentProblem extends Error {}

/** Reads `a.b` as the property with that name if the schema has one, else as the property `b` of `a`. */
function placeOf(key: string, root: JsonObject): { names: string[]; schema: unknown } {
  const names: string[] = [];
  let schema: unknown = root;
  let rest = key;
  while (rest !== "") {
    const parts = partsOf(schema, root);
    const name = knownPrefix(rest, parts) ?? (/^(?:\.|.*\.\.|.*\.$)/s.test(rest) ? rest : rest.split(".", 1)[0]!);
    names.push(name);
    schema = propertyOf(name, parts);
    rest = rest.slice(name.length + 1);
  }
  return { names, schema };
}

/** The longest prefix that is the name of a property. */
function knownPrefix(path: string, parts: JsonObject[]): string | undefined {
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
    const name = path.slice(0, end);
    if (parts.some(({ properties }) => isObject(properties) && Object.hasOwn(properties, name))) return name;
  }
  return undefined;
}

/** Undefined if the schema does not describe it. */
function propertyOf(name: string, parts: JsonObject[]): unknown {
  const holder = parts.find(({ properties }) => isObject(properties) && Object.hasOwn(properties, name));
  if (holder) return (holder["properties"] as JsonObject)[name];
  return parts.map(({ additionalProperties }) => additionalProperties).find(isObject);
}

/** The values that a schema accepts, as far as they matter for reading a text. */
export interface Forms {
  /** JSON Schema types; empty if any value is accepted. */
  types: Set<string>;
  /** Values of `enum` and `const`. */
  values: unknown[];
  parts: JsonObject[];
  /** The schema that references are resolved in. */
  root: JsonObject;
}

export function formsOf(schema: unknown, root: JsonObject): Forms {
  const parts = partsOf(schema, root);
  const values = parts.flatMap((part) => ("const" in part ? [part["const"]] : schemasOf(part["enum"])));
  const types = new Set(parts.flatMap(typesOf));
  if (types.size === 0) for (const value of values) types.add(typeOf(value));
  return { types, values, parts, root };
}

function typesOf(part: JsonObject): string[] {
  const said = typesIn(part);
  if (said) return part["nullable"] === true ? [...said, "null"] : said;
  if (isObject(part["properties"])) return ["object"];
  return "items" in part || "prefixItems" in part ? ["array"] : [];
}

function typeOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

/** The schema and its parts: references, `allOf`, `anyOf` and `oneOf`. */
function partsOf(schema: unknown, root: JsonObject): JsonObject[] {
  const parts = new Set<JsonObject>();
  const waiting = [schema];
  while (waiting.length > 0 && parts.size < maxSchemaParts) {
    const part = waiting.shift();
    if (!isObject(part) || parts.has(part)) continue;
    parts.add(part);
    if (typeof part["$ref"] === "string") waiting.push(resolveReference(part["$ref"], root));
    waiting.push(...schemasOf(part["allOf"]), ...schemasOf(part["anyOf"]), ...schemasOf(part["oneOf"]));
  }
  return [...parts];
}

/** A name that is given several times makes an array. */
function valueFrom(all: NamedWord[], key: string, forms: Forms): unknown {
  const [first] = all;
  if (all.length === 1 && first) return "json" in first ? first.json : fromText(first.text, key, forms);
  if (forms.types.size > 0 && !forms.types.has("array")) {
    throw new ArgumentProblem(`"${key}" is given ${all.length} times but takes ${formsText(forms)}`);
  }
  const list: unknown[] = [];
  for (const each of all) {
    if ("json" in each) list.push(...[each.json].flat());
    else list.push(...(each.text.startsWith("[") ? [fromText(each.text, key, forms)].flat() : [item(each.text)]));
  }
  return list;

  function item(text: string): unknown {
    return fromText(text, key, itemForms(forms, list.length));
  }
}

/** The schema of the array's item at that position. */
function itemForms({ parts, root }: Forms, place: number): Forms {
  const anyOf = parts.flatMap(({ prefixItems, items }) => schemasOf(prefixItems)[place] ?? items ?? []);
  return formsOf({ anyOf }, root);
}

/** Reads the text as the most specific type that it fits. */
function fromText(text: string, key: string, forms: Forms): unknown {
  const { types, values } = forms;
  const chosen = values.find((value) => (typeof value === "string" ? value : JSON.stringify(value)) === text);
  if (chosen !== undefined) return chosen;
  const takes = (type: string) => types.size === 0 || types.has(type);
  if (takes("null") && text === "null") return null;
  if (takes("boolean") && (text === "true" || text === "false")) return text === "true";
  if (takes("number") || takes("integer")) {
    const number = numberOf(text, takes("string"));
    if (number !== undefined && (takes("number") || isWhole(number))) return number;
  }
  const isStructured = (takes("array") && text.startsWith("[")) || (takes("object") && text.startsWith("{"));
  if (isStructured) {
    try {
      return parseExact(text);
    } catch (error) {
      if (!takes("string")) throw new ArgumentProblem(`"${key}" is not JSON: ${(error as Error).message}`);
    }
  }
  if (takes("string")) return text;
  if (types.has("array")) return text === "" ? [] : [fromText(text, key, itemForms(forms, 0))];
  throw new ArgumentProblem(`"${key}" takes ${formsText(forms)}, got ${JSON.stringify(shortened(text))}`);
}

/** If a string is accepted as well, only a canonical number counts as one: not `007`, `1.10` or an id of twenty digits. */
function numberOf(text: string, orText: boolean): number | object | undefined {
  if (isExactText(text)) return orText ? undefined : exactNumber(text);
  const number = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN;
  const isExact = /^[+-]?\d+$/.test(text) ? Number.isSafeInteger(number) : Number.isFinite(number);
  return isExact && (!orText || String(number) === text) ? number : undefined;
}

const isWhole = (number: number | object) => Number.isInteger(number) || /^-?\d+$/.test(exactDigits(number) ?? "");

const typeTexts: ReadonlyMap<string, string> = new Map([
  ["string", "text"],
  ["integer", "a whole number"],
  ["number", "a number"],
  ["boolean", "true or false"],
  ["null", "null"],
  ["array", "a list"],
  ["object", "a JSON object"],
]);

/** Describes the accepted values. */
export function formsText({ types, values }: Forms): string {
  if (values.length > 0) {
    const shown = values.slice(0, 12).map((value) => JSON.stringify(value));
    return `one of ${shown.join(", ")}${values.length > shown.length ? " …" : ""}`;
  }
  if (types.size === 0) return "anything";
  return [...types].map((type) => typeTexts.get(type) ?? type).join(" or ");
}

function put(args: JsonObject, names: string[], value: unknown): void {
  let within = args;
  for (const name of names.slice(0, -1)) {
    const found = Object.hasOwn(within, name) ? within[name] : undefined;
    if (found !== undefined && !isObject(found)) throw new ArgumentProblem(`"${name}" is not an object`);
    const inner: JsonObject = found ?? Object.create(null);
    within[name] = inner;
    within = inner;
  }
  within[names.at(-1) ?? ""] = value;
}

/** The hint for arguments in another form. */
export const argumentForms = "Write arguments as name=text, name:=json, '{…}', @file.json, or - for standard input.";

/** The error for a word that is not an argument. Other programs accept `name:text`. */
export function notAnArgument(word: string): ClaudikinsError {
  const [, name, text = ""] = /^([\w.-]+):(.+)$/s.exec(word) ?? [];
  const meant = name === undefined ? undefined : `Did you mean ${name}=${shortened(text)}?`;
  return new ClaudikinsError("USAGE", `"${shortened(word)}" is not an argument`, {
    hint: [meant, argumentForms].filter(Boolean).join(" "),
  });
}

export function shortened(text: string): string {
  return text.length > maxShownArgumentChars ? `${text.slice(0, maxShownArgumentChars - 1)}…` : text;
}
