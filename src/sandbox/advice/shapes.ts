/** Values in a few words: the keys that an object has, how long a list is. */
import { misspelling, nearNames } from "../../near-names.ts";
import type { Seen } from "./seen.ts";

const maxKeys = 20;

/** `{ orders, total, next_cursor }`, `a list of 1,400`, `text`. */
export function shapeOf(values: readonly unknown[]): string {
  const [first] = values;
  if (values.length === 0) return "nothing";
  if (values.every(isRecord)) return shapeOfKeys(keysOf(values));
  if (values.every(Array.isArray)) {
    const items = values.flat();
    const count = values.length === 1 ? ` of ${items.length}` : "";
    return items.length > 0 && items.every(isRecord) ? `a list${count}, each ${shapeOf(items)}` : `a list${count}`;
  }
  if (values.every((value) => typeof value === "string")) return "a string, not an object";
  if (values.every((value) => value === null)) return "null";
  return typeof first === "object" ? "an object or null" : `a ${typeof first}`;
}

function shapeOfKeys(keys: string[]): string {
  const more = keys.length > maxKeys ? `, and ${keys.length - maxKeys} more` : "";
  return keys.length === 0 ? "an object without keys" : `{ ${keys.slice(0, maxKeys).join(", ")}${more} }`;
}

/** The keys that any of them has. */
export function keysOf(values: readonly unknown[]): string[] {
  return [...new Set(values.filter(isRecord).flatMap((value) => Object.keys(value)))];
}

/** The keys whose values are lists, in all that were seen. */
export function listKeys({ values }: Seen): string[] {
  const records = values.filter(isRecord);
  return keysOf(values).filter((key) => records.every((value) => Array.isArray(value[key])));
}

/** The key that was surely meant: the same word in another writing, a misspelling, or a part of it (`total_cents`). */
export function meantKey(wanted: string, keys: readonly string[]): string | undefined {
  const words = wordsOf(wanted);
  const close = misspelling(wanted, keys);
  if (close !== undefined) return close;
  const within = keys.filter((key) => {
    const others = wordsOf(key);
    const [few, many] = words.length < others.length ? [words, others] : [others, words];
    return few.join("").length >= 3 && few.every((word) => many.includes(word));
  });
  return within.sort((a, b) => a.length - b.length)[0] ?? nearNames(wanted, keys, 1)[0];
}

function wordsOf(name: string): string[] {
  return name
    .replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter(Boolean);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
