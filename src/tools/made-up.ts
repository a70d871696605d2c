/** Makes up the result of a tool that is not called, from its declared, observed or well-known type. The same type gives the same result. */
import { isObject, type JsonObject, parsedJson } from "../base/json-object.ts";
import { resolveReference, sameValue, schemasOf, typesIn } from "../base/json-schema.ts";
import type { ToolResult } from "../servers/result.ts";
import { maxSchemaDepth } from "./limits.ts";
import type { RegistryTool } from "./model.ts";

/** The text in made-up results. */
export const madeUpText = "made-up";

/** Levels of a made-up result. Deeper objects and lists are empty. */
const maxMadeUpDepth = 12;

/** Values of a made-up result, because small schemas can describe infinitely large values. */
const maxMadeUpParts = 2_000;

/** Items of a made-up list, and schemas of one made-up value. */
const maxMadeUpItems = 16;

/** Characters of a made-up text. */
const maxMadeUpChars = 1_000;

/** A whole result. A tool of an unknown type gives `{ "made-up": true }`. */
export function madeUpResult({ outputSchema, observed, known }: RegistryTool): ToolResult {
  const schema = outputSchema ?? observed ?? (known?.type === undefined ? undefined : schemaOfType(known.type));
  const value = schema ? madeUpValue(schema, schema) : unknownValue();
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return {
    content: [{ type: "text", text }],
    ...(outputSchema && isObject(value) ? { structuredContent: value } : {}),
  };
}

/** A value that matches the schema. `root` is the document of its references. */
export function madeUpValue(schema: JsonObject, root: JsonObject): unknown {
  return madeUp(schema, { root, depth: 0, parts: { left: maxMadeUpParts } });
}

function unknownValue(): JsonObject {
  return { [madeUpText]: true };
}

interface MadeUpContext {
  root: JsonObject;
  depth: number;
  /** How many values may still be made up. */
  parts: { left: number };
}

function madeUp(schema: unknown, context: MadeUpContext): unknown {
  context.parts.left -= 1;
  if (!isObject(schema) || context.parts.left < 0) return madeUpText;
  const parts = partsOf(schema, context.root);
  const first = (key: string) => parts.find((part) => part[key] !== undefined)?.[key];
  if (first("const") !== undefined) return first("const");
  const [choice] = schemasOf(first("enum"));
  if (choice !== undefined) return choice;
  const within = { ...context, depth: context.depth + 1 };
  const isDeep = within.depth > maxMadeUpDepth;
  switch (typeIn(parts)) {
    case "string":
      return textOf(parts);
    case "integer":
    case "number":
      return numberOf(parts);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return isDeep ? [] : listOf(first("prefixItems"), first("items"), first("minItems"), within);
    case "object":
      return isDeep ? {} : objectOf(parts, within);
    default:
      return unknownValue();
  }
}

/** The schemas of the same value: references, `allOf`, and of each choice the first option that is not null. */
function partsOf(schema: JsonObject, root: JsonObject): JsonObject[] {
  const found = new Set(sameValue(schema, root));
  for (const { $ref, anyOf, oneOf } of found) {
    const chosen = [anyOf, oneOf].map((options) => {
      const all = schemasOf(options).filter(isObject);
      return all.find((option) => option["type"] !== "null") ?? all[0];
    });
    for (const part of [typeof $ref === "string" ? resolveReference($ref, root) : undefined, ...chosen]) {
      if (isObject(part) && found.size < maxMadeUpItems) for (const each of sameValue(part, root)) found.add(each);
    }
  }
  return [...found];
}

/** The first type that is not null. Without `type`, the keywords of the schema may imply it. */
function typeIn(parts: readonly JsonObject[]): unknown {
  const types = parts.flatMap((part) => typesIn(part) ?? []);
  const told = types.find((type) => type !== "null") ?? types[0];
  if (told !== undefined) return told;
  if (parts.some((part) => isObject(part["properties"]))) return "object";
  return parts.some((part) => "items" in part || "prefixItems" in part) ? "array" : undefined;
}

function objectOf(parts: readonly JsonObject[], context: MadeUpContext): JsonObject {
  const made: JsonObject = Object.create(null);
  for (const { properties } of parts) {
    if (!isObject(properties)) continue;
    for (const [name, property] of Object.entries(properties)) made[name] ??= madeUp(property, context);
  }
  return made;
}

