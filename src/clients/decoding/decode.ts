/** The bytes of one message of a server → the message, within limits. Large parts of a result stay JSON text. */
import { ErrorCode, type JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { readMessage } from "../json-rpc.ts";
import { boundedPage, isListKey } from "../list-bounds.ts";
import { isObject, type JsonObject, onlyText, shortened } from "../result.ts";
import { LargeJson } from "./large-json.ts";
import { weigh } from "./weigh.ts";

/** Deeper JSON overflows the stack of whoever writes or walks it. */
const maxDepth = 500;

/** Values of one message. A million of them take about 100 MB. */
const maxValues = 4_000_000;

/** Values of a message that is no answer: notifications and requests are passed on as objects. */
const maxValuesOfOthers = 100_000;

/** A part of a result with more values or more characters than this stays JSON text. */
const maxValuesOfPart = 2_000;
const maxCharsOfPart = 131_072;

/** Shorter messages cannot hold enough to matter. */
const smallBytes = 2_048;

/** The JSON text of a part, and its text if the part is text blocks alone. One block of text has no `json`: the text is enough. */
interface LargePart {
  json?: string | undefined;
  text?: string | undefined;
}

/** A message without the large parts of its result, and those by their keys. */
export interface Decoded {
  message: JSONRPCMessage;
  large: Record<string, LargePart>;
}

/**
 * Undefined for what is no message. An answer over a limit becomes an error answer with the same id.
 * `release` is called as soon as the bytes are not needed any more.
 */
export function decode(bytes: Uint8Array, release?: (bytes: Uint8Array) => void): Decoded | undefined {
  if (bytes.length > smallBytes) {
    const { depth, values } = weigh(bytes);
    if (values > maxValues) return refused(bytes, `its answer has more than ${maxValues / 1_000_000} million values`);
    const text = textOf(bytes);
    release?.(bytes);
    const message = readMessage(text);
    if (!message) return undefined;
    if ("method" in message && (values > maxValuesOfOthers || depth > maxDepth)) return undefined;
    // One tool with a schema that is too deep loses the schema, and not the whole list.
    const isList = "result" in message && Object.keys(message.result).some(isListKey);
    if (depth > maxDepth && !isList) return refused(bytes, `its answer is nested more than ${maxDepth} levels deep`);
    if ("error" in message) return { message: shortError(message), large: {} };
    return "result" in message ? split(message) : { message, large: {} };
  }
  const message = readMessage(textOf(bytes));
  return message && { message, large: {} };
}

/** Nobody reads a longer one, and everybody who passes an error on goes through its text. */
const maxErrorChars = 65_536;

function shortError(message: Extract<JSONRPCMessage, { error: unknown }>): JSONRPCMessage {
  const { code, message: words, data } = message.error;
  const isShort = data === undefined || (!isLarge(data) && charsOf(data) <= maxErrorChars);
  return {
    ...message,
    error: { code, message: shortened(words, maxErrorChars), ...(isShort && data !== undefined ? { data } : {}) },
  };
}

const charsOf = (value: unknown) => JSON.stringify(value).length;

/** The message as everyone handles it. */
export function assemble({ message, large }: Decoded): JSONRPCMessage {
  const keys = Object.keys(large);
  if (keys.length === 0 || !("result" in message)) return message;
  const result: Record<string, unknown> = { ...message.result };
  for (const key of keys) result[key] = new LargeJson(large[key]?.json, large[key]?.text);
  return { ...message, result };
}

/** A decoded message as a flat object of strings, which crosses to another thread without being copied. */
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
  return { message: JSON.parse(message) as JSONRPCMessage, large };
}

/** Lists of tools, resources and prompts are bounded here, since whoever reads them needs objects. */
function split(message: Extract<JSONRPCMessage, { result: unknown }>): Decoded {
  const large: Decoded["large"] = Object.create(null);
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(boundedPage(message.result))) {
    if (isListKey(key) || !isLarge(value)) result[key] = value;
    else large[key] = key === "content" ? largeContent(value) : { json: JSON.stringify(value) };
  }
  return { message: { ...message, result }, large };
}

function largeContent(content: unknown): LargePart {
  const text = onlyText(content);
  const [block] = content as unknown[];
  const isPlain = text !== undefined && (content as unknown[]).length === 1 && Object.keys(block ?? {}).length === 2;
  return isPlain ? { text } : { json: JSON.stringify(content), text };
}

/** Whether a value has too many values or characters to stay an object. Stops counting at either limit. */
function isLarge(value: unknown): boolean {
  let values = 0;
  let chars = 0;
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    values += 1;
    if (typeof next === "string") chars += next.length;
    if (Array.isArray(next)) {
      if (next.length >= maxValuesOfPart) return true;
      waiting.push(...next);
    } else if (isObject(next)) {
      for (const key in next) {
        chars += key.length;
        waiting.push(next[key]);
        if (waiting.length > maxValuesOfPart) return true;
      }
    }
    if (values >= maxValuesOfPart || chars > maxCharsOfPart) return true;
  }
  return false;
}

/** Ids stand at the beginning or at the end of a message. One that is not found is an answer that nobody gets. */
function refused(bytes: Uint8Array, why: string): Decoded | undefined {
  const head = textOf(bytes.subarray(0, 1_024));
  const tail = textOf(bytes.subarray(-1_024));
  const found =
    /^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d+|"[^"\\]*")/.exec(head) ??
    /"id"\s*:\s*(\d+|"[^"\\]*")\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$/.exec(tail);
  if (!found) return undefined;
  const id = JSON.parse(found[1] ?? "") as number | string;
  return { message: { jsonrpc: "2.0", id, error: { code: ErrorCode.ParseError, message: why } }, large: {} };
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString();
}
