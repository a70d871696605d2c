/** References within a JSON Schema. */
import type { JsonObject } from "../clients/result.ts";

/** What a JSON pointer within the document (`#/$defs/a`) leads to; undefined for anything else. */
export function resolveReference(reference: string, root: unknown): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  let node: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = decodePointer(part);
    if (node === null || typeof node !== "object" || !Object.hasOwn(node, key)) return undefined;
    node = (node as JsonObject)[key];
  }
  return node;
}

function decodePointer(part: string): string {
  const unescaped = (text: string) => text.replace(/~1/g, "/").replace(/~0/g, "~");
  try {
    return unescaped(decodeURIComponent(part));
  } catch {
    return unescaped(part);
  }
}
