/**
 * The declared type of a result with what was observed: the content of objects and lists that the server does not describe, and numbers
 * that programs get as texts because JavaScript cannot hold them.
 */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { resolveReference } from "../../base/json-schema.ts";
import { maxObservedDepth } from "../limits.ts";
import type { RegistryTool } from "../model.ts";
import { shallow } from "./shape.ts";

/** Levels of a declared type that are searched for places that it leaves open. */
const maxVagueDepth = 8;

/** The schema of a tool's result: the declared one, completed to `depth` levels by the observed one, or the observed one alone. */
export function resultSchema(
  { outputSchema, observed }: Pick<RegistryTool, "outputSchema" | "observed">,
  depth = maxObservedDepth,
): JsonObject | undefined {
  if (!outputSchema || !observed) return outputSchema ?? observed;
  return withSeen(outputSchema, shallow(observed, depth, true), outputSchema) as JsonObject;
}

/** Whether the declared type leaves open what a result, or an object or a list in it, contains. */
export function isVague(outputSchema: JsonObject): boolean {
  let known = vague.get(outputSchema);
  if (known === undefined) {
    known = isVagueIn(outputSchema, outputSchema, maxVagueDepth);
    vague.set(outputSchema, known);
  }
  return known;
}

const vague = new WeakMap<object, boolean>();

/** Whether the declared type is a text, or an object with a text alone, whose form is not declared. */
export function isText({ type, properties }: JsonObject): boolean {
  const [field, ...others] = isObject(properties) ? Object.values(properties) : [];
  return (
    type === "string" || (others.length === 0 && isObject(field) && field["type"] === "string" && !("enum" in field))
  );
}

function isVagueIn(schema: unknown, root: JsonObject, depth: number): boolean {
  if (depth === 0) return false;
  if (openTypes(schema)) return true;
  if (!isObject(schema)) return false;
  const { $ref, properties, items, additionalProperties: others, anyOf, oneOf, allOf } = schema;
  const inner = [
    ...(typeof $ref === "string" ? [resolveReference($ref, root)] : []),
    ...(isObject(properties) ? Object.values(properties) : []),
    ...(isObject(items) ? [items] : []),
    ...(isObject(others) && Object.keys(others).length > 0 ? [others] : []),
    ...[anyOf, oneOf, allOf].flatMap((parts) => (Array.isArray(parts) ? parts : [])),
  ];
  return inner.some((each) => isVagueIn(each, root, depth - 1));
}

const annotations = /^(?:title|description|default|examples?|\$schema|\$id|\$comment|readOnly|deprecated|x-.*)$/;

/** The types of a value that the schema does not describe further; "any" if it says nothing. Undefined if it describes the value. */
function openTypes(schema: unknown): "any" | string[] | undefined {
  if (schema === true) return "any";
  if (!isObject(schema)) return undefined;
  const { type, properties, additionalProperties: others, items, ...rest } = schema;
  if (Object.keys(rest).some((key) => !annotations.test(key) && !(key === "required" && isBare(rest[key]))))
    return undefined;
  const isOpen = isBare(properties) && (others === true || isBare(others)) && (items === true || isBare(items));
  if (!isOpen) return undefined;
  if (type === undefined) return "any";
  const types = [type].flat().map(String);
  return types.every((each) => ["object", "array", "null"].includes(each)) && types.join() !== "null"
    ? types
    : undefined;
}

/** Missing or empty. */
function isBare(value: unknown): boolean {
  return value === undefined || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

/** Returns the same schema if the observed shape adds nothing to it. The shape is bounded, so the work is bounded too. */
function withSeen(schema: unknown, shape: unknown, root: JsonObject): unknown {
  if (!isObject(shape)) return schema;
  const open = openTypes(schema);
  if (open) return filled(schema, shape, open);
  if (!isObject(schema)) return schema;
  const { $ref } = schema;
  if (typeof $ref === "string") {
    const target = resolveReference($ref, root);
    const changed = isObject(target) && target["$ref"] === undefined ? withSeen(target, shape, root) : target;
    return changed === target ? schema : changed;
  }
  const changes = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    const now = changed(key, value, shape, root);
    return now === value ? [] : [[key, now]];
  });
  return changes.length === 0 ? schema : { ...schema, ...Object.fromEntries(changes) };
}

/** Replaces an open schema by the shape, limited to the types that both have. */
function filled(schema: unknown, shape: JsonObject, open: "any" | string[]): unknown {
  const seen = [shape["type"] ?? []].flat();
  const types = open === "any" ? seen : seen.filter((each) => open.includes(String(each)));
  if (!types.some((each) => each !== "null") || (open !== "any" && tellsNothing(shape))) return schema;
  const all = open === "any" || !open.includes("null") ? types : [...new Set([...types, "null"])];
  return { ...shape, type: all.length === 1 ? all[0] : all };
}

function tellsNothing({ properties, items, additionalProperties }: JsonObject): boolean {
  return properties === undefined && isBare(items) && isBare(additionalProperties);
}

function changed(key: string, value: unknown, shape: JsonObject, root: JsonObject): unknown {
  switch (key) {
    case "type": {
      const types = [value].flat();
      const isText = [shape["type"]].flat().includes("string") && !types.includes("string");
      return isText && (types.includes("number") || types.includes("integer")) ? [...types, "string"] : value;
    }
    case "properties":
      return isObject(value) && isObject(shape["properties"]) ? withFields(value, shape["properties"], root) : value;
    case "items":
    case "additionalProperties":
      return withSeen(value, shape[key], root);
    case "anyOf":
    case "oneOf":
    case "allOf": {
      const parts = Array.isArray(value) ? value.map((part) => withSeen(part, shape, root)) : [];
      return Array.isArray(value) && parts.some((part, at) => part !== value[at]) ? parts : value;
    }
    default:
      return value;
  }
}

function withFields(properties: JsonObject, shapes: JsonObject, root: JsonObject): JsonObject {
  const entries = Object.entries(properties).map(([name, property]) => {
    return [name, Object.hasOwn(shapes, name) ? withSeen(property, shapes[name], root) : property] as const;
  });
  return entries.every(([name, property]) => property === properties[name]) ? properties : Object.fromEntries(entries);
}