/** One item, or as many as the schema requires. */
function listOf(prefix: unknown, items: unknown, min: unknown, context: MadeUpContext): unknown[] {
  const first = schemasOf(prefix).slice(0, maxMadeUpItems);
  const wanted = Math.min(typeof min === "number" ? min : 1, maxMadeUpItems);
  const rest = items === undefined || items === false ? 0 : Math.max(0, wanted - first.length);
  return [...first, ...Array.from({ length: rest }, () => items)].map((schema) => madeUp(schema, context));
}

const formats: Record<string, string> = {
  date: "2025-01-01",
  "date-time": "2025-01-01T00:00:00Z",
  time: "00:00:00Z",
  email: `${madeUpText}@example.com`,
  uri: `https://example.com/${madeUpText}`,
  url: `https://example.com/${madeUpText}`,
  uuid: "00000000-0000-4000-8000-000000000000",
};

function textOf(parts: readonly JsonObject[]): string {
  const numbers = (key: string) => parts.map((part) => part[key]).filter((value) => typeof value === "number");
  const format = parts.map((part) => String(part["format"])).find((name) => Object.hasOwn(formats, name));
  const text = format === undefined ? madeUpText : formats[format]!;
  const longest = Math.min(...numbers("maxLength"), maxMadeUpChars);
  return text.padEnd(Math.min(longest, Math.max(...numbers("minLength"), 0)), "-").slice(0, longest);
}

/** 1, or the nearest number that the bounds allow. */
function numberOf(parts: readonly JsonObject[]): number {
  const bounds = (key: string) => parts.map((part) => part[key]).filter((value) => typeof value === "number");
  const least = Math.max(...bounds("minimum"), ...bounds("exclusiveMinimum").map((bound) => bound + 1));
  const most = Math.min(...bounds("maximum"), ...bounds("exclusiveMaximum").map((bound) => bound - 1));
  const [step] = bounds("multipleOf");
  const number = Math.min(Math.max(1, least), most);
  return step === undefined || step <= 0 ? number : Math.ceil(number / step) * step;
}

/** Undefined for a type with syntax that the catalog does not use. */
export function schemaOfType(type: string): JsonObject | undefined {
  const tokens = type.match(/[\w$]+|"(?:[^"\\]|\\.)*"|\S/g) ?? [];
  const reader = new TypeReader(tokens);
  const schema = reader.union(0);
  return reader.isAtEnd ? schema : undefined;
}

const primitives: ReadonlyMap<string, JsonObject> = new Map([
  ["string", { type: "string" }],
  ["number", { type: "number" }],
  ["boolean", { type: "boolean" }],
  ["null", { type: "null" }],
  ["unknown", {}],
]);

class TypeReader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#tokens.length;
  }

  /** `A | B`. */
  union(depth: number): JsonObject | undefined {
    const options: JsonObject[] = [];
    do {
      const option = depth > maxSchemaDepth ? undefined : this.#list(depth);
      if (!option) return undefined;
      options.push(option);
    } while (this.#takes("|"));
    return options.length === 1 ? options[0] : { anyOf: options };
  }

  /** `A`, or `A[]`. */
  #list(depth: number): JsonObject | undefined {
    let schema = this.#single(depth);
    while (schema && this.#takes("[")) schema = this.#takes("]") ? { type: "array", items: schema } : undefined;
    return schema;
  }

  #single(depth: number): JsonObject | undefined {
    if (this.#takes("{")) return this.#object(depth);
    if (this.#takes("(")) {
      const inner = this.union(depth + 1);
      return this.#takes(")") ? inner : undefined;
    }
    const name = this.#next();
    if (name?.startsWith('"')) return { const: parsedJson(name) };
    if (name !== "Record") return primitives.get(name ?? "");
    const isMap = this.#takes("<") && this.#takes("string") && this.#takes(",");
    const values = isMap ? this.union(depth + 1) : undefined;
    return values && this.#takes(">") ? { type: "object", additionalProperties: values } : undefined;
  }

  /** `{ a: A; b?: B }` after its first brace. */
  #object(depth: number): JsonObject | undefined {
    const properties: JsonObject = Object.create(null);
    while (!this.#takes("}")) {
      const key = this.#next() ?? "";
      this.#takes("?");
      const value = this.#takes(":") ? this.union(depth + 1) : undefined;
      if (!value) return undefined;
      properties[key.startsWith('"') ? String(parsedJson(key)) : key] = value;
      this.#takes(";");
    }
    return { type: "object", properties };
  }

  #next(): string | undefined {
    const token = this.#tokens[this.#at];
    this.#at += 1;
    return token;
  }

  #takes(token: string): boolean {
    if (this.#tokens[this.#at] !== token) return false;
    this.#at += 1;
    return true;
  }
}
