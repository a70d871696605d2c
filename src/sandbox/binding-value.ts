/** Reads the value of a binding outside the program. */
import type { BindingValue } from "./contract.ts";
import { blocksOf } from "./guest/blocks.ts";
import { answerKind } from "./guest/kinds.ts";

/** The JSON or text that is sent to the worker. */
export function textOf(value: BindingValue): string {
  if ("json" in value) return value.json;
  if ("blocks" in value) return value.blocks;
  return "text" in value ? value.text : value.jsonOrText;
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
