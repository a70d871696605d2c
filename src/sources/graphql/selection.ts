/** The fields that a call returns if it chooses none: scalars and one level of objects. */
import {
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLNamedOutputType,
  type GraphQLObjectType,
  type GraphQLOutputType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
  isUnionType,
} from "graphql";
import type { JsonObject } from "../../base/json-object.ts";
import { leafSchema, orNull, wrapped } from "./types.ts";

/** Fields of the value itself. Objects of well-known APIs have at most 80 plain fields. */
const maxFields = 80;

/** Objects in the value. Servers limit the cost of a request, and each object adds to it. */
const maxObjects = 24;

/** Fields of each of these objects. */
const maxInnerFields = 24;

/** Types of a union whose fields are chosen. */
const maxUnionTypes = 12;

/** The text of a selection, with its braces, and the JSON Schema of the value. */
export interface Selection {
  text: string;
  schema: JsonObject;
}

type Fields = Record<string, GraphQLField<unknown, unknown>>;

/** The default selection. Undefined if the type has no fields. */
export function defaultSelection(type: GraphQLOutputType, schema: GraphQLSchema): Selection | undefined {
  const named = getNamedType(type);
  if (isLeafType(named)) return undefined;
  const { text, schema: object } = objectSelection(named, schema, 1);
  return { text, schema: wrapped(type, object) };
}

function objectSelection(named: GraphQLNamedOutputType, schema: GraphQLSchema, levels: number): Selection {
  if (isUnionType(named)) return unionSelection(named.getTypes(), schema);
  const fields = isObjectType(named) || isInterfaceType(named) ? named.getFields() : {};
  const plain = plainFields(fields).slice(0, levels > 0 ? maxFields : maxInnerFields);
  const parts = plain.map(({ name }) => name);
  const properties: JsonObject = Object.fromEntries(plain.map((field) => [field.name, leafOf(field)]));
  const add = (name: string, { type }: { type: GraphQLOutputType }, inner: Selection) => {
    parts.push(`${name} ${inner.text}`);
    properties[name] = wrapped(type, inner.schema);
  };
  const rows = levels > 0 ? rowsOf(fields) : undefined;
  if (rows) add(rows.name, rows, rowSelection(rows, schema));
  if (levels > 0) {
    const objects = Object.values(fields).filter((field) => field !== rows && isChosenObject(field));
    // The rows of a connection that has both are the same.
    const others = rows?.name === "nodes" ? objects.filter(({ name }) => name !== "edges") : objects;
    for (const field of others.slice(0, maxObjects)) {
      const inner = objectSelection(getNamedType(field.type), schema, 0);
      if (inner.text !== "{ __typename }") add(field.name, field, inner);
    }
  }
  if (isInterfaceType(named) || parts.length === 0) {
    parts.unshift("__typename");
    properties["__typename"] = { type: "string" };
  }
  return { text: `{ ${parts.join(" ")} }`, schema: openObject(properties) };
}

/** Fields with the same name must have the same type in all types of a union, so others are left out. */
function unionSelection(types: readonly GraphQLObjectType[], schema: GraphQLSchema): Selection {
  const typeOf = new Map<string, string>();
  const properties: JsonObject = { __typename: { type: "string" } };
  const parts = types.slice(0, maxUnionTypes).flatMap((type) => {
    const fields = plainFields(type.getFields()).filter((field) => {
      const text = String(field.type);
      if ((typeOf.get(field.name) ?? text) !== text) return false;
      typeOf.set(field.name, text);
      properties[field.name] = leafOf(field);
      return true;
    });
    const names = fields.slice(0, maxInnerFields).map(({ name }) => name);
    return names.length > 0 && schema.getType(type.name) ? [`... on ${type.name} { ${names.join(" ")} }`] : [];
  });
  return { text: `{ ${["__typename", ...parts].join(" ")} }`, schema: openObject(properties) };
}

/** The rows of a connection have scalars and one level of objects, as the items of a list do. */
function rowSelection(rows: GraphQLField<unknown, unknown>, schema: GraphQLSchema): Selection {
  if (rows.name === "nodes") return objectSelection(getNamedType(rows.type), schema, 1);
  const edge = getNamedType(rows.type);
  const fields = isObjectType(edge) || isInterfaceType(edge) ? edge.getFields() : {};
  const node = fields["node"];
  const inner = node && objectSelection(getNamedType(node.type), schema, 1);
  const plain = plainFields(fields).slice(0, maxInnerFields);
  const properties: JsonObject = Object.fromEntries(plain.map((field) => [field.name, leafOf(field)]));
  if (node && inner) properties["node"] = wrapped(node.type, inner.schema);
  const parts = [...plain.map(({ name }) => name), ...(inner ? [`node ${inner.text}`] : [])];
  return { text: `{ ${parts.join(" ")} }`, schema: openObject(properties) };
}

/** The field with the rows of a connection. Undefined for other types. */
export function rowsOf(fields: Fields): GraphQLField<unknown, unknown> | undefined {
  const info = fields["pageInfo"];
  const infoType = info && getNamedType(info.type);
  if (!isObjectType(infoType)) return undefined;
  const infoFields = infoType.getFields();
  if (!infoFields["hasNextPage"] || !infoFields["endCursor"]) return undefined;
  const lists = [fields["nodes"], fields["edges"]];
  return lists.find((field) => field && isListType(getNullableType(field.type)) && isObjectRow(field));
}

function isObjectRow(field: GraphQLField<unknown, unknown>): boolean {
  if (isLeafType(getNamedType(field.type))) return false;
  if (field.name === "nodes") return true;
  const edge = getNamedType(field.type);
  const node = isObjectType(edge) || isInterfaceType(edge) ? edge.getFields()["node"] : undefined;
  return node !== undefined && !isLeafType(getNamedType(node.type));
}

/** The fields without fields of their own that need no argument. */
function plainFields(fields: Fields) {
  return Object.values(fields).filter(
    ({ type, args, deprecationReason }) =>
      isLeafType(getNamedType(type)) && !args.some(isRequiredArgument) && deprecationReason == null,
  );
}

/** Fields with arguments are lists to page through, or do something else. */
function isChosenObject({ type, args, deprecationReason }: GraphQLField<unknown, unknown>): boolean {
  const named = getNamedType(type);
  return !isLeafType(named) && args.length === 0 && deprecationReason == null;
}

function leafOf({ type }: GraphQLField<unknown, unknown>): JsonObject {
  return wrapped(type, leafSchema(getNamedType(type) as GraphQLLeafType));
}

/** A caller may choose other fields, and give them other names. */
function openObject(properties: JsonObject): JsonObject {
  return { type: "object", properties };
}

/** The schema of the value of a field that has no fields. */
export function leafResult(type: GraphQLOutputType): JsonObject {
  const named = getNamedType(type);
  return isLeafType(named) ? wrapped(type, leafSchema(named)) : orNull({});
}
