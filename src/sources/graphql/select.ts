/** Checks the fields that a caller has chosen with `select`, and makes the request. It runs in a worker: callers choose the text, and others the schema. */
import {
  type FieldNode,
  GraphQLError,
  type GraphQLField,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isListType,
  Kind,
  type OperationDefinitionNode,
  parse,
  type SelectionSetNode,
  specifiedRules,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from "graphql";
import { ClaudikinsError } from "../../base/errors.ts";
import { didYouMean } from "../../base/near-names.ts";
import { fieldArguments, fieldDocument, fieldsOf, takesCursor } from "./document.ts";
import type { ConnectionPages, GraphqlOperation, GraphqlRequest, NextArgument } from "./operation.ts";
import { rowsOf } from "./selection.ts";
import { shortText } from "./types.ts";

/** Characters of `select`. */
const maxSelectChars = 20_000;

/** Tokens of `select`. Some checks take time in proportion to the square of its fields. */
const maxSelectTokens = 2_000;

/** Problems that an error names. */
const maxProblems = 4;

/** Characters that list the fields of a type in an error. */
const maxListedFieldsChars = 600;

/** The alias of a `PageInfo` that the caller has not chosen. */
const addedInfo = "page_info_of_claudikins";

/** Makes the request of an operation with these fields. Throws INVALID_ARGUMENTS. */
export function requestWith(schema: GraphQLSchema, operation: GraphqlOperation, select: string): GraphqlRequest {
  const { kind, request } = operation;
  const field = fieldAt(schema, operation);
  const invalid = (problems: string[], hint?: string) =>
    new ClaudikinsError("INVALID_ARGUMENTS", `${operation.select}: ${problems.join("; ")}`, { hint });
  if (select.length > maxSelectChars) throw invalid([`it has more than ${maxSelectChars} characters`]);
  // Braces around the whole are common, and mean the same.
  const braced = /^\s*\{[\s\S]*\}\s*$/.test(select) ? ` ${select} ` : `{${select}\n}`;
  const chosen = parsed(braced, invalid);
  const call = { kind, path: request.path, variables: fieldArguments(field) };
  const document = parse(fieldDocument({ ...call, selection: braced }), { maxTokens: undefined });
  const [unknown] = unknownFields(schema, document.definitions[0] as OperationDefinitionNode);
  if (unknown) throw invalid([unknown.problem], unknown.hint);
  const errors = validate(schema, document, specifiedRules, { maxErrors: maxProblems });
  if (errors.length > 0) throw invalid(errors.map(({ message }) => shortText(message, 400)));
  const pages = connectionIn(field, chosen);
  if (!pages) return { document: fieldDocument({ ...call, selection: braced }), path: request.path };
  const at = pages.end - 1;
  const selection = `${braced.slice(0, at)} ${addedInfo}: pageInfo { hasNextPage endCursor } ${braced.slice(at)}`;
  return { document: fieldDocument({ ...call, selection }), path: request.path, pages: pages.pages };
}

function fieldAt(
  schema: GraphQLSchema,
  { kind, request: { path }, name }: GraphqlOperation,
): GraphQLField<unknown, unknown> {
  let type = kind === "query" ? schema.getQueryType() : schema.getMutationType();
  let field: GraphQLField<unknown, unknown> | undefined;
  for (const each of path) {
    field = type?.getFields()[each];
    type = field && (getNamedType(field.type) as typeof type);
  }
  if (!field) throw new ClaudikinsError("TOOL_NOT_FOUND", `the schema has no ${kind} for ${name}`);
  return field;
}

/** A selection alone: no operations, fragments or variables, which have no place in it. */
function parsed(braced: string, invalid: (problems: string[], hint?: string) => Error): SelectionSetNode {
  const example = 'Write the fields of the result alone, such as "id name owner { id }".';
  try {
    const { definitions } = parse(braced, { maxTokens: maxSelectTokens });
    const [definition, ...others] = definitions;
    if (definition?.kind !== Kind.OPERATION_DEFINITION || others.length > 0)
      throw invalid(["it must be one selection of fields"], example);
    visit(definition, {
      Variable: () => {
        throw invalid(["variables cannot be used"], "Write the value itself.");
      },
      FragmentSpread: () => {
        throw invalid(["named fragments cannot be used"], 'Write "... on Type { … }" instead.');
      },
    });
    return definition.selectionSet;
  } catch (error) {
    if (error instanceof GraphQLError) throw invalid([shortText(error.message, 400)], example);
    throw error;
  }
}

/** Fields that a type does not have. An error lists the fields that it has. */
function unknownFields(schema: GraphQLSchema, operation: OperationDefinitionNode): { problem: string; hint: string }[] {
  const problems: { problem: string; hint: string }[] = [];
  const info = new TypeInfo(schema);
  visit(
    operation,
    visitWithTypeInfo(info, {
      Field({ name: { value: name } }) {
        const type = info.getParentType();
        if (!type || info.getFieldDef() || problems.length >= maxProblems) return undefined;
        const names = Object.keys(fieldsOf(type));
        const near = didYouMean(name, names);
        const all = names.length === 0 ? "" : `${type.name} has ${shortText(names.join(", "), maxListedFieldsChars)}.`;
        problems.push({
          problem: `${type.name} has no field "${shortText(name, 80)}"`,
          hint: [near, all].filter(Boolean).join(" "),
        });
        return false;
      },
    }),
  );
  return problems;
}

/** A connection in the chosen fields, and the end of its selection in the text. */
interface FoundConnection {
  pages: ConnectionPages;
  end: number;
}

/** The only connection that is not in a list. With several, no one can say which of them `pages` follows. */
function connectionIn(field: GraphQLField<unknown, unknown>, chosen: SelectionSetNode): FoundConnection | undefined {
  const own = takesCursor(field) ? connectionOf(field, chosen, [], { argument: "after" }) : undefined;
  if (own || isInList(field)) return own;
  const found = connectionsBelow(field, chosen, []);
  return found.length === 1 ? found[0] : undefined;
}

function connectionsBelow(
  field: GraphQLField<unknown, unknown>,
  chosen: SelectionSetNode,
  path: string[],
): FoundConnection[] {
  const fields = fieldsOf(getNamedType(field.type));
  return chosen.selections.flatMap((each): FoundConnection[] => {
    if (each.kind !== Kind.FIELD || !each.selectionSet) return [];
    const inner = fields[each.name.value];
    if (!inner || isInList(inner)) return [];
    const here = [...path, keyOf(each)];
    const own = takesCursor(inner) ? connectionOf(inner, each.selectionSet, here, placeOf(each)) : undefined;
    return own ? [own] : connectionsBelow(inner, each.selectionSet, here);
  });
}

function connectionOf(
  field: GraphQLField<unknown, unknown>,
  chosen: SelectionSetNode,
  path: string[],
  next: NextArgument,
): FoundConnection | undefined {
  const fields = fieldsOf(getNamedType(field.type));
  if (isInList(field) || !rowsOf(fields)) return undefined;
  const named = (name: string) =>
    chosen.selections.find((each): each is FieldNode => each.kind === Kind.FIELD && each.name.value === name);
  const rows = named("nodes") ?? named("edges");
  if (!rows || !chosen.loc) return undefined;
  const pages = { info: [...path, addedInfo], isAdded: true, items: [...path, keyOf(rows)], next };
  return { pages, end: chosen.loc.end };
}

const isInList = ({ type }: GraphQLField<unknown, unknown>) => isListType(getNullableType(type));
const keyOf = ({ alias, name }: FieldNode) => alias?.value ?? name.value;

/** Where the caller's text, which begins one character later in the document, gets the cursor: as the value of `after`, or among the arguments. */
function placeOf({ name, arguments: given = [] }: FieldNode): Exclude<NextArgument, { argument: string }> {
  const own = given.find((each) => each.name.value === "after")?.value.loc;
  if (own) return { start: own.start - 1, end: own.end - 1, before: "", after: "" };
  const first = given[0]?.loc;
  const at = (first?.start ?? name.loc?.end ?? 0) - 1;
  return first
    ? { start: at, end: at, before: "after: ", after: " " }
    : { start: at, end: at, before: "(after: ", after: ")" };
}
