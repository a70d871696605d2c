/** Pagination of long lists. A cursor names the last item of the previous page. */
import { Refusal } from "./shop.ts";

export const LIMIT = {
  type: "integer",
  minimum: 1,
  description: "How many to give at most. Without it all are given.",
} as const;

export const CURSOR = {
  type: "string",
  description:
    "The next_cursor of the last answer, to go on after it. Leave it out when next_cursor was null: that was the end.",
} as const;

/**
 * Returns the page of `all` after `cursor`. The cursor contains the ID of an item and not a position, so that it stays valid when
 * items leave the list. Therefore `all` must be sorted by ID. Throws Refusal if the cursor is invalid.
 */
export function page<T extends { id: string }>(
  all: readonly T[],
  limit: number | undefined,
  cursor: string | undefined,
) {
  const after = cursor === undefined ? "" : decode(cursor);
  const rest = all.filter((item) => item.id > after);
  const items = rest.slice(0, limit);
  const last = items.at(-1);
  const isEnd = last === undefined || items.length === rest.length;
  const next_cursor = isEnd ? null : Buffer.from(PREFIX + last.id).toString("base64url");
  return { items, total: all.length, next_cursor };
}

const PREFIX = "after:";

function decode(cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString();
  if (text.startsWith(PREFIX)) return text.slice(PREFIX.length);
  throw new Refusal(`cursor is ${JSON.stringify(cursor)}. Must be the next_cursor of an earlier answer, unchanged.`);
}
