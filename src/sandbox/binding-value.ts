/** What a binding returned, looked at from outside the code. */
import type { BindingValue } from "./contract.ts";
import { blocksOf } from "./guest/blocks.ts";

/** As it is sent: JSON or text. */
export function textOf(value: BindingValue): string {
  if ("json" in value) return value.json;
  if ("blocks" in value) return value.blocks;
  return "text" in value ? value.text : value.jsonOrText;
}

/** As the code sees it. */
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
