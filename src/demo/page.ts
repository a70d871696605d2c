/** Pagination of long lists. A cursor names the last item of the previous page. */
import type { NumberSchema, StringSchema } from "./json-schema.ts";
import { Refusal } from "./refusal.ts";

export const LIMIT = {
  type: "integer",
  minimum: 1,
  description: "How many to give at most. Without it all are given.",
} as const satisfies NumberSchema;

export const CURSOR = {
  type: "string",
  description:
    "The next_cursor of the last answer, to go on after it. Leave it out when next_cursor was null: that was the end.",
} as const satisfies StringSchema;

interface Page<T> {
  items: T[];
  total: number;
  next_cursor: string | null;
}

/**
 * Returns the page of `all` after `cursor`. The cursor contains the ID of an item and not a position, so that it stays valid when
 * items leave the list. Therefore `all` must be sorted by ID. Throws Refusal if the cursor is invalid.
 */
export function page<T extends { id: string }>(
  all: readonly T[],
  limit: number | undefined,
  cursor: string | undefined,
): Page<T> {
  const after = cursor === undefined ? "" : decode(cursor);
  const rest = all.filter((item) => item.id > after);
  const items = limit === undefined ? rest : rest.slice(0, limit);
  const last = items[items.length - 1];
  const next_cursor = last === undefined || items.length === rest.length ? null : encode(last.id);
  return { items, total: all.length, next_cursor };
}

const PREFIX = "after:";

function encode(id: string): string {
  return Buffer.from(PREFIX + id).toString("base64url");
}

function decode(cursor: string): string {
  const text = Buffer.from(cursor, "base64url").toString();
  if (!text.startsWith(PREFIX)) {
    throw new Refusal(`cursor is ${JSON.stringify(cursor)}. Must be the next_cursor of an earlier answer, unchanged.`);
  }
  return text.slice(PREFIX.length);
}
