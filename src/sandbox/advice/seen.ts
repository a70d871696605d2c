/** Values of tools that were seen, and their parts. */
import { isObject } from "../../base/json-object.ts";
import type { PathStep } from "../ast/tree.ts";

/** Values of one part of the results that the advice compares. */
const maxSeenValues = 5_000;

/** The values that an expression had. */
export interface Seen {
  /** The expression is a promise of the values. */
  promised: boolean;
  /** The call as it is written in the code, `demo.list_orders`, and the id of its tool. */
  call: string | undefined;
  tool: string | undefined;
  values: unknown[];
  /** The values are whole results of a tool, not parts of them. */
  whole: boolean;
}

export function part(seen: Seen, values: unknown[]): Seen {
  return { ...seen, values: values.slice(0, maxSeenValues), whole: false };
}

/** All values together; undefined if one of them is not known. */
export function joined(all: (Seen | undefined)[]): Seen | undefined {
  const [first] = all;
  const known = all.filter((each) => each !== undefined);
  if (!first || known.length < all.length || !known.every(({ promised }) => promised === first.promised))
    return undefined;
  if (all.length === 1) return first;
  const { call, tool } = known.find((each) => each.tool !== undefined) ?? first;
  return part(
    { ...first, call, tool },
    known.flatMap(({ values }) => values),
  );
}

/** The elements of lists, or the one at an index. */
export function elements(seen: Seen | undefined, index?: number): Seen | undefined {
  if (!seen || seen.promised || !seen.values.every(Array.isArray)) return undefined;
  const lists = seen.values as unknown[][];
  const taken = index === undefined ? lists : lists.map((list) => (index in list ? [list[index]] : []));
  return part(seen, taken.flat());
}

/** What a loop over lists or strings yields. */
export function iterated(seen: Seen | undefined): Seen | undefined {
  const isText = seen?.values.length && seen.values.every((value) => typeof value === "string");
  if (!seen || seen.promised || !isText) return elements(seen);
  const characters = (seen.values as string[]).flatMap((text) => [...text.slice(0, 200)]);
  return part(seen, characters);
}

/** The values of a property, without the values that lack it. */
export function property(seen: Seen, name: string): Seen | undefined {
  const holders = seen.values.filter((value): value is Record<string, unknown> => {
    return (isObject(value) || Array.isArray(value)) && Object.hasOwn(value, name);
  });
  return holders.length === 0
    ? undefined
    : part(
        seen,
        holders.map((value) => value[name]),
      );
}

export function follow(seen: Seen | undefined, path: PathStep[]): Seen | undefined {
  let now = seen;
  for (const step of path) {
    if (!now || now.promised) return undefined;
    if (step === "rest") continue;
    now = "property" in step ? property(now, step.property) : elements(now, step.index);
  }
  return now;
}
