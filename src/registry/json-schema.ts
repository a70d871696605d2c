/** Reading JSON Schemas, which may be anything: other people write them. */
import type { JsonObject } from "../clients/result.ts";

/** What a JSON pointer within the document (`#/$defs/a`) leads to, or an anchor; undefined for anything else. */
export function resolveReference(reference: string, root: unknown): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return anchored(reference, root);
  let node: unknown = root;
  for (const part of reference.slice(2).split("/")) {
    const key = decodePointer(part);
    if (node === null || typeof node !== "object" || !Object.hasOwn(node, key)) return undefined;
    node = (node as JsonObject)[key];
  }
  return node;
}

/** `#node`: the definition that calls itself so. */
function anchored(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#") || !isSchema(root)) return undefined;
  const name = reference.slice(1);
  const places = [root["$defs"], root["definitions"]].filter(isSchema).flatMap(Object.values);
  return places.find((each) => isSchema(each) && (each["$anchor"] === name || each["$id"] === reference));
}

function decodePointer(part: string): string {
  const unescaped = (text: string) => text.replace(/~1/g, "/").replace(/~0/g, "~");
  try {
    return unescaped(decodeURIComponent(part));
  } catch {
    return unescaped(part);
  }
}

export function isSchema(value: unknown): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

/** The names that `required` lists. */
export function requiredNames(schema: JsonObject): Set<string> {
  const { required } = schema;
  return new Set(Array.isArray(required) ? required.filter((name) => typeof name === "string") : []);
}

/** The schemas of a list; none where it is no list. */
export function schemasOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
