/** Reads the schemas of a document: references and `allOf` are merged, and the dialects of all versions of OpenAPI become one. */
import { isObject, type JsonObject, stringsIn } from "../../base/json-object.ts";
import { at, type Documents, type ObjectPlace, type Place } from "./document/documents.ts";

/** Schemas within `allOf` of each other. */
const maxMergedLevels = 16;

/** Characters of the name of a property. Longer ones are left out. */
const maxPropertyNameChars = 200;

/** Characters of the name of a schema. */
const maxSchemaNameChars = 60;

/** Parts of one `allOf`, and options of one choice. */
const maxSchemaParts = 500;

/** A schema without references and `allOf` at its top. */
export interface FlatSchema {
  /** Keywords whose values are no schemas. `type` is left out. */
  keywords: JsonObject;
  /** Undefined if every type is possible. */
  types: string[] | undefined;
  properties: ReadonlyMap<string, Place>;
  required: ReadonlySet<string>;
  /** The value is one of the options of each choice. */
  choices: readonly (readonly Place[])[];
  items?: Place | undefined;
  prefixItems?: readonly Place[] | undefined;
  /** Properties that are not named. Undefined if nothing is said about them. */
  additional?: boolean | Place | undefined;
  isNullable: boolean;
}

/** Most schemas have no properties and choices, and a large document has a hundred thousand schemas. */
const noProperties: ReadonlyMap<string, Place> = new Map();
const noNames: ReadonlySet<string> = new Set();
const noChoices: readonly (readonly Place[])[] = [];

const noSchema: FlatSchema = {
  keywords: {},
  types: undefined,
  properties: noProperties,
  required: noNames,
  choices: noChoices,
  isNullable: false,
};

/** A schema that is only a reference, perhaps with a description. */
export interface NamedSchema {
  target: ObjectPlace;
  name: string;
  description?: string | undefined;
  isNullable: boolean;
}

interface PropertyNames {
  /** As in the document. */
  inOrder: string[];
  requiredFirst: string[];
}

export class FlatSchemas {
  readonly #documents: Documents;
  readonly #known = new WeakMap<object, FlatSchema>();
  readonly #open = new Set<object>();
  readonly #names = {
    request: new WeakMap<FlatSchema, PropertyNames>(),
    response: new WeakMap<FlatSchema, PropertyNames>(),
  };

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  of(place: Place): FlatSchema {
    const { value } = place;
    if (!isObject(value)) return noSchema;
    let flat = this.#known.get(value);
    if (!flat) {
      // A schema that contains itself through `allOf` adds nothing the second time.
      if (this.#open.has(value) || this.#open.size >= maxMergedLevels) return noSchema;
      this.#open.add(value);
      flat = this.#merged(place as ObjectPlace);
      this.#open.delete(value);
      // Texts and numbers are read faster than they are kept.
      if (flat.properties !== noProperties || flat.choices !== noChoices || "allOf" in value)
        this.#known.set(value, flat);
    }
    return flat;
  }

  /** The schema that a reference names. Undefined if the schema has keywords of its own. */
  named(place: Place): NamedSchema | undefined {
    const { value } = place;
    if (!isObject(value) || !("$ref" in value || "allOf" in value)) return undefined;
    return this.#nameOf(place as ObjectPlace);
  }

  /** The names of the properties that a caller sends or gets, those that are required first. */
  propertyNames(flat: FlatSchema, side: "request" | "response"): PropertyNames {
    const known = this.#names[side].get(flat);
    if (known) return known;
    const hidden = side === "request" ? "readOnly" : "writeOnly";
    const names = [...flat.properties].flatMap(([name, place]) =>
      name.length <= maxPropertyNameChars && !this.#isMarked(place, hidden) ? [name] : [],
    );
    const required = names.filter((name) => flat.required.has(name));
    const sorted = required.length === 0 ? names : [...required, ...names.filter((name) => !flat.required.has(name))];
    const found = { inOrder: names, requiredFirst: sorted };
    this.#names[side].set(flat, found);
    return found;
  }

  #isMarked(place: Place, mark: "readOnly" | "writeOnly"): boolean {
    const { value } = place;
    if (!isObject(value)) return false;
    return value[mark] === true || (("$ref" in value || "allOf" in value) && this.of(place).keywords[mark] === true);
  }

  #nameOf({ value, document }: ObjectPlace): NamedSchema | undefined {
    const { $ref, allOf, description } = value;
    const [only] = Array.isArray(allOf) && allOf.length === 1 ? allOf : [];
    const reference = typeof $ref === "string" ? $ref : isObject(only) ? only["$ref"] : undefined;
    if (typeof reference !== "string") return undefined;
    for (const key in value) if (!besideReference.has(key) && !key.startsWith("x-")) return undefined;
    const target = this.#documents.object({ value: { $ref: reference }, document });
    return (
      target && {
        target,
        name: nameIn(reference),
        description: typeof description === "string" ? description : undefined,
        isNullable: value["nullable"] === true,
      }
    );
  }

  #merged(place: ObjectPlace): FlatSchema {
    const { value, document } = place;
    const parts: FlatSchema[] = [];
    if (typeof value["$ref"] === "string") {
      const target = this.#documents.follow(place);
      if (target) parts.push(this.of(target));
    }
    const { allOf } = value;
    if (Array.isArray(allOf))
      for (const part of allOf.slice(0, maxSchemaParts)) parts.push(this.of({ value: part, document }));
    const own = ownSchema(place, this.#documents);
    if (parts.length === 0) return own;
    return [...parts, own].reduce(both);
  }
}

