/** The declared type of a result with what was seen: programs get a number that JavaScript cannot hold as a text. */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { resolveReference } from "../../base/json-schema.ts";
import type { RegistryTool } from "../model.ts";

/** The schema of a tool's result: the declared one, in which numbers that came as texts may be texts, or the observed one. */
export function resultSchema({ outputSchema, observed }: RegistryTool): JsonObject | undefined {
  return outputSchema && observed
    ? (withTexts(outputSchema, observed, outputSchema) as JsonObject)
    : (outputSchema ?? observed);
}

/** The same schema if no number in it came as a text. The shape is bounded, and with it the work. */
function withTexts(schema: unknown, shape: unknown, root: JsonObject): unknown {
  if (!isObject(schema) || !isObject(shape)) return schema;
  const { $ref } = schema;
  if (typeof $ref === "string") {
    const target = resolveReference($ref, root);
    const changed = isObject(target) && target["$ref"] === undefined ? withTexts(target, shape, root) : target;
    return changed === target ? schema : changed;
  }
  const changes = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    const now = changed(key, value, shape, root);
    return now === value ? [] : [[key, now]];
  });
  return changes.length === 0 ? schema : { ...schema, ...Object.fromEntries(changes) };
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
      return withTexts(value, shape[key], root);
    case "anyOf":
    case "oneOf":
    case "allOf": {
      const parts = Array.isArray(value) ? value.map((part) => withTexts(part, shape, root)) : [];
      return Array.isArray(value) && parts.some((part, at) => part !== value[at]) ? parts : value;
    }
    default:
      return value;
  }
}

function withFields(properties: JsonObject, shapes: JsonObject, root: JsonObject): JsonObject {
  const entries = Object.entries(properties).map(([name, property]) => {
    return [name, Object.hasOwn(shapes, name) ? withTexts(property, shapes[name], root) : property] as const;
  });
  return entries.every(([name, property]) => property === properties[name]) ? properties : Object.fromEntries(entries);
}
