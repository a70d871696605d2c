/** Reads the value of a binding outside the program. */
import { charsOfBlocks, jsonAtStart, readJson } from "../base/context-characters.ts";
import { eventLoopTurn } from "../base/event-loop.ts";
import type { BindingCall, BindingValue } from "./contract.ts";
import { blocksOf } from "./guest/blocks.ts";
import { answerKind } from "./guest/kinds.ts";
import { jsonCharsInTurn } from "./limits.ts";

/** Longer JSON of content blocks is not parsed for counting. */
const maxCountedBlocksChars = 500_000;

/** The JSON or text that is sent to the worker. */
export function textOf(value: BindingValue): string {
  if ("json" in value) return value.json;
  if ("blocks" in value) return value.blocks;
  return "text" in value ? value.text : value.jsonOrText;
}

type Counted = Pick<BindingCall, "group" | "raw">;

/** Characters that a model would have read, at most `most`. */
export function contextChars(value: BindingValue, call: Counted, most: number): number {
  const text = textOf(value);
  const counted = charsOfOthers(value, text, call);
  if (counted !== undefined) return Math.min(counted, most);
  const reading = jsonAtStart();
  readJson(text, reading, text.length, most);
  return Math.min(reading.chars, most);
}

/** All characters that a model would have read. Other events are handled while a large result is read. */
export async function allContextChars(value: BindingValue, call: Counted): Promise<number> {
  const text = textOf(value);
  const counted = charsOfOthers(value, text, call);
  if (counted !== undefined) return counted;
  const reading = jsonAtStart();
  while (reading.at < text.length) {
    if (reading.at > 0) await eventLoopTurn();
    readJson(text, reading, reading.at + jsonCharsInTurn);
  }
  return reading.chars;
}

/** Content blocks count by their texts, and images by their cost. Undefined for JSON, which is counted as programs return it. */
function charsOfOthers(value: BindingValue, text: string, { group, raw }: Counted): number | undefined {
  if ("text" in value || ("jsonOrText" in value && !/^\s*[[{]/.test(text))) return text.length;
  if (!("blocks" in value) && !("json" in value && (raw || group !== "tools"))) return undefined;
  if (text.length > maxCountedBlocksChars) return 0;
  if ("blocks" in value) return charsOfBlocks(JSON.parse(text));
  const { content, contents } = (JSON.parse(text) ?? {}) as { content?: unknown; contents?: unknown };
  return Array.isArray(content ?? contents) ? charsOfBlocks(content ?? contents) : undefined;
}

/** The value as the program sees it. */
export function parsedValue(value: BindingValue): unknown {
  if ("text" in value) return value.text;
  if ("json" in value) return JSON.parse(value.json);
  if ("blocks" in value) return blocksOf(JSON.parse(value.blocks));
  try {
    return JSON.parse(value.jsonOrText);
  } catch {
    return value.jsonOrText;
  }
}

/** The value as it crosses into the engine. A text with zero characters or lone surrogates is sent as JSON, which can escape them. */
export function payloadOf(value: BindingValue): [kind: number, payload: string] {
  if ("json" in value) return [answerKind.json, value.json];
  if ("blocks" in value) return [answerKind.blocks, value.blocks];
  const text = "text" in value ? value.text : value.jsonOrText;
  if (text.includes("\0") || !text.isWellFormed()) return [answerKind.json, JSON.stringify(text)];
  return ["text" in value ? answerKind.text : answerKind.jsonOrText, text];
}