const besideReference = new Set([
  "$ref",
  "allOf",
  "description",
  "title",
  "nullable",
  "example",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
  "xml",
]);

/** Keywords that are copied. Others are schemas, or say nothing about the value. */
const plainKeywords = new Set([
  "format",
  "enum",
  "const",
  "default",
  "description",
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "pattern",
  "minItems",
  "maxItems",
  "uniqueItems",
  "minProperties",
  "maxProperties",
  "deprecated",
  "readOnly",
  "writeOnly",
  "contentEncoding",
  "contentMediaType",
]);

function ownSchema(place: ObjectPlace, documents: Documents): FlatSchema {
  const { value } = place;
  const keywords: JsonObject = {};
  for (const key in value) if (plainKeywords.has(key)) keywords[key] = value[key];
  const { example, examples } = value;
  const sample = example ?? (Array.isArray(examples) ? examples[0] : undefined);
  if (sample !== undefined) keywords["example"] = sample;
  readBounds(value, keywords);
  const { properties, required, items, prefixItems, additionalProperties, anyOf, oneOf } = value;
  const choices = anyOf === undefined && oneOf === undefined ? noChoices : choicesOf(place);
  const { types, isNull, isFile } = readTypes(value);
  if (isFile) keywords["format"] = "binary";
  return {
    keywords,
    types,
    properties: isObject(properties) ? propertiesOf(place, documents) : noProperties,
    required: Array.isArray(required) && required.length > 0 ? new Set(stringsIn(required)) : noNames,
    // Before OpenAPI 3.1, `null` was an option of some documents.
    choices:
      choices === noChoices
        ? noChoices
        : choices
            .map((options) => options.filter(({ value: option }) => !isNullSchema(option)))
            .filter(({ length }) => length > 0),
    ...(Array.isArray(items) || items === undefined ? {} : { items: itemsOf(place, types, keywords) }),
    ...(Array.isArray(prefixItems) ? { prefixItems: placesIn(prefixItems, place) } : {}),
    ...(isObject(additionalProperties) ? { additional: at(place, "additionalProperties") } : {}),
    ...(typeof additionalProperties === "boolean" ? { additional: additionalProperties } : {}),
    isNullable:
      value["nullable"] === true ||
      isNull ||
      choices.some((options) => options.some(({ value: option }) => isNullSchema(option))),
  };
}

