/** What a JSON Schema says of a value, without references and choices. The schema may be hostile. */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { resolveReference, sameValue, schemasOf, typesIn } from "../../base/json-schema.ts";

/** Schemas of the choices of one value. */
const maxChoices = 32;

export interface Form {
  /** Undefined if it may be anything. An integer is a number. */
  types: Set<string> | undefined;
  /** The only texts that it may be, if it is a text. */
  texts: string[] | undefined;
  /** The schemas of the properties of objects, by name. */
  properties: Map<string, { schemas: unknown[]; isRequired: boolean }>;
  items: unknown[];
  /** The values of keys that are data. */
  values: unknown[];
  /** Whether an object has no other properties. */
  isClosed: boolean;
}

/** The form of a value that matches one of the schemas. */
export function formOf(schemas: readonly unknown[], root: JsonObject): Form {
  const forms = choicesOf(schemas, root).map((parts) => formOfParts(parts));
  const [first] = forms;
  if (forms.length <= 1) return first ?? formOfParts([]);
  const objects = forms.filter(({ types }) => !types || types.has("object"));
  const texts = forms.filter(({ types }) => !types || types.has("string"));
  const names = new Set(objects.flatMap(({ properties }) => [...properties.keys()]));
  const properties = [...names].map((name) => {
    const all = objects.map((form) => form.properties.get(name));
    const isRequired = all.every((each) => each?.isRequired);
    return [name, { schemas: all.flatMap((each) => each?.schemas ?? []), isRequired }] as const;
  });
  return {
    types: forms.some(({ types }) => !types) ? undefined : new Set(forms.flatMap(({ types }) => [...(types ?? [])])),
    texts:
      texts.length === 0 || texts.some((form) => !form.texts) ? undefined : texts.flatMap((form) => form.texts ?? []),
    properties: new Map(properties),
    items: forms.flatMap(({ items }) => items),
    values: forms.flatMap(({ values }) => values),
    isClosed: objects.every(({ isClosed }) => isClosed),
  };
}

/** The choices of a value: for each, the schemas that all describe it. */
function choicesOf(schemas: readonly unknown[], root: JsonObject): JsonObject[][] {
  const found: JsonObject[][] = [];
  const waiting: { schema: unknown; around: JsonObject[] }[] = schemas.map((schema) => ({ schema, around: [] }));
  for (let steps = 0; steps < maxChoices; steps++) {
    const next = waiting.shift();
    if (!next) break;
    const { schema, around } = next;
    if (!isObject(schema)) {
      found.push(around);
      continue;
    }
    const parts = [...around, ...sameValueOf(schema, root)];
    const choosing = parts.find((part) => schemasOf(part["anyOf"] ?? part["oneOf"]).length > 0);
    if (!choosing) found.push(parts);
    else {
      const { anyOf, oneOf: one, ...rest } = choosing;
      const others = parts.map((part) => (part === choosing ? rest : part));
      for (const choice of schemasOf(anyOf ?? one)) waiting.push({ schema: choice, around: others });
    }
  }
  return found;
}

/** `sameValue` follows references into the document only. */
function sameValueOf(schema: JsonObject, root: JsonObject): JsonObject[] {
  const { $ref } = schema;
  const target = typeof $ref === "string" && !$ref.startsWith("#/") ? resolveReference($ref, root) : undefined;
  return [...sameValue(schema, root), ...(isObject(target) && target !== schema ? sameValue(target, root) : [])];
}

function formOfParts(parts: readonly JsonObject[]): Form {
  let types: Set<string> | undefined;
  let texts: string[] | undefined;
  const properties: Form["properties"] = new Map();
  const items: unknown[] = [];
  const values: unknown[] = [];
  const required = new Set(parts.flatMap((part) => schemasOf(part["required"])));
  for (const part of parts) {
    const own = typesOfPart(part);
    types = types && own ? types.intersection(own) : (types ?? own);
    const listed = valuesOf(part)?.filter((each) => typeof each === "string");
    texts = texts && listed ? texts.filter((each) => listed.includes(each)) : (texts ?? listed);
    for (const [name, schema] of Object.entries(isObject(part["properties"]) ? part["properties"] : {})) {
      const schemas = [...(properties.get(name)?.schemas ?? []), schema];
      properties.set(name, {
        schemas: [schemas.length === 1 ? schema : { allOf: schemas }],
        isRequired: required.has(name),
      });
    }
    if (isObject(part["items"])) items.push(part["items"]);
    if (isObject(part["additionalProperties"])) values.push(part["additionalProperties"]);
  }
  const isClosed = parts.some((part) => part["additionalProperties"] === false);
  return { types, texts, properties, items, values, isClosed };
}

function valuesOf(part: JsonObject): unknown[] | undefined {
  if ("const" in part) return [part["const"]];
  return Array.isArray(part["enum"]) ? part["enum"] : undefined;
}

function typesOfPart(part: JsonObject): Set<string> | undefined {
  const listed = valuesOf(part)?.map(typeOfValue);
  const types = typesIn(part) ?? listed ?? (isObject(part["properties"]) ? ["object"] : undefined);
  return types && new Set(types.map((type) => (type === "integer" ? "number" : type)));
}

function typeOfValue(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
