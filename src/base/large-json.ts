/** A large part of an answer that stays JSON text. It is parsed only where objects are needed. */
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { parseExact } from "./exact-json.ts";
import { isObject } from "./json-object.ts";

/** `JSON.stringify` writes the value itself, so a result with such a part can be passed on unchanged. */
export class LargeJson {
  #json: string | undefined;
  /** The text, if the content consists of text blocks. */
  readonly text: string | undefined;

  /** Without `json`, the content is one block with this text. */
  constructor(json: string | undefined, text?: string) {
    this.#json = json;
    this.text = text;
  }

  get json(): string {
    this.#json ??= JSON.stringify([{ type: "text", text: this.text }]);
    return this.#json;
  }

  toJSON(): unknown {
    return parseExact(this.json);
  }
}

/** The value itself. Parsing takes about 10 ms per megabyte. */
export function wholeOf(value: unknown): unknown {
  return value instanceof LargeJson ? value.toJSON() : value;
}

/** The value as JSON text. */
export function jsonOf(value: unknown): string {
  if (value instanceof LargeJson) return value.json;
  return isObject(value) ? objectJson(value) : JSON.stringify(value);
}

/** An object as JSON text. Parts that are JSON text are not parsed. */
export function objectJson(object: Readonly<Record<string, unknown>>): string {
  if (!hasLargePart(object)) return JSON.stringify(object);
  const fields = Object.entries(object).flatMap(([key, value]) => {
    const json = jsonOf(value) as string | undefined;
    return json === undefined ? [] : [`${JSON.stringify(key)}:${json}`];
  });
  return `{${fields.join(",")}}`;
}

/** A message as JSON text. */
export function messageJson(message: JSONRPCMessage): string {
  if (!("result" in message) || !hasLargePart(message.result)) return JSON.stringify(message);
  const { result, ...envelope } = message;
  return `${JSON.stringify(envelope).slice(0, -1)},"result":${objectJson(result)}}`;
}

function hasLargePart(object: Readonly<Record<string, unknown>>): boolean {
  for (const key in object) if (object[key] instanceof LargeJson) return true;
  return false;
}
