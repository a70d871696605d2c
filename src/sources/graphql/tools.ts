/** Makes the tools of a GraphQL schema: one for each query and mutation. */
import type { Tool } from "@modelcontextprotocol/client";
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLSchema,
  getNamedType,
  getNullableType,
  isInterfaceType,
  isObjectType,
  isRequiredArgument,
} from "graphql";
import { counted } from "../../base/counted.ts";
import type { JsonObject } from "../../base/json-object.ts";
import { type PagedTool, pagesKey } from "../source.ts";
import { fieldArguments, fieldDocument, hasInnerPages, pagesOf } from "./document.ts";
import type { GraphqlApi, GraphqlOperation } from "./operation.ts";
import { defaultSelection, leafResult, rowsOf } from "./selection.ts";
import { ArgumentSchemas, FieldBudget, shortText } from "./types.ts";
import { uploadPlaces } from "./uploads.ts";

/** Tools of one schema. The largest well-known schemas have about 3,000. */
const maxTools = 20_000;

/** Levels of namespaces, such as `pages` in `mutation { pages { create } }`. */
const maxNamespaceLevels = 3;

/** Characters of a tool's description. */
const maxDescriptionChars = 1_000;

/** Characters that list the fields that are not chosen by default. */
const maxOtherFieldsChars = 300;

/** Items of a page of a connection, if the caller names no number. Some servers refuse such a request, others return everything. */
const defaultPageItems = 50;

/** Fields that gateways use among themselves. */
const ofGateways = new Set(["_service", "_entities"]);

/** Which tools an entry of the config wants. */
export type Wanted = (tool: string) => boolean;

interface FieldPlace {
  kind: GraphqlOperation["kind"];
  /** The names of the field and of its namespaces. */
  path: string[];
  field: GraphQLField<unknown, unknown>;
}

export function graphqlApi(schema: GraphQLSchema, wanted: Wanted = () => true): GraphqlApi {
  const places = [...placesIn(schema.getQueryType(), "query"), ...placesIn(schema.getMutationType(), "mutation")];
  const named = withNames(places).filter(({ name }) => wanted(name));
  const api: GraphqlApi = { tools: [], operations: [], problems: [] };
  const budget = new FieldBudget();
  for (const each of named.slice(0, maxTools)) {
    const { tool, operation } = toolOf(each, schema, budget);
    api.tools.push(tool);
    api.operations.push(operation);
  }
  if (named.length > maxTools)
    api.problems.push(`${counted(named.length - maxTools, "field")} beyond the first ${maxTools}`);
  const subscriptions = Object.keys(schema.getSubscriptionType()?.getFields() ?? {}).length;
  if (subscriptions > 0) api.problems.push(counted(subscriptions, "subscription"));
  return api;
}

/** `around` has the root and the namespaces on the way. Fields that lead back to them, as Relay once needed, have nothing new. */
function placesIn(
  type: GraphQLObjectType | null | undefined,
  kind: FieldPlace["kind"],
  path: string[] = [],
  around: readonly unknown[] = [],
): FieldPlace[] {
  return Object.values(type?.getFields() ?? {}).flatMap((field): FieldPlace[] => {
    if (ofGateways.has(field.name) || field.name.startsWith("__")) return [];
    const types = [...around, type];
    if (types.includes(getNamedType(field.type) as GraphQLObjectType)) return [];
    const here = [...path, field.name];
    const namespace = here.length <= maxNamespaceLevels ? namespaceOf(field) : undefined;
    return namespace ? placesIn(namespace, kind, here, types) : [{ kind, path: here, field }];
  });
}

/**
 * The type of a field that only groups others, such as `pages: PageMutation!`. Its fields are tools of their own: as fields of a result,
 * mutations would be made unasked.
 */
function namespaceOf({ type, args }: GraphQLField<unknown, unknown>): GraphQLObjectType | undefined {
  const named = getNullableType(type);
  if (!isObjectType(named) || args.length > 0) return undefined;
  return /(?:quer(?:y|ies)|mutations?)$|^(?:query|mutations?)(?=[A-Z_])/i.test(named.name) ? named : undefined;
}

/** A mutation with the name of a query is told apart by a suffix, so that the query keeps its name. */
function withNames(places: FieldPlace[]): (FieldPlace & { name: string })[] {
  const queries = new Set(places.filter(({ kind }) => kind === "query").map(({ path }) => path.join("_")));
  const taken = new Set<string>();
  return places.flatMap((place) => {
    const plain = place.path.join("_");
    const name = place.kind === "mutation" && queries.has(plain) ? `${plain}_mutation` : plain;
    if (taken.has(name)) return [];
    taken.add(name);
    return [{ ...place, name }];
  });
}

