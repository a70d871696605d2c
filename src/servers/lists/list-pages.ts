/** Reads the pages of a server's list. */
import { counted } from "../../base/counted.ts";
import { ClaudikinsError } from "../../base/errors.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import type { JsonObject } from "../../base/json-object.ts";

/** Pages of one list. */
const maxListPages = 1_000;

export interface ListRequest<T> {
  server: string;
  method: string;
  /** Sends the request. Resolves with undefined if the server does not have such a list. */
  ask: (params: { cursor?: string }) => Promise<JsonObject | undefined>;
  /** The entries of a page. */
  read: (page: JsonObject) => T[];
  /** Gets why pages are missing. */
  note: (problem: string) => void;
  /** Whether the next pages can be left out. */
  isEnough?: (() => boolean) | undefined;
}

/** The entries of all pages. What was read stays if the pages do not end. Throws PROTOCOL_ERROR if that is nothing. */
export async function allPages<T>({ server, method, ask, read, note, isEnough }: ListRequest<T>): Promise<T[]> {
  const all: T[] = [];
  const asked = new Set<string>();
  let cursor: string | undefined;
  while (true) {
    const page = await pageAt(cursor, ask);
    if (!page) return all;
    // Parsing the page has blocked the thread, and reading a long one takes as long again.
    await eventLoopTurn();
    const before = all.length;
    all.push(...read(page));
    const { nextCursor: next } = page;
    if (next === undefined || next === null || isEnough?.()) return all;
    if (typeof next === "string" && !asked.has(next) && asked.size < maxListPages) {
      asked.add(next);
      cursor = next;
      continue;
    }
    const entries = unrepeated(all);
    // To older servers, an empty cursor may mean the end, and they answer it with the first page.
    if (next === "" && entries.length <= before) return entries;
    if (entries.length === 0 && asked.size > 0) {
      throw new ClaudikinsError("PROTOCOL_ERROR", `Server "${server}" returned endless pages for ${method}`, {
        hint: "Report this to the server's author, or try another version of it.",
      });
    }
    const odd = typeof next !== "string" ? "has an invalid cursor" : "never ends";
    const why = asked.has(next as string) ? "repeats a cursor" : odd;
    const { length } = entries;
    note(
      `${server}: ${method} ${why}: only ${counted(length, "entry", "entries")} ${length === 1 ? "was" : "were"} read`,
    );
    return entries;
  }
}

/** The page at a cursor. Undefined if the server does not have such a list, or refuses an empty cursor, which ends the list. */
async function pageAt(cursor: string | undefined, ask: ListRequest<never>["ask"]): Promise<JsonObject | undefined> {
  try {
    return await ask(cursor === undefined ? {} : { cursor });
  } catch (error) {
    if (cursor === "" && error instanceof ClaudikinsError && error.code === "PROTOCOL_ERROR") return undefined;
    throw error;
  }
}

/** The entries without those that came again. */
function unrepeated<T>(entries: readonly T[]): T[] {
  return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()];
}
