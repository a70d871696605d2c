/**
 * Parses a large JSON document so that little of it is in memory at once. The entries of `paths`, which are most of such a document, stay text
 * until they are read. All others are values.
 */
import { randomUUID } from "node:crypto";
import { isObject, type JsonObject } from "../../../base/json-object.ts";
import type { Span } from "../../../base/json-weight.ts";

/** An entry with fewer bytes is parsed at once. */
export const largeEntryBytes = 200;

/**
 * `entries` are the large arrays and objects at depth 3, as `weigh` found them. An entry of `paths` is parsed each time that it is read, except
 * for the one that was read last. Throws what `JSON.parse` throws; a faulty entry of `paths` throws when it is read.
 */
export function parseLargeJson(json: Uint8Array, entries: readonly Span[]): unknown {
  const bytes = Buffer.from(json.buffer, json.byteOffset, json.length);
  const parsed = ({ start, end }: Span): unknown => JSON.parse(bytes.toString("utf8", start, end));
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
  const spanOf = (value: unknown) =>
    typeof value === "string" && value.startsWith(mark) ? entries[Number(value.slice(mark.length))] : undefined;
  for (const [part, value] of Object.entries(root)) {
    if (typeof value !== "object" || value === null) continue;
    const holder = value as JsonObject;
    const read = part === "paths" ? keepingLast(parsed) : parsed;
    for (const key of Object.keys(holder)) {
      const span = spanOf(holder[key]);
      if (!span) continue;
      const property = part === "paths" ? { get: () => read(span) } : { value: read(span), writable: true };
      Object.defineProperty(holder, key, { ...property, enumerable: true, configurable: true });
    }
  }
  return root;
}

function keepingLast(parsed: (span: Span) => unknown): (span: Span) => unknown {
  let last: { span: Span; value: unknown } | undefined;
  return (span) => {
    if (last?.span !== span) last = { span, value: parsed(span) };
    return last.value;
  };
}
