/** Estimates the size of JSON without making its text, which costs as much as the rest of a call. */
/** About the characters of a value as JSON. */
export function jsonSize(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 8;
  if (isJsonText(value)) return (value.text ?? value.json).length;
  let size = 0;
  for (const key in value) size += key.length + jsonSize((value as Record<string, unknown>)[key]);
  return size;
}

/** Whether a part of a result stays JSON text, because it is large. Values that a server sends have no functions. */
function isJsonText(value: object): value is { text?: string; json: string } {
  return "toJSON" in value && typeof value.toJSON === "function" && "json" in value;
}
