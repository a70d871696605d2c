/** Recognises from the document how the next page of a list is asked for. */

import type { Pages, Parameter } from "./api.ts";
import type { Documents, Place } from "./document/documents.ts";
import { at, type ObjectPlace } from "./document/documents.ts";
import type { FlatSchema, FlatSchemas } from "./flat-schema.ts";

/** Levels of a result in which the fields of pages are looked for. */
const maxPageLevels = 3;

/** Fields of a result that are looked at. */
const maxPageFields = 500;

const numbers = ["integer", "number"];

interface Result {
  schema: Place;
  /** The response that it belongs to. */
  response: ObjectPlace;
}

export function pagesOf(
  documents: Documents,
  schemas: FlatSchemas,
  parameters: readonly Parameter[],
  result: Result | undefined,
): Pages | undefined {
  if (!result) return undefined;
  const root = schemas.of(result.schema);
  const { fields, items } = lists.get(root) ?? listIn(schemas, root);
  if (!items) return undefined;
  const query = parameters.filter((each) => each.in === "query");
  const named = (words: readonly string[]) =>
    words.map((word) => query.find(({ name }) => plain(name) === word)).find((each) => each !== undefined)?.argument;
  const field = (test: RegExp, types: readonly string[]) =>
    fields.find((each) => test.test(each.key) && each.types.some((type) => types.includes(type)))?.path;
  const more = field(/^(?:has_?more|more|has_?next(?:_?page)?|has_?more_?items)$/i, ["boolean"]);
  const total =
    field(/^(?:total|total_?(?:count|items|results|records|elements|size)|num_?found)$/i, numbers) ??
    fields.find(
      ({ path, key, types }) => path.length === 1 && key === "count" && types.some((type) => numbers.includes(type)),
    )?.path;
  const limit = named([
    "limit",
    "per_page",
    "page_size",
    "pagesize",
    "max_results",
    "maxresults",
    "count",
    "size",
    "first",
    "top",
    "$top",
    "perpage",
    "results_per_page",
    "pagelen",
  ]);
  const address = field(
    /^(?:@odata\.nextlink|next(?:_?(?:link|url|uri|href|page_?(?:url|uri|link)))?|next_page_path)$/i,
    ["string"],
  );
  if (
    hasLinkHeader(documents, result.response) &&
    (items.length === 0 || query.some(({ name }) => pageWords.has(plain(name))))
  )
    return { items, by: "link" };
  if (address && (isAddress(fields, address) || !named([...cursors]))) return { items, by: "address", field: address };
  const last = named(["starting_after"]);
  if (last !== undefined && hasKey(schemas, root, items, "id") && more)
    return { items, by: "last item", argument: last, key: "id", more };
  const cursor = named([...cursors]);
  const next = field(
    /^(?:next_?(?:page_?)?(?:token|cursor|key|marker)|continuation_?token|next|next_?page|cursor|end_?cursor|after|continue|last_id|bookmark|scroll_?id)$/i,
    ["string", "integer"],
  );
  if (cursor !== undefined && next)
    return { items, by: "cursor", argument: cursor, field: next, ...(more ? { more } : {}) };
  const rest = { ...(limit === undefined ? {} : { limit }), ...(total ? { total } : {}), ...(more ? { more } : {}) };
  const offset = named([
    "offset",
    "start_at",
    "startat",
    "skip",
    "$skip",
    "start_index",
    "startindex",
    "from",
    "start",
  ]);
  if (offset !== undefined && (limit !== undefined || total || more))
    return { items, by: "offset", argument: offset, ...rest };
  const page = named([
    "page",
    "page_number",
    "pagenumber",
    "page_num",
    "page_no",
    "pageno",
    "pageindex",
    "page[number]",
  ]);
  if (page === undefined) return undefined;
  return { items, by: "page", argument: page, first: /index$/i.test(page) ? 0 : 1, ...rest };
}

const cursors = [
  "cursor",
  "page_token",
  "pagetoken",
  "next_token",
  "nexttoken",
  "next_page_token",
  "nextpagetoken",
  "start_cursor",
  "page_cursor",
  "continuation_token",
  "continuationtoken",
  "continue",
  "after",
  "marker",
  "next",
  "next_cursor",
  "page[cursor]",
  "page[after]",
  "bookmark",
  "scroll_id",
  "page",
];

