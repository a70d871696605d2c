/** Turns types of GraphQL into JSON Schema: arguments completely, with their input objects, and results as far as fields are chosen. */
import {
  type GraphQLArgument,
  type GraphQLEnumType,
  type GraphQLInputField,
  type GraphQLInputObjectType,
  type GraphQLInputType,
  type GraphQLLeafType,
  type GraphQLType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredArgument,
  isRequiredInputField,
  valueFromASTUntyped,
} from "graphql";
import type { JsonObject } from "../../base/json-object.ts";
import { uploadScalars } from "./uploads.ts";

/**
 * Input objects that the schema of one tool describes. Filters of generated APIs refer to each other, so that each of a thousand tools would
 * otherwise describe a thousand of them.
 */
const maxInputObjects = 16;

/** Fields of input objects that the tools of one schema describe together. Each takes about 100 bytes. */
const maxDescribedFields = 200_000;

/** Fields of one input object. */
const maxObjectFields = 500;

/** Values of an enum of a result. A type with more tells a program little. */
const maxResultValues = 24;

/** Values of an enum of an argument. The largest enums of well-known APIs list currencies and countries. */
const maxArgumentValues = 400;

/** Characters of the description of an argument. */
const maxArgumentDescriptionChars = 400;

/** The number of fields that the input objects of a whole schema may still describe. */
export class FieldBudget {
  #left = maxDescribedFields;