/** The values of a list stand beside its items in some documents. They are removed from `keywords`. */
function itemsOf(place: ObjectPlace, types: string[] | undefined, keywords: JsonObject): Place {
  const items = at(place, "items");
  const { enum: values } = keywords;
  const isMisplaced = Array.isArray(values) && types?.join() === "array" && !values.some(Array.isArray);
  if (!isMisplaced || !isObject(items.value) || "$ref" in items.value) return items;
  delete keywords["enum"];
  return { value: { enum: values, ...items.value }, document: items.document };
}

/** Some documents refer to the properties of another schema. */
function propertiesOf(place: ObjectPlace, documents: Documents): ReadonlyMap<string, Place> {
  const own = at(place, "properties");
  const isReference = typeof (own.value as JsonObject)["$ref"] === "string";
  const { value, document } = (isReference ? documents.object(own) : undefined) ?? (own as ObjectPlace);
  return new Map(Object.keys(value).map((name) => [name, { value: value[name], document }]));
}

function placesIn(list: unknown, { document }: ObjectPlace): Place[] {
  return Array.isArray(list) ? list.slice(0, maxSchemaParts).map((value) => ({ value, document })) : [];
}

function choicesOf(place: ObjectPlace): Place[][] {
  const { anyOf, oneOf } = place.value;
  return [placesIn(anyOf, place), placesIn(oneOf, place)].filter(({ length }) => length > 0);
}

const typeLists = new Map(["string", "number", "integer", "boolean", "object", "array"].map((type) => [type, [type]]));

/** `file` is from Swagger 2. */
function readTypes({ type }: JsonObject): { types: string[] | undefined; isNull: boolean; isFile: boolean } {
  if (type === undefined) return { types: undefined, isNull: false, isFile: false };
  const only = typeof type === "string" ? typeLists.get(type) : undefined;
  if (only) return { types: only, isNull: false, isFile: false };
  const words = [type].flat();
  const isFile = words.includes("file");
  const isNull = words.includes("null");
  const types = words.filter((word): word is string => typeof word === "string" && typeLists.has(word));
  if (isFile) types.push("string");
  return { types: types.length > 0 || isNull ? types : undefined, isNull, isFile };
}

const isNullSchema = (schema: unknown) => isObject(schema) && schema["type"] === "null";

/** In OpenAPI 3.0, `exclusiveMinimum` says whether `minimum` is exclusive. */
function readBounds(value: JsonObject, keywords: JsonObject): void {
  for (const [exclusive, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof value[exclusive] !== "boolean") continue;
    delete keywords[exclusive];
    if (!value[exclusive] || typeof value[bound] !== "number") continue;
    keywords[exclusive] = value[bound];
    delete keywords[bound];
  }
}

/** Both schemas hold. Where they say different things, the second one counts. */
function both(one: FlatSchema, other: FlatSchema): FlatSchema {
  if (one === noSchema) return other;
  if (other === noSchema) return one;
  return {
    keywords: { ...one.keywords, ...other.keywords },
    types: other.types ?? one.types,
    properties: other.properties.size === 0 ? one.properties : new Map([...one.properties, ...other.properties]),
    required: other.required.size === 0 ? one.required : new Set([...one.required, ...other.required]),
    choices: [...one.choices, ...other.choices],
    items: other.items ?? one.items,
    prefixItems: other.prefixItems ?? one.prefixItems,
    additional: other.additional ?? one.additional,
    isNullable: one.isNullable || other.isNullable,
  };
}

const names = new Map<string, string>();

/** `#/components/schemas/Pet` → `Pet`, `models/pet.yml` → `pet`. */
function nameIn(reference: string): string {
  let name = names.get(reference);
  if (name === undefined) {
    const last = reference.split(/[/#]/).filter(Boolean).at(-1) ?? "";
    const plain = last.replace(/\.(?:json|ya?ml)$/i, "").replace(/[^A-Za-z0-9_.-]+/g, "_");
    name = plain.slice(0, maxSchemaNameChars) || "schema";
    names.set(reference, name);
  }
  return name;
}
