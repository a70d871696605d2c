/** Turns the text of a document, JSON or YAML, into a value. Documents are written by strangers, so what they cost is limited before it is paid. */

import { randomUUID } from "node:crypto";
import { withoutMark } from "../../../base/byte-order-mark.ts";
import { ClaudikinsError, messageOf } from "../../../base/errors.ts";
import { isObject, type JsonObject } from "../../../base/json-object.ts";
import { type Span, weigh } from "../../../base/json-weight.ts";
import { megabyte, megabytes } from "../../../base/units.ts";
import { oneLine } from "../../../base/visible-text.ts";

/** Values in one JSON document. The largest known one has about four million, which take 250 MB. */
const maxDocumentValues = 8_000_000;

/** Levels of a JSON document. Code that walks it is recursive in places. */
const maxDocumentLevels = 500;

/** Size of one YAML document. Parsing takes about 60 ms per megabyte, and a value needs only two bytes. */
const maxYamlBytes = 48 * megabyte;

/** JSON that cannot be parsed may be YAML in JSON's form, with comments. Larger texts are not tried. */
const maxOddJsonBytes = 8 * megabyte;

/** Characters of a parser's message in an error. */
const maxParserMessageChars = 200;

/**
 * Throws CONFIG_INVALID. `what` begins the error, such as `The document`. With `isReadOnly`, the paths of a large document are parsed when they
 * are read, so changes of them would be lost, and a faulty one throws then.
 */
export function parseDocument(received: Uint8Array, what: string, { isReadOnly = false } = {}): JsonObject {
  const bytes = withoutMark(received);
  const value = parsed(bytes, what, isReadOnly && bytes.length > maxOddJsonBytes);
  // A YAML stream: the first document counts.
  const first = Array.isArray(value) ? value.find(isObject) : value;
  if (isObject(first)) return first;
  throw invalid(`${what} is not an object in JSON or YAML`);
}

function parsed(bytes: Uint8Array, what: string, isLarge: boolean): unknown {
  const first = firstCharacter(bytes);
  if (first === "<") {
    const hint =
      'Give the address of the JSON or YAML file, which the page usually links to. If its host wants a sign-in, add "baseUrl" and "headers".';
    throw invalid(`${what} is a web page or XML, not JSON or YAML`, hint);
  }
  if (first !== "{" && first !== "[") return yaml(bytes, what);
  const { depth, values, large } = weigh(bytes, isLarge ? largeEntryBytes : undefined);
  if (depth > maxDocumentLevels) throw invalid(`${what} is nested more than ${maxDocumentLevels} levels deep`);
  if (values > maxDocumentValues)
    throw invalid(`${what} has more than ${maxDocumentValues / 1_000_000} million values`);
  const faulty = (cause: unknown) => invalid(`${what} is not valid JSON: ${shown(cause)}`);
  try {
    return isLarge ? parseLargeJson(bytes, large, faulty) : JSON.parse(textOf(bytes));
  } catch (cause) {
    if (bytes.length > maxOddJsonBytes) throw faulty(cause);
    return yaml(bytes, what);
  }
}

function yaml(bytes: Uint8Array, what: string): unknown {
  if (bytes.length > maxYamlBytes) throw invalid(`${what} has more than ${megabytes(maxYamlBytes)} of YAML`);
  try {
    return Bun.YAML.parse(textOf(bytes));
  } catch (cause) {
    throw invalid(`${what} is not valid JSON or YAML: ${shown(cause)}`);
  }
}

const shown = (cause: unknown) => oneLine(messageOf(cause), maxParserMessageChars);

function firstCharacter(bytes: Uint8Array): string {
  let at = 0;
  while (at < bytes.length && bytes[at]! <= 0x20) at++;
  return String.fromCharCode(bytes[at] ?? 0);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

export function invalid(message: string, hint?: string): ClaudikinsError {
  return new ClaudikinsError("CONFIG_INVALID", message, { hint });
}

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
