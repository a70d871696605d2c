/** JSON Schema → a plausible value, for the example call of a tool. Deterministic. */
import type { JsonObject } from "../clients/result.ts";
import { isIdentifier } from "./names.ts";

const maxDepth = 4;

/** The required arguments as source text: `{ order_id: "order_id" }`; empty text when nothing is required. */
export function sampleArguments(schema: JsonObject): string {
  const value = sampleOf(schema, schema, 0);
  return isObject(value) && Object.keys(value).length > 0 ? source(value) : "";
}

function sampleOf(schema: unknown, root: unknown, depth: number, name = "value"): unknown {
  if (!isObject(schema)) return name;
  if (typeof schema["$ref"] === "string")
    return depth < maxDepth ? sampleOf(pointer(schema["$ref"], root), root, depth + 1, name) : {};
  if ("const" in schema) return schema["const"];
  if (Array.isArray(schema["examples"]) && schema["examples"].length > 0) return schema["examples"][0];
  if (schema["default"] !== undefined) return schema["default"];
  if (Array.isArray(schema["enum"]) && schema["enum"].length > 0) return schema["enum"][0];
  const options = schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(options)) {
    const typed = options.find((option) => isObject(option) && option["type"] !== "null");
    return sampleOf(typed ?? options[0], root, depth + 1, name);
  }
  const type = Array.isArray(schema["type"]) ? schema["type"].find((one) => one !== "null") : schema["type"];
  switch (type) {
    case "string":
      return stringSample(schema, name);
    case "integer":
    case "number":
      return typeof schema["minimum"] === "number" ? schema["minimum"] : 1;
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return depth < maxDepth ? [sampleOf(schema["items"], root, depth + 1, name)] : [];
    default:
      return isObject(schema["properties"]) && depth < maxDepth ? objectSample(schema, root, depth) : {};
  }
}

function objectSample(schema: JsonObject, root: unknown, depth: number): JsonObject {
  const properties = schema["properties"] as JsonObject;
  const required = Array.isArray(schema["required"]) ? schema["required"] : [];
  const sample: JsonObject = Object.create(null);
  for (const name of required) {
    if (typeof name === "string")
      sample[name] = sampleOf(Object.hasOwn(properties, name) ? properties[name] : {}, root, depth + 1, name);
  }
  return sample;
}

function stringSample(schema: JsonObject, name: string): string {
  switch (schema["format"]) {
    case "date":
      return "2025-01-31";
    case "date-time":
      return "2025-01-31T12:00:00Z";
    case "uri":
    case "url":
      return "https://example.com";
    case "email":
      return "someone@example.com";
    default:
      return /date|^from$|^to$/i.test(name) ? "2025-01-31" : /url|uri/i.test(name) ? "https://example.com" : name;
  }
}

/** A value as the source text that a person would write. */
function source(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(source).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "undefined";
  const members = Object.entries(value).map(
    ([key, child]) => `${isIdentifier(key) ? key : JSON.stringify(key)}: ${source(child)}`,
  );
  return members.length > 0 ? `{ ${members.join(", ")} }` : "{}";
}

function pointer(reference: string, root: unknown): unknown {
  return reference
    .split("/")
    .slice(1)
    .reduce<unknown>((node, key) => (isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined), root);
}

function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
