/** The document that calls one field of a schema, and the connection in its result. */
import {
  type GraphQLField,
  type GraphQLNamedOutputType,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isLeafType,
  isListType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import type { ConnectionPages, GraphqlOperation } from "./operation.ts";
import { rowsOf } from "./selection.ts";

/** An argument of a field, with its type in GraphQL. It is also a variable of the document. */
export interface FieldArgument {
  name: string;
  type: string;
}

interface FieldCall {
  kind: GraphqlOperation["kind"];
  path: readonly string[];
  variables: readonly FieldArgument[];
  /** With braces. Empty if the field has no fields. */
  selection: string;
}

/** An argument with a default is declared as optional, so that leaving it out means the default. */
export function fieldArguments({ args }: GraphQLField<unknown, unknown>): FieldArgument[] {
  return args.map((argument) => {
    const type = String(argument.type);
    return {
      name: argument.name,
      type: type.endsWith("!") && !isRequiredArgument(argument) ? type.slice(0, -1) : type,
    };
  });
}

/** Every argument is a variable. One that has no value is left out by the server. */
export function fieldDocument({ kind, path, variables, selection }: FieldCall): string {
  const declared = variables.map(({ name, type }) => `$${name}: ${type}`).join(", ");
  const passed = variables.map(({ name }) => `${name}: $${name}`).join(", ");
  const field = `${path.at(-1)}${passed === "" ? "" : `(${passed})`}${selection === "" ? "" : ` ${selection}`}`;
  const body = path.slice(0, -1).reduceRight((inner, name) => `${name} { ${inner} }`, field);
  return `${kind}${declared === "" ? "" : `(${declared})`} { ${body} }`;
}

/** The fields of a type; none if it is a union or has no fields. */
export function fieldsOf(type: GraphQLNamedOutputType): Record<string, GraphQLField<unknown, unknown>> {
  return isObjectType(type) || isInterfaceType(type) ? type.getFields() : {};
}

/** How the pages of a field's own connection follow each other, with the default selection. */
export function pagesOf(field: GraphQLField<unknown, unknown>): ConnectionPages | undefined {
  const named = getNamedType(field.type);
  if (isLeafType(named) || isListType(getNullableType(field.type))) return undefined;
  const rows = rowsOf(fieldsOf(named));
  if (!rows || !takesCursor(field)) return undefined;
  return { info: ["pageInfo"], isAdded: false, items: [rows.name], next: { argument: "after" } };
}

/** Whether a call can choose a connection inside of the result, at most two levels down. */
export function hasInnerPages({ type }: GraphQLField<unknown, unknown>, levels = 2): boolean {
  if (levels === 0 || isListType(getNullableType(type))) return false;
  const fields = Object.values(fieldsOf(getNamedType(type)));
  return fields.some((each) => pagesOf(each) !== undefined) || fields.some((each) => hasInnerPages(each, levels - 1));
}

/** Whether a field has the argument with which Relay's connections continue. */
export function takesCursor({ args }: GraphQLField<unknown, unknown>): boolean {
  return args.some(({ name }) => name === "after");
}
