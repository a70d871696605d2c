/** JSON Schema → TypeScript type text on one line, as signatures show it. Pure; an invalid schema is `unknown`. */
import type { JsonObject } from "../clients/result.ts";
import { isIdentifier } from "./names.ts";

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
  const context: Context = { root: outer.root, path: [...outer.path, schema] };
  if (typeof schema["$ref"] === "string") return typeOf(resolve(schema["$ref"], context.root), context);
  if ("const" in schema) return literal(schema["const"]);
  if (Array.isArray(schema["enum"])) return enumText(schema["enum"]);
  const alternatives = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(alternatives)) return union(alternatives.map((option) => typeOf(option, context)));
  if (Array.isArray(schema["allOf"])) return intersection(schema, schema["allOf"], context);
  const { type } = schema;
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one }, outer)));
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

function intersection(schema: JsonObject, parts: unknown[], context: Context): string {
  const own = isSchema(schema["properties"]) ? [objectText(schema, context)] : [];
  const texts = [...own, ...parts.map((part) => typeOf(part, context))].filter((text) => text !== "unknown");
  if (texts.length === 0) return "unknown";
  return [...new Set(texts)].map((text) => (text.includes(" | ") ? `(${text})` : text)).join(" & ");
}

function arrayText(schema: JsonObject, context: Context): string {
  const tuple = schema["prefixItems"] ?? (Array.isArray(schema["items"]) ? schema["items"] : undefined);
  if (Array.isArray(tuple)) return `[${tuple.map((item) => typeOf(item, context)).join(", ")}]`;
  const item = typeOf(schema["items"], context);
  return / [|&] /.test(item) ? `(${item})[]` : `${item}[]`;
}

function objectText(schema: JsonObject, context: Context): string {
  const properties = isSchema(schema["properties"]) ? Object.entries(schema["properties"]) : [];
  const extra = schema["additionalProperties"];
  if (properties.length === 0) {
    if (extra === false) return "{}";
    return `Record<string, ${isSchema(extra) ? typeOf(extra, context) : "unknown"}>`;
  }
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const members = properties.map(([name, property]) => {
    const key = isIdentifier(name) ? name : JSON.stringify(name);
    return `${key}${required.has(name) ? "" : "?"}: ${typeOf(property, context)}`;
  });
  return `{ ${members.join("; ")} }`;
}

function enumText(values: unknown[]): string {
  const shown = values.slice(0, maxEnumValues).map(literal);
  return values.length > maxEnumValues ? `${union(shown)} | string` : union(shown);
}

function literal(value: unknown): string {
  if (value === null || typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" ? JSON.stringify(value) : "unknown";
}

function union(types: string[]): string {
  const distinct = [...new Set(types)];
  if (distinct.includes("unknown") || distinct.length === 0) return "unknown";
  return distinct.join(" | ");
}

/** A JSON pointer within the document (`#/$defs/a`); anything else leads nowhere. */
function resolve(reference: string, root: unknown): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let node: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = decodePointer(part);
    if (node === null || typeof node !== "object" || !Object.hasOwn(node, key)) return undefined;
    node = (node as JsonObject)[key];
  }
  return node;
}

function decodePointer(part: string): string {
  try {
    return decodeURIComponent(part).replace(/~1/g, "/").replace(/~0/g, "~");
  } catch {
    return part;
  }
}

function isSchema(value: unknown): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
