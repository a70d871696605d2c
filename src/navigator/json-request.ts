/** How a model is asked for JSON: by a schema that it cannot leave, where it can be held to one, else in words. */
import { isObject } from "../json-object.ts";
import type { ModelRequest } from "./model.ts";

/** For who cannot be held to a schema: what to answer with stands in the request. */
export function inWords({ system, schema }: ModelRequest): string {
  return `${system}\n\nAnswer with one JSON object and nothing else. It must match this JSON Schema:\n${JSON.stringify(schema)}`;
}

/**
 * Whether the schema is one that answers can be held to: every object names all of its properties, requires each, and
 * allows no other. Endpoints refuse any other where `strict` is set.
 */
export function isStrict(schema: unknown): boolean {
  if (!isObject(schema)) return false;
  if (Object.keys(schema).some((key) => neverStrict.has(key))) return false;
  const { type, properties, required, additionalProperties, items, anyOf, $defs } = schema;
  if (isObject(properties) || type === "object") {
    const names = Object.keys(properties ?? {});
    const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
    if (additionalProperties !== false || !names.every(isRequired)) return false;
  }
  const known = ["type", "enum", "const", "anyOf", "$ref"].some((key) => key in schema);
  const inner = [
    ...Object.values(isObject(properties) ? properties : {}),
    ...(items === undefined ? [] : [items]),
    ...(Array.isArray(anyOf) ? anyOf : []),
    ...Object.values(isObject($defs) ? $defs : {}),
  ];
  return known && (type !== "array" || items !== undefined) && inner.every(isStrict);
}

const neverStrict = new Set([
  "allOf",
  "oneOf",
  "not",
  "if",
  "patternProperties",
  "propertyNames",
  "prefixItems",
  "dependentRequired",
  "dependentSchemas",
  "unevaluatedProperties",
  "contains",
  "uniqueItems",
]);
