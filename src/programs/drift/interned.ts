/** One object for equal schemas, because compiled validators are kept by schema object, and each job is parsed anew. */
import type { JsonObject } from "../../base/json-object.ts";

/** By their text. */
const schemas = new Map<string, JsonObject>();

/** Schemas that are kept. Beyond it, all are dropped. */
const maxKeptSchemas = 1_000;

export function interned(schema: JsonObject): JsonObject {
  const text = JSON.stringify(schema);
  const known = schemas.get(text);
  if (known) return known;
  if (schemas.size >= maxKeptSchemas) schemas.clear();
  schemas.set(text, schema);
  return schema;
}
