/**
 * The pages of a list, for `tool.pages()` in programs. A source says in each result where its items and its next page are. For a tool of an
 * MCP server, its arguments and its declared or observed results show it.
 */
import { ClaudikinsError } from "../base/errors.ts";
import { parsedExact } from "../base/exact-json.ts";
import { isObject, type JsonObject } from "../base/json-object.ts";
import { LargeJson, wholeOf } from "../base/large-json.ts";
import { megabyte, megabytes } from "../base/units.ts";
import type { Call } from "../policy/call.ts";
import type { BindingValue } from "../sandbox/contract.ts";
import { rawValue, resultContent, type ToolResult, toolValue } from "../servers/result.ts";
import { nextArguments, type Pages } from "../sources/next-page.ts";
import { itemsKey, nextPageKey, pagesKey } from "../sources/source.ts";
import type { RegistryTool } from "../tools/model.ts";
import { resultSchema } from "../tools/observed/result-schema.ts";
import { type CallObserver, callTool, knownCall, listedCall, type WantedCall } from "./call.ts";
import type { Parts } from "./parts.ts";

/** A page of an MCP server, which is parsed here to find the next one. */
const maxPageChars = 8 * megabyte;

const cursorArguments = [
  "cursor",
  "page_token",
  "pageToken",
  "next_cursor",
  "nextCursor",
  "next_page_token",
  "nextPageToken",
  "after",
  "continuation_token",
  "continuationToken",
];
const cursorField = /^(?:next_?(?:page_?)?(?:token|cursor|key)|continuation_?token|end_?cursor|cursor)$/i;
const offsetArguments = ["offset", "skip", "start", "start_at", "startAt"];
const pageArguments = ["page", "page_number", "pageNumber"];
const limitArguments = ["limit", "per_page", "perPage", "page_size", "pageSize", "max_results", "maxResults", "count"];
const moreField = /^(?:has_?more|has_?next(?:_?page)?|more)$/i;
const totalField = /^(?:total|total_?(?:count|items|results))$/i;

/** How the pages of a tool are found. */
export type PagePlan = { of: "source" } | { of: "server"; pages: Pages };

/** Throws INVALID_ARGUMENTS if the tool has no pages that can be recognised. `id` names it in the error. */
export function pagePlan(tool: RegistryTool, id: string): PagePlan {
  if (isObject(tool._meta?.[pagesKey])) return { of: "source" };
  const pages = recognisedPages(tool);
  if (pages) return { of: "server", pages };
  throw new ClaudikinsError("INVALID_ARGUMENTS", `${id} has no pages that claudikins recognises`, {
    hint: `Call ${id}(args). If it has pages in a way of its own, follow them in a loop.`,
  });
}

/**
 * Calls a tool for a page of its list, as a program does. Throws INVALID_ARGUMENTS before the call if the tool has no pages, and what
 * `callTool` throws.
 */
export async function pageValue(
  wanted: WantedCall,
  parts: Parts,
  call: Call,
  observer: CallObserver,
): Promise<BindingValue> {
  const found = knownCall(wanted, parts) ?? (await listedCall(wanted, parts, call));
  const id = `${wanted.namespace}.${found.tool.name}`;
  const plan = pagePlan(found.tool, id);
  const { tool, result } = await callTool(wanted, parts, call, observer);
  return rawValue(pageResult(result, tool, found.args, plan, id));
}

/** The result of one page, with the places of its items and of the next page. Throws TOOL_FAILED if the tool failed. */
export function pageResult(
  result: ToolResult,
  tool: RegistryTool,
  args: JsonObject,
  plan: PagePlan,
  id: string,
): ToolResult {
  if (result["isError"] === true) toolValue(result, id);
  const meta = isObject(result["_meta"]) ? result["_meta"] : {};
  if (plan.of === "source") {
    const declared = tool._meta?.[pagesKey];
    const items = meta[itemsKey] ?? (isObject(declared) ? declared["items"] : undefined) ?? [];
    return { ...result, _meta: { ...meta, [itemsKey]: items } };
  }
  const { pages } = plan;
  const next = nextArguments({
    pages,
    parameters: [],
    args,
    url: "http://localhost/",
    value: contentValue(result, id),
  });
  return {
    ...result,
    _meta: { ...meta, [itemsKey]: pages.items, ...(next ? { [nextPageKey]: { arguments: next } } : {}) },
  };
}

function contentValue(result: ToolResult, id: string): unknown {
  const content = resultContent(result);
  const part = "structured" in content ? content.structured : "text" in content ? content.text : undefined;
  const chars = part instanceof LargeJson ? part.json.length : typeof part === "string" ? part.length : 0;
  if (chars > maxPageChars) {
    throw new ClaudikinsError("TOOL_FAILED", `${id}: a page has more than ${megabytes(maxPageChars)}`, {
      hint: "Ask for fewer items on a page.",
    });
  }
  return typeof part === "string" ? parsedExact(part) : wholeOf(part);
}

/** Undefined if the arguments and the results do not show pages. */
export function recognisedPages({ inputSchema, outputSchema, observed }: RegistryTool): Pages | undefined {
  const types = { ...(outputSchema ? { outputSchema } : {}), ...(observed ? { observed } : {}) };
  const result = outputSchema || observed ? resultSchema(types) : undefined;
  const given = Object.keys(Object(inputSchema["properties"]) as object);
  if (!isObject(result)) return undefined;
  const fields = Object.entries(Object(result["properties"]) as Record<string, unknown>).filter(
    (entry): entry is [string, JsonObject] => isObject(entry[1]),
  );
  const lists = fields.filter(([, each]) => hasType(each, "array")).map(([name]) => name);
  const items = hasType(result, "array") ? [] : lists.length === 1 ? lists : undefined;
  if (!items) return undefined;
  const argument = (names: readonly string[]) => names.find((name) => given.includes(name));
  const field = (test: RegExp, ...types: string[]) =>
    fields.find(([name, each]) => test.test(name) && types.some((type) => hasType(each, type)))?.[0];
  const more = field(moreField, "boolean");
  const total = field(totalField, "integer", "number");
  const limit = argument(limitArguments);
  const cursor = argument(cursorArguments);
  const next = field(cursorField, "string", "integer", "number");
  if (cursor !== undefined && next !== undefined)
    return { items, by: "cursor", argument: cursor, field: [next], ...(more === undefined ? {} : { more: [more] }) };
  const counted = {
    ...(limit === undefined ? {} : { limit }),
    ...(more === undefined ? {} : { more: [more] }),
    ...(total === undefined ? {} : { total: [total] }),
  };
  // Without any of these, the end of the list could not be told from a short page.
  if (Object.keys(counted).length === 0) return undefined;
  const offset = argument(offsetArguments);
  if (offset !== undefined) return { items, by: "offset", argument: offset, ...counted };
  const page = argument(pageArguments);
  return page === undefined
    ? undefined
    : { items, by: "page", argument: page, first: firstPage(inputSchema, page), ...counted };
}

function hasType(schema: JsonObject, type: string): boolean {
  return [schema["type"]].flat().includes(type);
}

function firstPage(inputSchema: JsonObject, page: string): number {
  const property = Object(Object(inputSchema["properties"])[page]) as JsonObject;
  return property["minimum"] === 0 || property["default"] === 0 ? 0 : 1;
}
