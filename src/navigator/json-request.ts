/** Asks a model for JSON: with a schema that the endpoint enforces, or else in words. */
import { isObject } from "../json-object.ts";
import type { ModelRequest } from "./model.ts";

/** The system prompt with the schema in words, for models without structured output. */
export function inWords({ system, schema }: ModelRequest): string {
  return `${system}\n\nAnswer with one JSON object and nothing else. It must match this JSON Schema:\n${JSON.stringify(schema)}`;
}

/**
 * Whether endpoints accept the schema with `strict`: every object lists all of its properties as required and allows no
 * others.
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
