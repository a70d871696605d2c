/** Describes values in a few words: the keys of an object, the length of a list. */
import { isObject } from "../../base/json-object.ts";
import type { Seen } from "./seen.ts";

/** Keys of an object that a text names. */
const maxShownKeys = 20;

/** `{ orders, total, next_cursor }`, `a list of 1,400`, `text`. */
export function shapeOf(values: readonly unknown[]): string {
  const [first] = values;
  if (values.length === 0) return "nothing";
  if (values.every(isObject)) {
    const keys = keysOf(values);
    const more = keys.length > maxShownKeys ? `, and ${keys.length - maxShownKeys} more` : "";
    return keys.length === 0 ? "an object without keys" : `{ ${keys.slice(0, maxShownKeys).join(", ")}${more} }`;
  }
  if (values.every(Array.isArray)) {
    const items = values.flat();
    const count = values.length === 1 ? ` of ${items.length}` : "";
    return items.length > 0 && items.every(isObject) ? `a list${count}, each ${shapeOf(items)}` : `a list${count}`;
  }
  if (areTexts(values)) return "a string, not an object";
  if (values.every((value) => value === null)) return "null";
  return typeof first === "object" ? "an object or null" : `a ${typeof first}`;
}

/** The keys that at least one of the values has. */
export function keysOf(values: readonly unknown[]): string[] {
  return [...new Set(values.filter(isObject).flatMap((value) => Object.keys(value)))];
}

/** The keys whose values are lists in every value that was seen. */
export function listKeys({ values }: Seen): string[] {
  const records = values.filter(isObject);
  return keysOf(values).filter((key) => records.every((value) => Array.isArray(value[key])));
}

export function areTexts(values: readonly unknown[]): values is string[] {
  return values.every((value) => typeof value === "string");
}
