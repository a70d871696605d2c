/** JSON Schema → TypeScript type text on one line, as signatures show it. Pure; an invalid schema is `unknown`. */
import type { JsonObject } from "../clients/result.ts";
import { isIdentifier } from "./names.ts";
import { resolveReference } from "./reference.ts";

const maxDepth = 6;
const maxEnumValues = 24;

/** The type of values that the schema accepts. References within the schema are followed; recursion ends in `unknown`. */
export function typeText(schema: unknown): string {
  return typeOf(schema, { root: schema, path: [] });
}

interface Context {
  root: unknown;
  /** The schemas that are being written, outermost first. */
  path: unknown[];
}

function typeOf(schema: unknown, outer: Context): string {
  if (schema === true || schema === undefined) return "unknown";
  if (schema === false) return "never";
  if (!isSchema(schema) || outer.path.length >= maxDepth || outer.path.includes(schema)) return "unknown";
  const text = acceptedBy(schema, { root: outer.root, path: [...outer.path, schema] });
  // OpenAPI's way to say it.
  return schema["nullable"] === true ? union([text, "null"]) : text;
}

function acceptedBy(schema: JsonObject, context: Context): string {
  if (typeof schema["$ref"] === "string") return typeOf(resolveReference(schema["$ref"], context.root), context);
  if ("const" in schema) return literal(schema["const"]);
  if (Array.isArray(schema["enum"])) return enumText(schema["enum"]);
  const combined = combinedTypes(schema, context);
  if (combined.length === 0) return plainType(schema, context);
  const own = isSchema(schema["properties"]) ? [objectText(schema, context)] : [];
  return intersection([...own, ...combined]);
}

/** What `anyOf`, `oneOf` and `allOf` add, where it says anything: parts that only say what is required do not. */
function combinedTypes(schema: JsonObject, context: Context): string[] {
  const { anyOf, oneOf, allOf } = schema;
  const typesOf = (schemas: unknown): string[] =>
    Array.isArray(schemas) ? schemas.map((each) => typeOf(each, context)) : [];
  const texts = [...[anyOf, oneOf].map((options) => union(typesOf(options))), ...typesOf(allOf)];
  return texts.filter((text) => text !== "unknown");
}

function plainType(schema: JsonObject, context: Context): string {
  const { type } = schema;
  return union((Array.isArray(type) ? type : [type]).map((one) => typeNamed(one, schema, context)));
}

function typeNamed(type: unknown, schema: JsonObject, context: Context): string {
  switch (type) {
    case "string":
      return "string";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "boolean";
    case "null":
      return "null";
    case "array":
      return arrayText(schema, context);
    case "object":
      return objectText(schema, context);
    default:
      if (isSchema(schema["properties"])) return objectText(schema, context);
      return "items" in schema ? arrayText(schema, context) : "unknown";
  }
}

function arrayText(schema: JsonObject, context: Context): string {
  const tuple = schema["prefixItems"] ?? (Array.isArray(schema["items"]) ? schema["items"] : undefined);
  if (Array.isArray(tuple)) return `[${tuple.map((item) => typeOf(item, context)).join(", ")}]`;
  const item = typeOf(schema["items"], context);
  return / [|&] /.test(item) ? `(${item})[]` : `${item}[]`;
}

function objectText(schema: JsonObject, context: Context): string {
  const properties = isSchema(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const required = requiredNames(schema);
  // A required property that the schema forgot to describe is required all the same.
  for (const name of required) if (!properties.some(([known]) => known === name)) properties.push([name, true]);
  const extra = schema["additionalProperties"];
  if (properties.length === 0) {
    if (extra === false) return "{}";
    return `Record<string, ${isSchema(extra) ? typeOf(extra, context) : "unknown"}>`;
  }
  const members = properties.map(([name, property]) => {
    const key = isIdentifier(name) ? name : JSON.stringify(name);
    return `${key}${required.has(name) ? "" : "?"}: ${typeOf(property, context)}`;
  });
  return `{ ${members.join("; ")} }`;
}

/** The names that `required` lists. */
export function requiredNames(schema: JsonObject): Set<string> {
  const { required } = schema;
  return new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
}

function enumText(values: unknown[]): string {
  const shown = values.slice(0, maxEnumValues).map(literal);
  const more = values.slice(maxEnumValues).map((value) => (value === null ? "null" : typeof value));
  return union([...shown, ...more.map((kind) => (kind === "object" ? "unknown" : kind))]);
}

function literal(value: unknown): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? JSON.stringify(value) : "unknown";
}

function union(types: string[]): string {
  const distinct = new Set(types);
  if (distinct.size > 1) distinct.delete("never");
  return distinct.size === 0 || distinct.has("unknown") ? "unknown" : [...distinct].join(" | ");
}

function intersection(types: string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.length === 1) return distinct.join();
  return distinct.map((text) => (text.includes(" | ") ? `(${text})` : text)).join(" & ");
}

export function isSchema(value: unknown): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
