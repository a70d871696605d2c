/** Decodes one message of a server, within limits. Large parts of a result stay JSON text. */

import { edenGC } from "bun:jsc";
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { JSONRPCMessageSchema } from "@modelcontextprotocol/core";
import { withoutMark } from "../../base/byte-order-mark.ts";
import { hasExact, parsedExact, parseExact, rounded } from "../../base/exact-json.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { requestIdIn, type Span, weigh } from "../../base/json-weight.ts";
import { LargeJson } from "../../base/large-json.ts";
import { collectedInWorkerBytes } from "../limits.ts";
import { boundedPage, isListKey, isWithin } from "../lists/list-bounds.ts";
import { onlyText, shortened } from "../result.ts";

/** The code of JSON-RPC for a message that cannot be read. The SDK's module with the codes would take long to load in a worker. */
const parseError = -32_700;

/** The code of JSON-RPC for an error without a code of its own. */
const internalError = -32_603;

/** Levels of a message. Deeper JSON would overflow the stack of code that writes or walks it. */
const maxMessageDepth = 500;

/** Values in one message. A million values take about 100 MB. */
const maxMessageValues = 4_000_000;

/** Values in a notification or request, which are passed on as objects. */
const maxRequestMessageValues = 100_000;

/** A part of a result with more values stays JSON text. */
const maxPartValues = 2_000;

/** A part of a result with more characters stays JSON text. */
const maxPartChars = 131_072;

/** Shorter messages need no check of their depth and number of values. */
const maxUncheckedBytes = 2_048;

/** Characters of an error message, and of the data of an error. */
const maxErrorMessageChars = 65_536;

/** The JSON text of a part, and its text if it consists of text blocks. A single block needs only the text, not `json`. */
interface LargePart {
  json?: string | undefined;
  text?: string | undefined;
}

/** A message without the large parts of its result, and these parts by key. */
export interface Decoded {
  message: JSONRPCMessage;
  large: Record<string, LargePart>;
}

/**
 * Undefined if the bytes are not a message. An answer over a limit becomes an error with the same id. `release` is called
 * as soon as the bytes are not needed any more.
 */
export function decode(received: Uint8Array, release?: (bytes: Uint8Array) => void): Decoded | undefined {
  const bytes = withoutMark(received);
  if (bytes.length <= maxUncheckedBytes) {
    const message = readMessage(textOf(bytes));
    return message && { message, large: {} };
  }
  const { depth, values, large } = weigh(bytes, maxPartChars);
  if (values > maxMessageValues)
    return refused(bytes, `its answer has more than ${maxMessageValues / 1_000_000} million values`);
  const cut = depth > maxMessageDepth ? undefined : cutAnswer(bytes, large);
  if (cut) {
    release?.(bytes);
    return split(cut.message, cut.parts);
  }
  const text = textOf(bytes);
  // A refusal looks for the id in the bytes.
  if (depth <= maxMessageDepth) release?.(bytes);
  const message = readMessage(text);
  if (!message) return undefined;
  if ("method" in message && (values > maxRequestMessageValues || depth > maxMessageDepth)) return undefined;
  // A tool whose schema is too deep loses only the schema.
  const isList = "result" in message && Object.keys(message.result).some(isListKey);
  if (depth > maxMessageDepth && !isList)
    return refused(bytes, `its answer is nested more than ${maxMessageDepth} levels deep`);
  if ("error" in message) return { message: shortError(message), large: {} };
  // A message that is as small as a part has no large part, so its values are not visited again: 20 µs less for 11 kB.
  const isAsSmallAsPart = values <= maxPartValues && bytes.length <= maxPartChars;
  if (!("result" in message) || (isAsSmallAsPart && !isList)) return { message, large: {} };
  return split(message, {});
}

type ResultMessage = Extract<JSONRPCMessage, { result: unknown }>;

/**
 * An answer, and its large parts by key. They are cut out of the text, because writing them again takes 2 ms per megabyte.
 * Undefined if the message should be parsed as a whole.
 */
function cutAnswer(
  bytes: Uint8Array,
  spans: readonly Span[],
): { message: ResultMessage; parts: Decoded["large"] } | undefined {
  if (spans.length === 0) return undefined;
  const mark = crypto.randomUUID();
  const marked = spans.map(({ start }, index) => {
    const end = spans[index - 1]?.end ?? 0;
    return `${textOf(bytes.subarray(end, start))}"${mark} ${index}"`;
  });
  const message = readMessage(`${marked.join("")}${textOf(bytes.subarray(spans.at(-1)?.end))}`);
  if (!message || !("result" in message)) return undefined;
  const parts: Decoded["large"] = Object.create(null);
  try {
    for (const [key, value] of Object.entries(message.result)) {
      if (typeof value !== "string" || !value.startsWith(mark)) continue;
      if (isListKey(key)) return undefined;
      const { start, end } = spans[Number(value.slice(mark.length))] as Span;
      // The texts of the part before.
      if (bytes.length > collectedInWorkerBytes && Object.keys(parts).length > 0) edenGC();
      const json = textOf(bytes.subarray(start, end));
      parts[key] = largePart(key, JSON.parse(json), json);
    }
  } catch {
    return undefined;
  }
  return { message, parts };
}

/** Long data, or data with many values, becomes the beginning of its JSON. */
function shortError(message: Extract<JSONRPCMessage, { error: unknown }>): JSONRPCMessage {
  const { code, message: words, data } = message.error;
  const json = JSON.stringify(data);
  const isShort = !isLarge(data) && json?.length <= maxErrorMessageChars;
  return {
    ...message,
    error: {
      code,
      message: shortened(words, maxErrorMessageChars),
      ...(json === undefined ? {} : { data: isShort ? data : shortened(json, maxErrorMessageChars) }),
    },
  };
}