  /** Whether there is room for this many fields, which are then used. */
  take(fields: number): boolean {
    if (fields > Math.min(this.#left, maxObjectFields)) return false;
    this.#left -= fields;
    return true;
  }
}

/** The JSON Schemas of the arguments of one field, with the input objects that they use. */
export class ArgumentSchemas {
  readonly #budget: FieldBudget;
  readonly #objects = new Map<string, JsonObject>();
  readonly #waiting: GraphQLInputObjectType[] = [];

  constructor(budget: FieldBudget) {
    this.#budget = budget;
  }

  /** The properties, the names of those that are required, and the input objects. Queries take no `null`, which means the same as nothing. */
  of(args: readonly GraphQLArgument[], kind: "query" | "mutation") {
    const properties: JsonObject = {};
    for (const argument of args) properties[argument.name] = this.#described(argument, kind === "mutation");
    for (let type = this.#waiting.shift(); type; type = this.#waiting.shift()) this.#describe(type);
    const required = args.filter(isRequiredArgument).map(({ name }) => name);
    return { properties, required, $defs: Object.fromEntries(this.#objects) };
  }

  #describe(type: GraphQLInputObjectType): void {
    const fields = Object.values(type.getFields());
    const required = fields.filter(isRequiredInputField).map(({ name }) => name);
    Object.assign(this.#objects.get(type.name) ?? {}, {
      type: "object",
      ...(type.description ? { description: shortText(type.description, maxArgumentDescriptionChars) } : {}),
      properties: Object.fromEntries(fields.map((field) => [field.name, this.#described(field, !type.isOneOf)])),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
      ...(type.isOneOf ? { minProperties: 1, maxProperties: 1 } : {}),
    });
  }

  #described(input: GraphQLArgument | GraphQLInputField, takesNull: boolean): JsonObject {
    const { description, deprecationReason, default: usual } = input;
    const words = [description ?? "", deprecationReason ? `Deprecated: ${deprecationReason}` : ""]
      .filter(Boolean)
      .join(" ");
    const value = usual?.literal ? valueFromASTUntyped(usual.literal) : usual?.value;
    return {
      ...this.#schemaOf(input.type, takesNull),
      ...(words ? { description: shortText(words, maxArgumentDescriptionChars) } : {}),
      ...(value !== undefined && value !== null ? { default: value } : {}),
    };
  }

  #schemaOf(type: GraphQLInputType, takesNull: boolean): JsonObject {
    if (isNonNullType(type)) return this.#schemaOf(type.ofType, false);
    const schema = this.#valueSchema(type);
    return takesNull ? orNull(schema) : schema;
  }

  #valueSchema(type: GraphQLInputType): JsonObject {
    if (isListType(type)) return { type: "array", items: this.#schemaOf(type.ofType, false) };
    if (isInputObjectType(type)) return this.#objectSchema(type);
    if (isEnumType(type)) return enumSchema(type, maxArgumentValues);
    if (isNonNullType(type)) return this.#valueSchema(type.ofType);
    if (type.name === "ID") return { type: ["string", "integer"] };
    return scalarSchema(type.name);
  }

  #objectSchema(type: GraphQLInputObjectType): JsonObject {
    if (!this.#objects.has(type.name)) {
      const hasRoom = this.#objects.size < maxInputObjects && this.#budget.take(Object.keys(type.getFields()).length);
      if (!hasRoom) return { type: "object", title: type.name };
      this.#objects.set(type.name, {});
      this.#waiting.push(type);
    }
    return { $ref: `#/$defs/${type.name}` };
  }
}

/** The schema of a leaf of a result, without `null`. */
export function leafSchema(type: GraphQLLeafType): JsonObject {
  return isEnumType(type) ? enumSchema(type, maxResultValues) : scalarSchema(type.name);
}

/** The schema of a type around the schema of its named type: lists, and `null` where it may be. */
export function wrapped(type: GraphQLType, named: JsonObject): JsonObject {
  if (isNonNullType(type)) return inner(type.ofType, named);
  return orNull(inner(type, named));
}

function inner(type: GraphQLType, named: JsonObject): JsonObject {
  return isListType(type) ? { type: "array", items: wrapped(type.ofType, named) } : named;
}

export function orNull(schema: JsonObject): JsonObject {
  const { type, enum: values } = schema;
  if ("$ref" in schema) return { anyOf: [schema, { type: "null" }] };
  if (type === undefined) return schema;
  return { ...schema, type: [type, "null"].flat(), ...(Array.isArray(values) ? { enum: [...values, null] } : {}) };
}

/** The beginning of a text, on one line. */
export function shortText(text: string, maxChars: number): string {
  const line = text
    .slice(0, 4 * maxChars)
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= maxChars ? line : `${line.slice(0, maxChars - 1).toWellFormed()}…`;
}

function enumSchema(type: GraphQLEnumType, maxValues: number): JsonObject {
  const names = type.getValues().map(({ name }) => name);
  return { type: "string", ...(names.length > 0 && names.length <= maxValues ? { enum: names } : {}) };
}

const known: Record<string, JsonObject> = {
  Int: { type: "integer" },
  Float: { type: "number" },
  String: { type: "string" },
  ID: { type: "string" },
  Boolean: { type: "boolean" },
};

/** The names of scalars that are texts, with their formats. Schemas do not say how a scalar is written, but its name does. */
const texts: [RegExp, string | undefined][] = [
  [/(?:^|_)timestamptz$|date_?time(?:z|utc|iso)?$/i, "date-time"],
  [/^(?:.*_)?date$|[a-z]Date$/, "date"],
  [/^Date$/, "date"],
  [/^(?:uri|url)$|(?:URI|URL|Url|Uri)$/i, "uri"],
  [/^(?:uuid|guid)$/i, "uuid"],
  [/^email(?:address)?$/i, "email"],
  [
    /^(?:html|base64|base64string|sha|gitobjectid|gitsshremote|slug|hexcolor|string|text|markdown|cursor|xid|ulid)$/i,
    undefined,
  ],
  [/(?:ID|Id|String|Text|Html|HTML)$/, undefined],
];

/** Another scalar may have any value. */
function scalarSchema(name: string): JsonObject {
  if (Object.hasOwn(known, name)) return { ...known[name] };
  if (uploadScalars.has(name)) return { type: "string", description: "The path of a file in the workspace." };
  if (/^(?:big_?int|long|int64|u?int(?:8|16|32|64)|biginteger|smallint|bigserial)$/i.test(name))
    return { type: ["integer", "string"] };
  if (/^(?:decimal|bigdecimal|numeric|money)$/i.test(name)) return { type: ["number", "string"] };
  const [, format] = texts.find(([pattern]) => pattern.test(name)) ?? [undefined, null];
  if (format === null) return { title: name };
  return { type: "string", ...(format === undefined ? {} : { format }) };
}
