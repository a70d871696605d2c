/** What a binding returned, looked at from outside the code. */
import type { BindingValue } from "./contract.ts";

/** As it is sent: JSON or text. */
export function textOf(value: BindingValue): string {
  if ("json" in value) return value.json;
  if ("blocks" in value) return value.blocks;
  return "text" in value ? value.text : value.jsonOrText;
}

/** As the code sees it. */
export function parsedValue(value: BindingValue): unknown {
  if ("text" in value) return value.text;
  if (!("jsonOrText" in value)) return JSON.parse(textOf(value));
  try {
    return JSON.parse(value.jsonOrText);
  } catch {
    return value.jsonOrText;
  }
}
