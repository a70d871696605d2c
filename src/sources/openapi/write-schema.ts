/**
 * Writes JSON Schemas for the arguments and results of tools. A schema of an API may be connected with all others, so each one gets a
 * number of characters. They are spent from the top down: what is nearest to the caller is complete, and what is far away becomes open.
 */
import type { JsonObject } from "../../base/json-object.ts";
import type { ObjectPlace, Place } from "./document/documents.ts";
import type { FlatSchema, FlatSchemas } from "./flat-schema.ts";
import { plainText } from "./tool-text.ts";

/** Levels of a written schema. */
const maxWrittenLevels = 40;

/** Properties on one level. */
const maxProperties = 2_000;

/** Characters of a pattern. Longer ones are left out. */
const maxPatternChars = 200;

/** Characters of a default or an example. Longer ones are left out. */
const maxSampleChars = 100;

/** Characters that one property takes at least. */
const propertyChars = 24;

/** Characters that each option of a choice takes at least. */
const optionChars = 12;

/** Characters that a list of values may always have. */
const minEnumChars = 120;

export interface SchemaBudget {
  side: "request" | "response";
  chars: number;
  /** Characters of one description. */
  descriptionChars: number;
}

/** A property of the object that a schema begins with. */
export interface Field {
  name: string;
  schema: Place;
  isRequired: boolean;
  /** In place of the schema's own description. */
  description?: string | undefined;
  /** Follows the description. */
  note?: string | undefined;
}

interface Definition {
  /** Undefined for the schema that the whole begins with. */
  name: string | undefined;
  schema: JsonObject;
  /** The objects that refer to it. */
  uses: JsonObject[];
}

interface Waiting {
  place: Place;
  into: JsonObject;
  level: number;
}

export class SchemaWriter {
  readonly #flat: FlatSchemas;
  readonly #budget: SchemaBudget;
  readonly #definitions = new Map<object, Definition>();
  readonly #names = new Map<string, Definition>();
  readonly #waiting: Waiting[] = [];
  #left: number;

  constructor(flat: FlatSchemas, budget: SchemaBudget) {
    this.#flat = flat;
    this.#budget = budget;
    this.#left = budget.chars;
  }

  /** The schema of a value. */
  schemaOf(place: Place): JsonObject {
    const schema: JsonObject = {};
    const named = this.#flat.named(place);
    if (named && !named.isNullable) {
      this.#definitions.set(named.target.value, { name: undefined, schema, uses: [] });
      this.#write({ place: named.target, into: schema, level: 0 });
    } else this.#write({ place, into: schema, level: 0 });
    return this.#finished(schema);
  }

