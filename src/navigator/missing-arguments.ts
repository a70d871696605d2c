/** Finds required arguments that the task does not give, and makes the form with which the user is asked. */
import { isObject, type JsonObject } from "../json-object.ts";
import { requiredArguments, resolveReference } from "../registry/json-schema.ts";

/** The missing required arguments without a default, in the order of `required`. */
export function missingIn(inputSchema: JsonObject, args: JsonObject): string[] {
  return [...requiredArguments(inputSchema, inputSchema)].filter((name) => !Object.hasOwn(args, name));
}

/** The part of the schema for the missing arguments, with the definitions that it refers to. */
export function schemaOfMissing(inputSchema: JsonObject, missing: string[]): JsonObject {
  const { $defs, definitions } = inputSchema;
  return {
    type: "object",
    properties: Object.fromEntries(missing.map((name) => [name, propertyOf(inputSchema, name)])),
    required: missing,
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}

/** The form as MCP's elicitation allows it: flat fields of plain types. Undefined if an argument has another type. */
export function formOf(inputSchema: JsonObject, missing: string[]): JsonObject | undefined {
  const fields = missing.map((name) => [name, fieldOf(resolved(propertyOf(inputSchema, name), inputSchema))] as const);
  if (fields.some(([, field]) => field === undefined)) return undefined;
  return { type: "object", properties: Object.fromEntries(fields), required: missing };
}

function propertyOf({ properties }: JsonObject, name: string): JsonObject {
  const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
  return isObject(property) ? property : {};
}

function resolved(schema: JsonObject, root: JsonObject): JsonObject {
  const { $ref, ...beside } = schema;
  const target = typeof $ref === "string" ? resolveReference($ref, root) : undefined;
  return isObject(target) ? { ...target, ...beside } : schema;
}

/** The keywords that a form may have for each type. */
const keywords: Record<string, string[]> = {
  string: ["minLength", "maxLength"],
  number: ["minimum", "maximum"],
  integer: ["minimum", "maximum"],
  boolean: [],
};
const formats = ["email", "uri", "date", "date-time"];

function fieldOf(schema: JsonObject): JsonObject | undefined {
  const { enum: choices, format } = schema;
  const isChoice = Array.isArray(choices);
  if (isChoice && !choices.every((choice) => typeof choice === "string")) return undefined;
  const type = isChoice ? "string" : plainType(schema["type"]);
  if (type === undefined) return undefined;
  const kept = ["title", "description", ...(isChoice ? ["enum", "enumNames"] : (keywords[type] ?? []))];
  return {
    type,
    ...Object.fromEntries(kept.flatMap((key) => (schema[key] === undefined ? [] : [[key, schema[key]]]))),
    ...(type === "string" && !isChoice && formats.includes(String(format)) ? { format } : {}),
  };
}

/** The type of a field. `["string", "null"]` is a string, because the user is asked for a value. */
function plainType(type: unknown): string | undefined {
  const types = [type].flat().filter((each) => each !== "null");
  const [only] = types;
  return types.length === 1 && typeof only === "string" && Object.hasOwn(keywords, only) ? only : undefined;
}
