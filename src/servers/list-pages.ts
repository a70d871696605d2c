/** Reads the pages of a server's list. */
import { ClaudikinsError } from "../base/errors.ts";
import { eventLoopTurn } from "../base/event-loop.ts";
import type { JsonObject } from "../base/json-object.ts";
import { maxListPages } from "./limits.ts";

export interface ListRequest<T> {
  server: string;
  method: string;
  /** Sends the request. Resolves with undefined if the server does not have such a list. */
  ask: (params: { cursor?: string }) => Promise<JsonObject | undefined>;
  /** The entries of a page. */
  read: (page: JsonObject) => T[];
  /** Whether the next pages can be left out. */
  isEnough?: (() => boolean) | undefined;
}

/** The entries of all pages. Throws PROTOCOL_ERROR if the pages do not end. */
export async function allPages<T>({ server, method, ask, read, isEnough }: ListRequest<T>): Promise<T[]> {
  const all: T[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  do {
    const page = await ask(cursor === undefined ? {} : { cursor });
    if (!page) return [];
    // Parsing the page has blocked the thread, and reading a long one takes as long again.
    await eventLoopTurn();
    all.push(...read(page));
    cursor = typeof page["nextCursor"] === "string" && page["nextCursor"] !== "" ? page["nextCursor"] : undefined;
    if (cursor !== undefined && (seen.has(cursor) || seen.size >= maxListPages)) {
      throw new ClaudikinsError("PROTOCOL_ERROR", `Server "${server}" returned endless pages for ${method}`, {
        hint: "Report this to the server's author, or try another version of it.",
      });
    }
    if (cursor !== undefined) seen.add(cursor);
  } while (cursor !== undefined && !isEnough?.());
  return all;
}
