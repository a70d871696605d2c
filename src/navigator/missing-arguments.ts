/** Required arguments that a task does not say: the schema of them alone, and the form by which a person can be asked. Pure. */
import { isObject, type JsonObject } from "../json-object.ts";
import { requiredArguments, resolveReference } from "../registry/json-schema.ts";

/** Required arguments without a default, in the order in which the schema requires them. */
export function missingIn(inputSchema: JsonObject, args: JsonObject): string[] {
  return [...requiredArguments(inputSchema, inputSchema)].filter((name) => !Object.hasOwn(args, name));
}

/** The part of the schema that says what they are, definitions that it refers to included. */
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

/** As MCP allows it: flat fields of plain types. Undefined where one of them is none. */
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

/** Of each type, what a form may say of it. */
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

/** `["string", "null"]` is a string: who is asked gives one. */
function plainType(type: unknown): string | undefined {
  const types = [type].flat().filter((each) => each !== "null");
  const [only] = types;
  return types.length === 1 && typeof only === "string" && Object.hasOwn(keywords, only) ? only : undefined;
}
