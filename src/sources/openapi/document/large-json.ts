/**
 * Parses a large JSON document so that little of it is in memory at once. The entries of `paths`, which are most of such a document, stay text
 * until they are read. All others are values.
 */
import { randomUUID } from "node:crypto";
import { isObject, type JsonObject } from "../../../base/json-object.ts";
import type { Span } from "../../../base/json-weight.ts";

/** Bytes of an entry that is parsed on its own. Smaller ones are parsed at once. */
export const largeEntryBytes = 200;

/**
 * `entries` are the large arrays and objects at depth 3, as `weigh` found them. An entry of `paths` is parsed each time that it is read, except
 * for the one that was read last. Throws what `JSON.parse` throws. A faulty entry of `paths` throws when it is read, as `errorOf` makes of it.
 */
export function parseLargeJson(
  json: Uint8Array,
  entries: readonly Span[],
  errorOf: (cause: unknown) => Error,
): unknown {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  // Each large entry is replaced by a text that stands nowhere in the document.
  const mark = randomUUID();
  const texts: string[] = [];
  let last = 0;
  for (const [index, { start, end }] of entries.entries()) {
    texts.push(bytes.toString("utf8", last, start), `"${mark}${index}"`);
    last = end;
  }
  texts.push(bytes.toString("utf8", last));
  const root: unknown = JSON.parse(texts.join(""));
  if (!isObject(root)) return JSON.parse(bytes.toString());
  const entryOf = (value: unknown): unknown => {
    if (typeof value !== "string" || !value.startsWith(mark)) return value;
    const { start, end } = entries[Number(value.slice(mark.length))]!;
    return JSON.parse(bytes.toString("utf8", start, end));
  };
  for (const [part, value] of Object.entries(root)) {
    if (part === "paths" && isObject(value)) root[part] = readLater(value, entryOf, errorOf);
    else if (typeof value === "object" && value !== null) readNow(value as JsonObject, entryOf);
  }
  return root;
}

function readNow(part: JsonObject, entryOf: (value: unknown) => unknown): void {
  for (const key of Object.keys(part)) {
    const value = entryOf(part[key]);
    // An assignment to `__proto__` would be no entry.
    if (value !== part[key]) Object.defineProperty(part, key, { value });
  }
}

function readLater(
  part: JsonObject,
  entryOf: (value: unknown) => unknown,
  errorOf: (cause: unknown) => Error,
): JsonObject {
  let last: { key: PropertyKey; value: unknown } | undefined;
  return new Proxy(part, {
    get(target, key) {
      try {
        if (last?.key !== key) last = { key, value: entryOf(Reflect.get(target, key)) };
        return last.value;
      } catch (cause) {
        throw errorOf(cause);
      }
    },
  });
}