  /** The schema of an object with these properties. All of them are there, even if the characters are used up. */
  objectOf(fields: readonly Field[], isOpen: boolean): JsonObject {
    const properties = emptyObject();
    for (const { name, schema, description, note } of fields.slice(0, maxProperties)) {
      const into: JsonObject = {};
      properties[name] = into;
      this.#left -= name.length + propertyChars;
      this.#describe(into, description, note);
      this.#waiting.push({ place: schema, into, level: 1 });
    }
    const required = fields
      .filter(({ name, isRequired }) => isRequired && Object.hasOwn(properties, name))
      .map(({ name }) => name);
    return this.#finished({
      type: "object",
      properties,
      ...(required.length > 0 ? { required } : {}),
      ...(isOpen || fields.length > maxProperties ? {} : { additionalProperties: false }),
    });
  }

  #finished(schema: JsonObject): JsonObject {
    for (let at = 0; at < this.#waiting.length; at++) this.#write(this.#waiting[at]!);
    const definitions = emptyObject();
    for (const [name, { schema: definition, uses }] of this.#names) {
      const [only, ...others] = uses;
      if (only && others.length === 0) {
        delete only["$ref"];
        for (const [key, value] of Object.entries(definition)) only[key] ??= value;
      } else definitions[name] = definition;
    }
    if (Object.keys(definitions).length > 0) schema["$defs"] = definitions;
    return schema;
  }

  #write({ place, into, level }: Waiting): void {
    const named = level > 0 ? this.#flat.named(place) : undefined;
    const flat = this.#flat.of(named?.target ?? place);
    if (named) this.#describe(into, named.description);
    const isNullable = flat.isNullable || named?.isNullable === true;
    if (!named || !hasParts(flat)) {
      this.#writeFlat(isNullable === flat.isNullable ? flat : { ...flat, isNullable }, into, level);
      return;
    }
    const reference = isNullable ? {} : into;
    if (isNullable) into["anyOf"] = [reference, { type: "null" }];
    this.#refer(named.target, named.name, reference, level);
  }

  #refer(target: ObjectPlace, name: string, into: JsonObject, level: number): void {
    const known = this.#definitions.get(target.value);
    if (!known && (this.#left <= 0 || level >= maxWrittenLevels)) {
      // Only its type is written.
      this.#writeFlat(this.#flat.of(target), into, level);
      return;
    }
    let definition = known;
    if (!definition) {
      let free = name;
      for (let count = 2; this.#names.has(free); count++) free = `${name}_${count}`;
      definition = { name: free, schema: {}, uses: [] };
      this.#names.set(free, definition);
      this.#definitions.set(target.value, definition);
      this.#waiting.push({ place: target, into: definition.schema, level: level + 1 });
      this.#left -= free.length * 2 + propertyChars;
    }
    definition.uses.push(into);
    into["$ref"] = definition.name === undefined ? "#" : `#/$defs/${pointerPart(definition.name)}`;
  }

  #writeFlat(flat: FlatSchema, into: JsonObject, level: number): void {
    const types = flat.types ?? typesOf(flat);
    if (types) into["type"] = oneOrMore(flat.isNullable ? [...types, "null"] : types);
    if (this.#left <= 0 || level >= maxWrittenLevels) return;
    this.#writeKeywords(flat, into);
    this.#writeProperties(flat, into, level);
    const { items, prefixItems = [], choices } = flat;
    if (items !== undefined) into["items"] = this.#child(items, level);
    if (prefixItems.length > 0 && this.#pay(prefixItems.length * optionChars))
      into["prefixItems"] = prefixItems.map((each) => this.#child(each, level));
    const written = choices
      .filter((options) => this.#pay(options.length * optionChars))
      .map((options) => this.#options(options, flat.isNullable && !types, level));
    const [only, ...others] = written;
    if (only && others.length === 0) into["anyOf"] = only;
    else if (only) into["allOf"] = written.map((anyOf) => ({ anyOf }));
  }

  /** `oneOf` becomes `anyOf`: options that were shortened could fit both. */
  #options(options: readonly Place[], isNullable: boolean, level: number): JsonObject[] {
    const written = options.map((each) => this.#child(each, level));
    return isNullable ? [...written, { type: "null" }] : written;
  }

  #child(place: Place, level: number): JsonObject {
    const into: JsonObject = {};
    this.#waiting.push({ place, into, level: level + 1 });
    return into;
  }

  #writeProperties(flat: FlatSchema, into: JsonObject, level: number): void {
    const { properties, required, additional, choices } = flat;
    // Some documents require properties that they do not describe.
    const unnamed = required.size === 0 ? [] : [...required].filter((name) => !properties.has(name));
    const needed = [...unnamed];
    let isWhole = true;
    if (properties.size > 0) {
      const { inOrder, requiredFirst } = this.#flat.propertyNames(flat, this.#budget.side);
      const written = new Map<string, JsonObject>();
      for (const name of requiredFirst) {
        if (written.size === maxProperties || !this.#pay(name.length + propertyChars)) break;
        written.set(name, this.#child(properties.get(name)!, level));
      }
      const ordered = emptyObject();
      for (const name of written.size === inOrder.length ? inOrder : inOrder.filter((each) => written.has(each)))
        ordered[name] = written.get(name);
      into["properties"] = ordered;
      if (required.size > 0) needed.unshift(...requiredFirst.filter((name) => required.has(name) && written.has(name)));
      isWhole = written.size === inOrder.length;
    }
    if (needed.length > 0) into["required"] = needed;
    // Options of a choice may have more properties.
    const isClosed = additional === false && properties.size > 0 && choices.length === 0 && unnamed.length === 0;
    if (this.#budget.side === "request" && !isWhole) into["additionalProperties"] = true;
    else if (typeof additional === "object") into["additionalProperties"] = this.#child(additional, level);
    else if (this.#budget.side === "request" && isClosed) into["additionalProperties"] = false;
  }

  #writeKeywords(flat: FlatSchema, into: JsonObject): void {
    const { keywords } = flat;
    const { description, enum: values, default: usual, pattern, example } = keywords;
    if (Array.isArray(values)) this.#writeEnum(valuesOf(flat, values), into);
    this.#put(into, "const", keywords["const"]);
    this.#put(into, "format", keywords["format"]);
    if (this.#budget.side === "request") {
      for (const key of bounds) this.#put(into, key, keywords[key]);
      if (flat.types?.includes("array") !== false) this.#put(into, "uniqueItems", keywords["uniqueItems"]);
      if (typeof pattern === "string" && isPattern(pattern)) this.#put(into, "pattern", pattern);
      if (isSample(usual)) this.#put(into, "default", usual);
      if (isSample(example) && !("enum" in into) && usual === undefined) this.#put(into, "examples", [example]);
    }
    if (keywords["deprecated"] === true) this.#put(into, "deprecated", true);
    this.#describe(into, description);
  }

  #writeEnum(values: unknown[], into: JsonObject): void {
    const chars = JSON.stringify(values).length;
    if (values.length === 0 || chars > Math.max(minEnumChars, this.#left / 2)) return;
    into["enum"] = values;
    this.#left -= chars + 10;
  }

  #describe(into: JsonObject, description: unknown, note?: string): void {
    if (into["description"] !== undefined) return;
    const { descriptionChars } = this.#budget;
    const text =
      typeof description === "string" && descriptionChars > 0 && this.#left > 0
        ? plainText(description, descriptionChars)
        : "";
    const both = [text, note ?? ""].filter(Boolean).join(" ");
    if (both === "") return;
    into["description"] = both;
    this.#left -= both.length + 18;
  }

  #put(into: JsonObject, key: string, value: unknown): void {
    if (value === undefined || value === null || typeof value === "object") return;
    const chars = typeof value === "string" ? value.length + 2 : 6;
    if (this.#pay(chars + key.length + 4)) into[key] = value;
  }

  #pay(chars: number): boolean {
    if (this.#left < chars) {
      // A later key must not get the room that an earlier, larger one did not get.
      this.#left = 0;
      return false;
    }
    this.#left -= chars;
    return true;
  }
}

const bounds = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
];

/** A property may be named `__proto__`. */
function emptyObject(): JsonObject {
  return Object.create(null) as JsonObject;
}

const oneOrMore = (types: string[]) => (types.length === 1 ? types[0] : types);

/** The listed values that the types allow: in some documents none, because they have the values of a list, or numbers as texts. */
function valuesOf({ types, isNullable }: FlatSchema, values: unknown[]): unknown[] {
  const fitting = types ? values.filter((value) => value === null || types.includes(typeIn(types, value))) : values;
  if (!fitting.some((value) => value !== null)) return [];
  return isNullable && !fitting.includes(null) ? [...fitting, null] : fitting;
}

function typeIn(types: readonly string[], value: unknown): string {
  if (Array.isArray(value)) return "array";
  return Number.isInteger(value) && types.includes("integer") ? "integer" : typeof value;
}

/** The types that other keywords tell. */
function typesOf({ properties, items, prefixItems, additional }: FlatSchema): string[] | undefined {
  if (properties.size > 0 || typeof additional === "object") return ["object"];
  return items !== undefined || prefixItems !== undefined ? ["array"] : undefined;
}

function hasParts({ properties, items, prefixItems, additional, choices }: FlatSchema): boolean {
  return (
    properties.size > 0 ||
    items !== undefined ||
    prefixItems !== undefined ||
    typeof additional === "object" ||
    choices.length > 0
  );
}

const isSample = (value: unknown) =>
  typeof value === "string"
    ? value.length <= maxSampleChars && value !== ""
    : typeof value === "number" || typeof value === "boolean";

const patterns = new Map<string, boolean>();

function isPattern(pattern: string): boolean {
  if (pattern.length > maxPatternChars) return false;
  let isValid = patterns.get(pattern);
  if (isValid === undefined) {
    try {
      new RegExp(pattern, "u");
      isValid = true;
    } catch {
      isValid = false;
    }
    patterns.set(pattern, isValid);
  }
  return isValid;
}

/** JSON Pointer, within a fragment. */
const pointerPart = (name: string) => encodeURIComponent(name.replaceAll("~", "~0").replaceAll("/", "~1"));
