/** Reads JSON Schemas, which may be invalid or hostile. */
import { isObject, type JsonObject, stringsIn } from "./json-object.ts";
import { maxSchemasOfValue } from "./limits.ts";

/** The target of a JSON pointer in the document (`#/$defs/a`) or of an anchor; undefined for other references. */
export function resolveReference(reference: string, root: unknown): unknown {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return anchored(reference, root);
  let node: unknown = root;
  for (const key of pointerParts(reference)) {
    if (node === null || typeof node !== "object" || !Object.hasOwn(node, key)) return undefined;
    node = (node as JsonObject)[key];
  }
  return node;
}

/** The names in a JSON pointer such as `#/$defs/a`. */
export function pointerParts(reference: string): string[] {
  return reference.slice(2).split("/").map(decodePointer);
}

/** The definition with the anchor, such as `#node`. */
function anchored(reference: string, root: unknown): unknown {
  if (!reference.startsWith("#") || !isObject(root)) return undefined;
  const name = reference.slice(1);
  const places = [root["$defs"], root["definitions"]].filter(isObject).flatMap(Object.values);
  return places.find((each) => isObject(each) && (each["$anchor"] === name || each["$id"] === reference));
}

function decodePointer(part: string): string {
  const unescaped = (text: string) => text.replace(/~1/g, "/").replace(/~0/g, "~");
  try {
    return unescaped(decodeURIComponent(part));
  } catch {
    return unescaped(part);
  }
}

/** The names that `required` lists. */
export function requiredNames({ required }: JsonObject): Set<string> {
  return new Set(stringsIn(required));
}

/**
 * The arguments that a caller must give: those in `required` without a default. Generators such as zod list arguments with a
 * default too, because they describe the arguments after defaults are filled in. `around` are other schemas of the same value.
 */
export function requiredArguments(schema: JsonObject, root: unknown, around: readonly JsonObject[] = []): Set<string> {
  const names = requiredNames(schema);
  if (names.size === 0) return names;
  const parts = [...sameValue(schema, root), ...around];
  for (const name of names) if (defaultOf(name, parts, root) !== undefined) names.delete(name);
  return names;
}

/** The default of a property in any of the schemas; undefined if there is none. */
export function defaultOf(name: string, schemas: readonly JsonObject[], root: unknown): unknown {
  for (const { properties } of schemas) {
    const property = isObject(properties) && Object.hasOwn(properties, name) ? properties[name] : undefined;
    const found = isObject(property)
      ? sameValue(property, root).find((each) => each["default"] !== undefined)
      : undefined;
    if (found) return found["default"];
  }
  return undefined;
}

/** The schemas that describe the same value: the schema, its reference and its parts of `allOf`. */
export function sameValue(schema: JsonObject, root: unknown): JsonObject[] {
  const found = new Set([schema]);
  for (const { $ref, allOf } of found) {
    const target = typeof $ref === "string" && $ref.startsWith("#/") ? resolveReference($ref, root) : undefined;
    for (const part of [target, ...schemasOf(allOf).slice(0, maxSchemasOfValue)]) {
      if (isObject(part) && found.size < maxSchemasOfValue) found.add(part);
    }
  }
  return [...found];
}

/** Keywords with which an object's schema restricts names beyond its list of properties. */
const moreThanNames =
  "anyOf oneOf allOf not if $ref $dynamicRef $recursiveRef patternProperties propertyNames dependentSchemas unevaluatedProperties".split(
    " ",
  );

/** Whether an object's schema consists only of a list of properties, so that each property is certain. */
export function isPlainObject(schema: unknown): schema is JsonObject & { properties: JsonObject } {
  return isObject(schema) && isObject(schema["properties"]) && !moreThanNames.some((key) => key in schema);
}

/**
 * The only names of arguments that a tool takes, or undefined if it may take others. Servers leave out `additionalProperties`, and then
 * ignore a name that they do not know: a plain list of properties is complete unless it says otherwise. A name that is required but not
 * described is known, too.
 */
export function argumentNames(schema: unknown): ReadonlySet<string> | undefined {
  if (!isPlainObject(schema) || (schema["additionalProperties"] ?? false) !== false) return undefined;
  return new Set([...Object.keys(schema.properties), ...requiredNames(schema)]);
}

/** The types of JSON Schema. */
const typeWords: readonly unknown[] = ["string", "number", "integer", "boolean", "null", "object", "array"];

/**
 * The types that `type` allows, or undefined if it allows every value. Servers write words such as `any` and `int`, which other hosts let
 * pass: a word that JSON Schema does not have constrains nothing.
 */
export function typesIn({ type }: JsonObject): string[] | undefined {
  const words = [type].flat();
  return words.length > 0 && words.every((word) => typeWords.includes(word)) ? (words as string[]) : undefined;
}

/** The schemas of a list; empty if the value is not a list. */
export function schemasOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
