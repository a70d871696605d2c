/** Reads unchecked JSON. */
import { copyExact, exactDigits, parsedExact } from "./exact-json.ts";

export type JsonObject = Record<string, unknown>;

/** The value of a JSON text, or undefined if it is not JSON. */
export function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** JSON over several lines, for a person to read. Other texts are returned unchanged. */
export function indentedJson(text: string): string {
  const value = parsedExact(text);
  return value === undefined ? text : JSON.stringify(value, null, 2);
}

/** Whether a value is an object, but not an array. */
export function isObject(value: unknown): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The object without its properties that are undefined. */
export function defined<T extends object>(object: T): { [Name in keyof T]?: Exclude<T[Name], undefined> } {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as typeof object;
}

/** The value at a path of keys; undefined if there is none. */
export function valueAt(document: unknown, path: readonly string[]): unknown {
  let value = document;
  for (const key of path) {
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
    value = value[key];
  }
  return value;
}

/** The object at a path of keys; empty if there is none. */
export function objectAt(document: unknown, path: readonly string[]): JsonObject {
  const value = valueAt(document, path);
  return isObject(value) ? value : {};
}

/** A copy of a JSON value in which every text is replaced. */
export function withTexts<T>(value: T, replace: (text: string) => string): T {
  return replaced(copyExact(value), replace) as T;
}

/** Changes the value. A reviver of `JSON.parse` would take several times as long. */
function replaced(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === "string") return replace(value);
  if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) value[at] = replaced(item, replace);
  } else if (isObject(value) && exactDigits(value) === undefined) {
    for (const key of Object.keys(value)) value[key] = replaced(value[key], replace);
  }
  return value;
}

/** The strings of an array; empty if the value is not an array. */
export function stringsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === "string") : [];
}
