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
  call(tool: string, args: JsonObject, made: SourceCall): Promise<CallToolResult>;
  close(): Promise<void>;
}

export interface SourceCall {
  signal: AbortSignal;
  /** The execution whose program makes the call. Undefined outside a program. */
  program?: string | undefined;
}

/** The key in `_meta` of a call to a source. Its value is the execution whose program makes it. */
export const programKey = "claudikins/program";

/** One request to a web API. */
export interface SourceRequest {
  /** In capitals. */
  method: string;
  url: URL;
  headers: Record<string, string>;
  body?: string | Blob | Uint8Array<ArrayBuffer> | undefined;
  /** Whether the request only reads, if its method does not say so. */
  isRead?: boolean | undefined;
  /** Whether the token of the sign-in is added. Without it, the entry decides. */
  signsIn?: boolean | undefined;
}

/**
 * Sends a request with the headers of the entry. Follows redirects without credentials for other hosts, waits as `Retry-After` says if that
 * is short, and repeats reads once. Resolves with any status. Throws if there is no answer, and AUTH_REQUIRED.
 */
export type Send = (request: SourceRequest, signal: AbortSignal) => Promise<Response>;

/** The sign-in that the document of a source describes. Addresses are absolute. */
export interface SourceSignIn {
  /** The address of the API. */
  address: string;
  /** The scopes that the operations need. Empty if the document does not say it, or names too many. */
  scopes: string[];
  /** The metadata of an OpenID provider, which has the other addresses. */
  openIdUrl?: string;
  authorizationUrl?: string;
  deviceUrl?: string;
  tokenUrl?: string;
}

/** The files of the user that tools may use: those in the workspace. Paths are relative to it. */
export interface SourceFiles {
  /** Throws INVALID_ARGUMENTS if there is no such file, or if it is too large. */
  read(path: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Returns the path. A new name is chosen if the file exists. */
  write(name: string, bytes: Uint8Array): Promise<string>;
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
  /** Whether there are pages only if the call chooses fields that have them. Each result then has its own `items`. */
  isChosen?: true;
}

export interface NextPage {
  /** The arguments that the call for the next page has in place of those of this call. The others stay. */
  arguments: JsonObject;
}

/** The key in `_meta` of a result that came over HTTP. Its value is an `HttpAnswer`. */
export const httpKey = "claudikins/http";

export interface HttpAnswer {
  status: number;
  headers: Record<string, string>;
}
