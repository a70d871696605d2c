/** Ids of executions as people type and read them: the whole id, or as much of its beginning or its end as no other id has. */
import { ClaudikinsError } from "../base/errors.ts";

/** Characters of an id in a list, at least: the part of it that says when it began has eight. */
const minIdChars = 8;

/** Ids of executions that an error lists. */
const maxListedIds = 5;

/** Undefined if none fits. Throws USAGE if several do. */
export function executionNamed(wanted: string, ids: readonly string[]): string | undefined {
  if (wanted === "" || ids.includes(wanted)) return ids.find((id) => id === wanted);
  const fitting = ids.filter((id) => id.startsWith(wanted) || id.endsWith(wanted));
  if (fitting.length <= 1) return fitting[0];
  const more = fitting.length > maxListedIds ? `, and ${fitting.length - maxListedIds} more` : "";
  throw new ClaudikinsError("USAGE", `Several executions begin or end with "${wanted}"`, {
    hint: `One of: ${fitting.slice(0, maxListedIds).join(", ")}${more}`,
  });
}

/** Shortens an id to the beginning that no other of the ids has. */
export function shortIds(ids: readonly string[]): (id: string) => string {
  const sorted = [...new Set(ids)].sort();
  const places = new Map(sorted.map((id, place) => [id, place]));
  return (id) => {
    const place = places.get(id);
    if (place === undefined) return id;
    const others = [sorted[place - 1] ?? "", sorted[place + 1] ?? ""];
    const shared = Math.max(...others.map((other) => sharedChars(id, other)));
    // A whole id that is the beginning of another one names itself.
    return id.slice(0, Math.max(minIdChars, shared + 1));
  };
}

function sharedChars(one: string, other: string): number {
  let chars = 0;
  while (chars < one.length && one[chars] === other[chars]) chars++;
  return chars;
}