/** The message as other code uses it. */
export function assemble({ message, large }: Decoded): JSONRPCMessage {
  const keys = Object.keys(large);
  if (keys.length === 0 || !("result" in message)) return message;
  const result: Record<string, unknown> = { ...message.result };
  for (const key of keys) result[key] = new LargeJson(large[key]?.json, large[key]?.text);
  return { ...message, result };
}

/** A decoded message as a flat object of strings, which crosses to another thread without a copy. */
export type Packed = Record<string, string>;

export function pack({ message, large }: Decoded): Packed {
  const packed: Packed = { message: JSON.stringify(message) };
  for (const [key, { json, text }] of Object.entries(large)) {
    if (json !== undefined) packed[`json ${key}`] = json;
    if (text !== undefined) packed[`text ${key}`] = text;
  }
  return packed;
}

export function unpack({ message = "", ...parts }: Packed): Decoded {
  const large: Decoded["large"] = Object.create(null);
  for (const name of Object.keys(parts)) {
    const key = name.slice("json ".length);
    large[key] = { json: parts[`json ${key}`], text: parts[`text ${key}`] };
  }
  return { message: parseExact(message) as JSONRPCMessage, large };
}

/** Limits lists of tools, resources and prompts, whose readers need objects. */
function split(message: ResultMessage, large: Decoded["large"]): Decoded {
  const parts: Decoded["large"] = Object.assign(Object.create(null), large);
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(boundedPage(message.result))) {
    if (key in parts) continue;
    if (isListKey(key) || !isLarge(value)) result[key] = value;
    else parts[key] = largePart(key, value, JSON.stringify(value));
  }
  return { message: { ...message, result }, large: parts };
}

function largePart(key: string, value: unknown, json: string): LargePart {
  if (key !== "content") return { json };
  const text = onlyText(value);
  if (text === undefined) return { json };
  const [block, ...others] = value as object[];
  const isPlain = others.length === 0 && Object.keys(block ?? {}).length === 2;
  return isPlain ? { text } : { json, text };
}

/** Whether a value has too many values or characters to stay an object. */
const isLarge = (value: unknown) =>
  !isWithin(value, { values: maxPartValues, chars: maxPartChars, depth: Number.POSITIVE_INFINITY });

/** Without its id, the caller gets no answer. */
function refused(bytes: Uint8Array, why: string): Decoded | undefined {
  const id = requestIdIn(bytes);
  if (id === undefined) return undefined;
  return { message: { jsonrpc: "2.0", id, error: { code: parseError, message: why } }, large: {} };
}

function textOf(bytes: Uint8Array): string {
  if (Buffer.isBuffer(bytes)) return bytes.toString();
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}

/** Undefined if the text is not a message. An invalid answer becomes an error, so that its caller does not wait. */
function readMessage(text: string): JSONRPCMessage | undefined {
  const value = withPlainLists(parsedExact(text));
  if (isPlainResult(value)) return value;
  const { success, data } = JSONRPCMessageSchema.safeParse(value);
  return success ? data : looseAnswer(value);
}

/** The message; with rounded numbers if it is a list. Definitions are compared, and their limits are only used as numbers. */
export function withPlainLists<T>(message: T): T {
  if (!isObject(message)) return message;
  const { result } = message;
  const isList = isObject(result) && Object.keys(result).some(isListKey);
  return isList && hasExact(result) ? rounded(message) : message;
}

/** Whether the value is a result without `_meta`, as nearly every answer is. The schema says the same, and takes 12 µs longer. */
function isPlainResult(value: unknown): value is ResultMessage {
  if (!isObject(value) || Object.keys(value).length !== 3) return false;
  const { jsonrpc, id, result } = value;
  const hasId = typeof id === "string" || Number.isSafeInteger(id);
  return jsonrpc === "2.0" && hasId && isObject(result) && !("_meta" in result);
}

/**
 * An answer that JSON-RPC does not allow, as its server means it: some write answers by hand, or write `null` for what they leave out. An
 * answer that means nothing becomes an error. Undefined if the value answers no request.
 */
function looseAnswer(value: unknown): JSONRPCMessage | undefined {
  if (!isObject(value)) return undefined;
  const { jsonrpc, id, method, result, error } = value;
  // Without the version, such a line may be anything.
  if (jsonrpc !== "2.0" || method !== undefined || !(typeof id === "number" || typeof id === "string"))
    return undefined;
  if (isObject(result) && (error === undefined || error === null)) {
    const { _meta, ...own } = result;
    const meant = { jsonrpc, id, result: _meta === null ? own : result };
    const { success, data } = JSONRPCMessageSchema.safeParse(meant);
    if (success) return data;
  }
  return {
    jsonrpc,
    id,
    error: looseError(error) ?? { code: parseError, message: `its answer is not MCP: ${flaw(result)}` },
  };
}

function flaw(result: unknown): string {
  if (result === undefined || result === null) return "it has no result or error";
  return isObject(result) ? "its result is not valid" : "its result is not an object";
}

/** Undefined if the value says nothing. */
function looseError(error: unknown): { code: number; message: string; data?: unknown } | undefined {
  if (typeof error === "string" && error !== "") return { code: internalError, message: error };
  if (!isObject(error) || Object.keys(error).length === 0) return undefined;
  const { code, message, data } = error;
  return {
    code: Number.isSafeInteger(code) ? (code as number) : internalError,
    message: typeof message === "string" ? message : JSON.stringify(error),
    ...(data === undefined ? {} : { data }),
  };
}