function toolOf(
  { name, kind, path, field }: FieldPlace & { name: string },
  schema: GraphQLSchema,
  budget: FieldBudget,
) {
  const selection = defaultSelection(field.type, schema);
  const select = selection && selectName(field);
  const first = defaultFirst(field);
  const variables = fieldArguments(field);
  const pages = selection && pagesOf(field);
  const uploads = uploadPlaces(field.args);
  const operation: GraphqlOperation = {
    name,
    kind,
    variables: field.args.map((argument) => argument.name),
    ...(uploads.length === 0 ? {} : { uploads }),
    ...(select === undefined ? {} : { select }),
    ...(first === undefined ? {} : { first }),
    request: {
      document: fieldDocument({ kind, path, variables, selection: selection?.text ?? "" }),
      path,
      ...(pages ? { pages } : {}),
    },
  };
  const chosen: PagedTool | undefined = hasInnerPages(field) ? { items: [], isChosen: true } : undefined;
  const paged: PagedTool | undefined = pages ? { items: pages.items } : chosen;
  const tool: Tool = {
    name,
    description: descriptionOf(field),
    inputSchema: inputSchema(field, operation, budget) as Tool["inputSchema"],
    outputSchema: (selection?.schema ?? leafResult(field.type)) as NonNullable<Tool["outputSchema"]>,
    annotations: annotationsOf(kind, path.at(-1) ?? name),
    ...(paged ? { _meta: { [pagesKey]: paged } } : {}),
  };
  return { tool, operation };
}

function inputSchema(
  field: GraphQLField<unknown, unknown>,
  { kind, select, first }: GraphqlOperation,
  budget: FieldBudget,
): JsonObject {
  const { properties, required, $defs } = new ArgumentSchemas(budget).of(field.args, kind);
  if (first !== undefined) properties["first"] = { ...(properties["first"] as JsonObject), default: first };
  if (select !== undefined) properties[select] = { type: "string", description: selectText(field) };
  return {
    type: "object",
    properties,
    ...(required.length > 0 ? { required } : {}),
    additionalProperties: false,
    ...(Object.keys($defs).length > 0 ? { $defs } : {}),
  };
}

/** The name of our argument. An argument of the field with this name comes first. */
function selectName({ args }: GraphQLField<unknown, unknown>): string {
  const taken = new Set(args.map(({ name }) => name));
  let name = "select";
  while (taken.has(name)) name = `${name}_fields`;
  return name;
}

/** Says how fields are chosen, and names those that are not chosen by default. */
function selectText({ type }: GraphQLField<unknown, unknown>): string {
  const named = getNamedType(type);
  const fields = isObjectType(named) || isInterfaceType(named) ? Object.values(named.getFields()) : [];
  const others = fields
    .filter(({ args, deprecationReason }) => args.length > 0 && deprecationReason == null)
    .map(({ name, args }) =>
      args.some(isRequiredArgument)
        ? `${name}(${args
            .filter(isRequiredArgument)
            .map((each) => each.name)
            .join(", ")})`
        : name,
    );
  const more = others.length > 0 ? ` It also has ${shortText(others.join(", "), maxOtherFieldsChars)}.` : "";
  return `Fields of ${named.name} in GraphQL, such as "id name owner { id }". Default: plain fields and one level of objects.${more}`;
}

function descriptionOf({ description, deprecationReason, type }: GraphQLField<unknown, unknown>): string {
  const words = shortText(description ?? "", maxDescriptionChars);
  const returns = `Returns ${String(type)}.`;
  const text = words === "" ? returns : `${words}${/[.!?…]$/.test(words) ? "" : "."} ${returns}`;
  return deprecationReason == null ? text : `Deprecated: ${shortText(deprecationReason, maxDescriptionChars)} ${text}`;
}

/** Words of names that begin with them or end with them, as `deleteBook` and `bookDelete`. */
const deleting = new Set("delete remove destroy drop purge erase wipe clear revoke truncate".split(" "));
const adding = new Set("create add insert".split(" "));
/** Words of names that begin with them. As the last word, they are often nouns. */
const starting = new Set("post send start open register invite submit publish request comment reply".split(" "));
const before = new Set(["batch", "bulk", "force"]);

/** GraphQL says only whether a field changes something. The name says how. */
function annotationsOf(kind: GraphqlOperation["kind"], name: string): NonNullable<Tool["annotations"]> {
  if (kind === "query") return { readOnlyHint: true, openWorldHint: true };
  const words = name.split(/_+|(?<=[a-z\d])(?=[A-Z])/).map((word) => word.toLowerCase());
  const [first = "", ...others] = words.filter((word) => word !== "" && !before.has(word));
  const either = [first, others.at(-1) ?? ""];
  const isAdding = starting.has(first) || either.some((word) => adding.has(word));
  const destructiveHint = either.some((word) => deleting.has(word)) ? true : isAdding ? false : undefined;
  return { readOnlyHint: false, openWorldHint: true, ...(destructiveHint === undefined ? {} : { destructiveHint }) };
}

function defaultFirst({ type, args }: GraphQLField<unknown, unknown>): number | undefined {
  const named = getNamedType(type);
  if (!isObjectType(named) || !rowsOf(named.getFields())) return undefined;
  const first = args.find(({ name }) => name === "first");
  return first && first.default === undefined && String(first.type) === "Int" ? defaultPageItems : undefined;
}
