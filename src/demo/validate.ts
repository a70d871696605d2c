/** Finds all problems in a tool's arguments at once. Each problem names the argument, its value and its schema. */
import { isObject } from "../json-object.ts";
import type { JsonSchema } from "./json-schema.ts";

/** Returns the problems of `value` as sentences, or none if it satisfies `schema`. `owner` has the value: the tool or a property. */
export function* problemsOf(owner: string, value: unknown, schema: JsonSchema, path = ""): Generator<string> {
  const { items, properties = {}, required = [] } = schema;
  if (!fits(value, schema)) {
    const text = JSON.stringify(value);
    yield `${path} is ${text.length > 80 ? `${text.slice(0, 80)}…` : text}. It must match ${JSON.stringify(schema)}`;
  } else if (Array.isArray(value) && items) {
    for (const [index, item] of value.entries()) yield* problemsOf(path, item, items, `${path}[${index}]`);
  } else if (isObject(value)) {
    const prefix = path === "" ? "" : `${path}.`;
    for (const key of required) {
      if (!Object.hasOwn(value, key))
        yield `${prefix}${key} is missing. It must match ${JSON.stringify(properties[key])}`;
    }
    for (const [key, item] of Object.entries(value)) {
      const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (known) yield* problemsOf(`${prefix}${key}`, item, known, `${prefix}${key}`);
      else yield `${owner} has no "${key}". It takes: ${Object.keys(properties).join(", ")}.`;
    }
  }
}

/** Returns whether the value itself is valid. The contents of arrays and objects are checked separately. */
function fits(value: unknown, schema: JsonSchema): boolean {
  const isOfType = {
    string: typeof value === "string",
    integer: Number.isInteger(value),
    number: typeof value === "number",
    boolean: typeof value === "boolean",
    array: Array.isArray(value),
    object: isObject(value),
  }[schema.type];
  if (!isOfType || schema.enum?.includes(String(value)) === false) return false;
  const size = typeof value === "string" || Array.isArray(value) ? value.length : Number(value);
  const least = schema.minimum ?? schema.minLength ?? schema.minItems ?? size;
  const most = schema.maximum ?? schema.maxLength ?? schema.maxItems ?? size;
  return !(size < least || size > most);
}
