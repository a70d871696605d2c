/** Values of tools that were seen, and their parts. */
import type { Step } from "../ast/bindings.ts";

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

const maxValues = 5_000;

export function part(seen: Seen, values: unknown[]): Seen {
  return { ...seen, values: values.slice(0, maxValues), whole: false };
}

/** All values together; undefined if one of them is not known. */
export function joined(all: (Seen | undefined)[]): Seen | undefined {
  const [first] = all;
  if (!first || !all.every((each) => each && each.promised === first.promised)) return undefined;
  return all.length === 1
    ? first
    : part(
        { ...first, ...sourceOf(all) },
        all.flatMap((each) => each?.values ?? []),
      );
}

function sourceOf(all: (Seen | undefined)[]): Pick<Seen, "call" | "tool"> {
  const named = all.find((each) => each?.tool !== undefined);
  return { call: named?.call, tool: named?.tool };
}

export function elements(seen: Seen | undefined): Seen | undefined {
  if (!seen || seen.promised || !seen.values.every(Array.isArray)) return undefined;
  return part(seen, (seen.values as unknown[][]).flat());
}

/** The characters of strings: what a loop over a string yields. */
export function characters(seen: Seen | undefined): Seen | undefined {
  if (!seen || seen.promised || seen.values.length === 0) return undefined;
  const isText = seen.values.every((value) => typeof value === "string");
  return isText
    ? part(
        seen,
        (seen.values as string[]).flatMap((text) => [...text.slice(0, 200)]),
      )
    : undefined;
}

export function at(seen: Seen, index: number): Seen {
  return part(
    seen,
    (seen.values as unknown[][]).flatMap((list) => (index in list ? [list[index]] : [])),
  );
}

/** The values of a property, without the values that lack it. */
export function property(seen: Seen, name: string): Seen | undefined {
  const values = seen.values.flatMap((value) =>
    value !== null && typeof value === "object" && Object.hasOwn(value, name)
      ? [(value as Record<string, unknown>)[name]]
      : [],
  );
  return values.length > 0 ? part(seen, values) : undefined;
}

export function follow(seen: Seen | undefined, path: Step[]): Seen | undefined {
  let now = seen;
  for (const step of path) {
    if (!now || now.promised) return undefined;
    if (step === "rest") continue;
    if ("property" in step) now = property(now, step.property);
    else now = now.values.every(Array.isArray) ? at(now, step.index) : undefined;
  }
  return now;
}
