/** Finds all problems in a tool's arguments at once. Each problem names the argument, its value and the allowed values. */
import type { JsonSchema, ObjectSchema } from "./json-schema.ts";

/** Returns the problems of `value` as sentences, or none if it satisfies `schema`. */
export function argumentProblems(tool: string, value: object, schema: ObjectSchema): string[] {
  return [...objectProblems(tool, "", value as Readonly<Record<string, unknown>>, schema)];
}

function* objectProblems(
  owner: string,
  prefix: string,
  value: Readonly<Record<string, unknown>>,
  schema: ObjectSchema,
): Generator<string> {
  const known = Object.keys(schema.properties);
  for (const key of schema.required) {
    if (!Object.hasOwn(value, key)) yield `${prefix}${key} is missing. ${expectation(schema.properties[key]!)}`;
  }
  for (const [key, item] of Object.entries(value)) {
    if (known.includes(key)) yield* problems(`${prefix}${key}`, item, schema.properties[key]!);
    else yield `${owner} has no ${prefix === "" ? "argument" : "property"} "${key}". It takes: ${known.join(", ")}.`;
  }
}

function* problems(path: string, value: unknown, schema: JsonSchema): Generator<string> {
  if (!fits(value, schema)) {
    yield `${path} is ${shown(value)}. ${expectation(schema)}`;
  } else if (schema.type === "array") {
    for (const [index, item] of (value as unknown[]).entries())
      yield* problems(`${path}[${index}]`, item, schema.items);
  } else if (schema.type === "object") {
    yield* objectProblems(path, `${path}.`, value as Readonly<Record<string, unknown>>, schema);
  }
}

/** Returns whether the value itself is valid. The contents of arrays and objects are checked separately. */
function fits(value: unknown, schema: JsonSchema): boolean {
  switch (schema.type) {
    case "string":
      return (
        typeof value === "string" &&
        (schema.enum?.includes(value) ?? true) &&
        isBetween(value.length, schema.minLength, schema.maxLength)
      );
    case "integer":
    case "number":
      return (
        typeof value === "number" &&
        (schema.type === "number" || Number.isInteger(value)) &&
        isBetween(value, schema.minimum, schema.maximum)
      );
    case "boolean":
      return typeof value === "boolean";
    case "array":
      return Array.isArray(value) && isBetween(value.length, schema.minItems, schema.maxItems);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
  }
}

function isBetween(value: number, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): boolean {
  return value >= min && value <= max;
}

/** Returns a text such as "Must be a whole number of at least 1. How many to give at most." */
function expectation(schema: JsonSchema): string {
  const about = schema.description === undefined || "enum" in schema ? "" : ` ${schema.description}`;
  return `Must be ${expected(schema)}.${about}`;
}

function expected(schema: JsonSchema): string {
  switch (schema.type) {
    case "string":
      if (schema.enum !== undefined) return `one of ${schema.enum.join(", ")}`;
      return `a${schema.minLength === undefined ? "" : " non-empty"} string${range("of", undefined, schema.maxLength, " characters")}`;
    case "array":
      return `an array${range("of", schema.minItems, schema.maxItems, " items")}`;
    case "integer":
      return `a whole number${range("from", schema.minimum, schema.maximum)}`;
    case "number":
      return `a number${range("from", schema.minimum, schema.maximum)}`;
    case "boolean":
      return "true or false";
    case "object":
      return `an object with ${Object.keys(schema.properties).join(", ")}`;
  }
}

function range(preposition: string, min: number | undefined, max: number | undefined, unit = ""): string {
  if (min !== undefined && max !== undefined) return ` ${preposition} ${min} to ${max}${unit}`;
  if (min !== undefined) return ` of at least ${min}${unit}`;
  return max === undefined ? "" : ` of at most ${max}${unit}`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 80)}…` : text;
}
