/** Reads schemas of documents and of tools: references and `allOf` are merged. */
import { isRecord, type OpenDocument, type Place, type Schema } from "./document.ts";

/** Schemas within each other through `allOf`. */
const maxMerged = 30;

export interface Merged {
  /** Keywords whose values are not schemas. */
  keywords: Schema;
  properties: Map<string, Place>;
  required: Set<string>;
  /** Lists of options: the value must fit one of each. */
  choices: Place[][];
  items?: Place | undefined;
  additional?: Place | boolean | undefined;
  types: string[];
  isNullable: boolean;
}

export function merged(document: OpenDocument, place: Place, level = 0): Merged {
  const followed = document.follow(place);
  const schema = isRecord(followed.value) && level < maxMerged ? followed.value : {};
  const { file } = followed;
  const parts = Array.isArray(schema["allOf"]) ? schema["allOf"] : [];
  const own = withProperties(document, ownPart(schema, file), { value: schema["properties"], file });
  // OpenAPI 3.1 allows keywords beside a reference.
  const beside = isRecord(place.value) && "$ref" in place.value ? ownPart(place.value, place.file) : undefined;
  const all = [...parts.map((value) => merged(document, { value, file }, level + 1)), own, ...(beside ? [beside] : [])];
  const types = all.map((each) => each.types).filter(({ length }) => length > 0);
  return {
    keywords: Object.assign({}, ...all.map((each) => each.keywords)) as Schema,
    properties: new Map(all.flatMap((each) => [...each.properties])),
    required: new Set(all.flatMap((each) => [...each.required])),
    choices: all.flatMap((each) => each.choices),
    items: all.findLast((each) => each.items)?.items,
    additional: all.findLast((each) => each.additional !== undefined)?.additional,
    types: types.length === 0 ? [] : types.reduce((one, other) => one.filter((type) => other.includes(type))),
    isNullable: all.some((each) => each.isNullable),
  };
}

/** Some documents refer to the properties of another schema. */
function withProperties(document: OpenDocument, own: Merged, place: Place): Merged {
  if (!isRecord(place.value) || typeof place.value["$ref"] !== "string") return own;
  const { value, file } = document.follow(place);
  const entries = Object.entries(isRecord(value) ? value : {});
  return { ...own, properties: new Map(entries.map(([name, each]) => [name, { value: each, file }])) };
}

const structural = new Set(["$ref", "allOf", "anyOf", "oneOf", "not", "discriminator", "xml", "externalDocs"]);

function ownPart(schema: Schema, file: string): Merged {
  const { properties, required, items, additionalProperties, type, nullable, ...rest } = schema;
  const keywords = Object.fromEntries(
    Object.entries(rest).filter(([key]) => !structural.has(key) && !key.startsWith("x-")),
  );
  const types = [type].flat().filter((each) => typeof each === "string");
  const choices = [schema["anyOf"], schema["oneOf"]].flatMap((list) =>
    Array.isArray(list) ? [list.map((value): Place => ({ value, file }))] : [],
  );
  return {
    keywords,
    properties: new Map(
      Object.entries(isRecord(properties) ? properties : {}).map(([name, value]) => [name, { value, file }]),
    ),
    required: new Set(Array.isArray(required) ? required.map(String) : []),
    choices,
    items: items === undefined ? undefined : { value: items, file },
    additional: isRecord(additionalProperties)
      ? { value: additionalProperties, file }
      : typeof additionalProperties === "boolean"
        ? additionalProperties
        : undefined,
    types: types.filter((each) => each !== "null"),
    isNullable: nullable === true || types.includes("null"),
  };
}

/** Whether the value is the bytes of a file. */
export function isBytes(document: OpenDocument, place: Place): boolean {
  const { keywords, types, items } = merged(document, place);
  if (items) return isBytes(document, items);
  const { format, contentMediaType, contentEncoding } = keywords;
  const isText = types.length === 0 || types.includes("string") || types.includes("file");
  return (
    isText &&
    (types.includes("file") ||
      format === "binary" ||
      (contentMediaType === "application/octet-stream" && contentEncoding === undefined))
  );
}

export function fitsType(types: readonly string[], value: unknown): boolean {
  return types.length === 0 || types.some((type) => isOf(type, value));
}

function isOf(type: string, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isRecord(value);
  return typeof value === (type === "file" ? "string" : type);
}
