/** Reads the value of a binding outside the program. */
import type { BindingValue } from "./contract.ts";
import { blocksOf } from "./guest/blocks.ts";

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
