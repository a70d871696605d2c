/**
 * A source is anything that an entry of the config can be made of besides an MCP server: an OpenAPI document, a GraphQL endpoint. It has tools,
 * and `sources/connect.ts` speaks MCP for it, so nothing above the pool knows the difference.
 */
import type { CallToolResult, Tool } from "@modelcontextprotocol/client";
import type { JsonObject } from "../base/json-object.ts";

export interface Source {
  /** The name and the version that the document states. */
  readonly info: { name: string; version: string };
  /** A text for agents about the whole API, in one or two sentences. */
  readonly instructions?: string | undefined;
  /** All tools, in the order of the document. */
  readonly tools: readonly Tool[];
  /** Makes the request. Resolves with `isError: true` if the API refuses it. Throws if it cannot be reached or the call is cancelled. */
  call(tool: string, args: JsonObject, signal: AbortSignal): Promise<CallToolResult>;
  close(): Promise<void>;
}

/** The key in `_meta` of a tool whose results have pages. Its value is a `PagedTool`. */
export const pagesKey = "claudikins/pages";

/** The key in `_meta` of a result that has a next page. Its value is a `NextPage`. */
export const nextPageKey = "claudikins/next";

/**
 * The key in `_meta` of a result whose items are elsewhere than its tool says, because the call has chosen the fields. Its value takes the
 * place of `items` in `PagedTool`.
 */
export const itemsKey = "claudikins/items";

export interface PagedTool {
  /** The names of the fields that lead from the value of a result to its array of items. Empty if the value is the array. */
  items: string[];
}

export interface NextPage {
  /** The arguments of the call that returns the next page. */
  arguments: JsonObject;
}
