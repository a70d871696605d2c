/** A schema of arguments in which what has a default need not be given, although `required` lists it. Pure. */
import type { JsonObject } from "../../json-object.ts";
import { isSchema, requiredArguments, sameValue } from "../json-schema.ts";

/** Schemas by name. */
const named = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Schemas of the same value as the one that they stand in. */
const sameValueKeys = new Set(["allOf", "anyOf", "oneOf", "then", "else"]);
/** Values, and schemas that arguments shall not fit: with fewer required names they would fit more. */
const kept = new Set(["const", "enum", "default", "examples", "not", "if"]);

const maxDepth = 64;

/** The same object where nothing is left out. */
export function withoutDefaulted(schema: JsonObject): JsonObject {
  return relaxed(schema, { root: schema, around: [], depth: 0 }) as JsonObject;
}

interface Context {
  root: JsonObject;
  /** Schemas of the same value. */
  around: JsonObject[];
  depth: number;
}

function relaxed(schema: unknown, context: Context): unknown {
  if (Array.isArray(schema)) return changed(schema, (each) => relaxed(each, context));
  if (!isSchema(schema) || context.depth > maxDepth) return schema;
  const { root, depth } = context;
  const own = [...sameValue(schema, root), ...context.around].slice(0, 32);
  const within: Context = { root, around: [], depth: depth + 1 };
  return changed(schema, (value, key) => {
    if (kept.has(key)) return value;
    if (key === "required" && Array.isArray(value)) {
      const names = requiredArguments(schema, root, own);
      return value.every((name) => names.has(name)) ? value : [...names];
    }
    if (named.has(key) && isSchema(value)) return changed(value, (each) => relaxed(each, within));
    return relaxed(value, sameValueKeys.has(key) ? { ...within, around: own } : within);
  });
}

/** With each value replaced; the same object where all stay as they are. */
function changed<T extends JsonObject | unknown[]>(object: T, replace: (value: unknown, key: string) => unknown): T {
  const entries = Object.entries(object).map(([key, value]) => [key, replace(value, key)] as const);
  if (entries.every(([key, value]) => value === (object as JsonObject)[key])) return object;
  return (Array.isArray(object) ? entries.map(([, value]) => value) : Object.fromEntries(entries)) as T;
}