/** Parameters of operations whose results have pages. */
const pageWords = new Set([...cursors, "page", "per_page", "limit", "offset", "page_size"]);

const plain = (name: string) => name.toLowerCase().replaceAll("-", "_");

interface List {
  fields: readonly FoundField[];
  /** The path of the list. Undefined if there is none. */
  items: string[] | undefined;
}

/** Many operations have the same result. */
const lists = new WeakMap<FlatSchema, List>();

function listIn(schemas: FlatSchemas, root: FlatSchema): List {
  const fields = fieldsIn(schemas, root);
  const list = { fields, items: itemsOf(root, fields) };
  lists.set(root, list);
  return list;
}

interface FoundField {
  path: string[];
  key: string;
  types: readonly string[];
  /** The format and the description. */
  about: string;
  isList: boolean;
}

/** The fields of a result, the outer ones first. Items of lists are not entered. */
function fieldsIn(schemas: FlatSchemas, root: FlatSchema): FoundField[] {
  const found: FoundField[] = [];
  let level: { path: string[]; flat: FlatSchema }[] = [{ path: [], flat: root }];
  for (let depth = 0; depth < maxPageLevels; depth++) {
    const inner: typeof level = [];
    for (const { path, flat } of level) {
      for (const [key, schema] of flat.properties) {
        if (found.length >= maxPageFields) return found;
        const property = schemas.of(schema);
        const types =
          property.types ??
          property.choices.flatMap((options) => options.flatMap((option) => schemas.of(option).types ?? []));
        const isList = property.items !== undefined;
        const { format, description, example } = property.keywords;
        found.push({
          path: [...path, key],
          key,
          types,
          about: `${String(format)} ${String(example)} ${String(description).slice(0, 300)}`,
          isList,
        });
        if (!isList && property.properties.size > 0 && pageObject.test(key))
          inner.push({ path: [...path, key], flat: property });
      }
    }
    level = inner;
  }
  return found;
}

/** Objects in results that may tell about pages, or hold the list. */
const pageObject =
  /^_?(?:meta(?:data)?|links?|pages?|page_?info|pagination|paging|response_?metadata|result_?info|cursors?|data|results?|next|response|list_?info|search_?metadata|embedded)$/i;

/** The path of the list in a result: the only list, or the one with a usual name. */
function itemsOf(root: FlatSchema, fields: readonly FoundField[]): string[] | undefined {
  if (root.items !== undefined) return [];
  const found = fields.filter(({ isList, path }) => isList && !/^(?:errors?|warnings?|messages?)$/i.test(path[0]!));
  const usual = found.find(({ key }) =>
    /^(?:items|data|results?|value|values|entries|records|objects|elements|list|members|rows|content|resources|hits)$/i.test(
      key,
    ),
  );
  const outer = found.filter(({ path }) => path.length === 1);
  return (
    usual ??
    (outer.length === 1 ? outer[0] : undefined) ??
    (outer.length === 0 && found.length === 1 ? found[0] : outer[0])
  )?.path;
}

function hasKey(schemas: FlatSchemas, root: FlatSchema, items: readonly string[], key: string): boolean {
  let flat = root;
  for (const name of items) {
    const next = flat.properties.get(name);
    if (!next) return false;
    flat = schemas.of(next);
  }
  if (flat.items === undefined) return false;
  const item = schemas.of(flat.items);
  return (
    item.properties.has(key) ||
    item.choices.some((options) => options.every((option) => schemas.of(option).properties.has(key)))
  );
}

function hasLinkHeader(documents: Documents, response: ObjectPlace): boolean {
  const headers = documents.object(at(response, "headers"));
  return headers !== undefined && Object.keys(headers.value).some((name) => name.toLowerCase() === "link");
}

/** Whether a field's name, format or description says that it is an address. */
function isAddress(fields: readonly FoundField[], path: readonly string[]): boolean {
  const found = fields.find(
    (each) => each.path.length === path.length && each.path.every((key, index) => key === path[index]),
  );
  return (
    found !== undefined &&
    (/link|url|uri|href|path/i.test(path.join(".")) || /\b(?:ur[il]|link|https?)\b/i.test(found.about))
  );
}
