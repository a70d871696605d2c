/** How the arguments of a call differ from the arguments of an earlier call. */
import { exactDigits } from "../../base/exact-json.ts";
import { isObject } from "../../base/json-object.ts";
import { pathText } from "../../config/policy.ts";
import type { ArgumentChange } from "./facts-shape.ts";

/** Differences that are listed. */
const maxArgumentChanges = 50;

/** Characters of a value in a difference. The whole arguments are shown beside it. */
const maxChangedValueChars = 500;

type Path = readonly (string | number)[];

/** The first differences, in the order of the earlier arguments, and the number of the others. */
export function argumentChanges(before: unknown, now: unknown): { changes: ArgumentChange[]; more: number } {
  const changes: ArgumentChange[] = [];
  let more = 0;
  for (const change of changesAt(before, now, [])) {
    if (changes.length < maxArgumentChanges) changes.push(change);
    else more += 1;
  }
  return { changes, more };
}

function* changesAt(before: unknown, now: unknown, path: Path): Generator<ArgumentChange> {
  if (Array.isArray(before) && Array.isArray(now)) {
    for (let at = 0; at < Math.max(before.length, now.length); at += 1)
      yield* changesOf(before, now, at, [...path, at]);
    return;
  }
  if (isPlain(before) && isPlain(now)) {
    for (const key of new Set([...Object.keys(before), ...Object.keys(now)]))
      yield* changesOf(before, now, key, [...path, key]);
    return;
  }
  const [one, other] = [shortJson(before), shortJson(now)];
  if (JSON.stringify(before) !== JSON.stringify(now))
    yield { at: pathText(path), kind: "changed", before: one, now: other };
}

function* changesOf(before: object, now: object, key: string | number, path: Path): Generator<ArgumentChange> {
  const [was, is] = [before, now].map((value) => Object.getOwnPropertyDescriptor(value, key));
  if (was && is) yield* changesAt(was.value, is.value, path);
  else if (was) yield { at: pathText(path), kind: "gone", before: shortJson(was.value) };
  else if (is) yield { at: pathText(path), kind: "new", now: shortJson(is.value) };
}

/** Whether the value has members. A number with many digits is an object too. */
function isPlain(value: unknown): value is Record<string, unknown> {
  return isObject(value) && exactDigits(value) === undefined;
}

function shortJson(value: unknown): string {
  const json = JSON.stringify(value);
  return json.length > maxChangedValueChars ? `${json.slice(0, maxChangedValueChars)}…` : json;
}
