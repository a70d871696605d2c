/** Says how a JSON Schema asks for more than before. Schemas that allow less pass, and so do texts that say the same. */
import { isObject } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";
import { maxShownNameChars } from "../limits.ts";
import { saysTheSame } from "./text-change.ts";

/** Schemas by name. */
const named: readonly string[] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const texts: readonly string[] = ["title", "description", "$comment"];
const lists: readonly string[] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const inner: readonly string[] = ["items", "contains", "propertyNames", "not", "if", "then", "else"];
/** A keyword that allows less below these may allow more above them. */
const reversing: readonly string[] = ["not", "if", "oneOf", "contains"];
/** Arguments may be left out. Any other schema that is gone from a list allowed less. */
const removable: readonly string[] = ["properties", "$defs", "definitions"];
/** A greater number allows less. */
const lowest: readonly string[] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
/** A smaller number allows less. */
const highest: readonly string[] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

/** Each change that does not pass, as a sentence without its end. `place` is the schema's name for people. */
export function schemaChanges(before: unknown, now: unknown, place: string): string[] {
  return changes(before, now, { place, isExact: [before, now].some((schema) => refersReversed(schema)) });
}

/** Where a change is, and whether one that allows less does not pass either. */
interface At {
  place: string;
  isExact: boolean;
}

function changes(before: unknown, now: unknown, at: At): string[] {
  if (Bun.deepEquals(before, now)) return [];
  if (!isObject(before) || !isObject(now)) return [`${at.place}: changed`];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((key) =>
    keyChanges(key, valueAt(before, key), valueAt(now, key), at),
  );
}

/** Whether a schema refers to another part of it from below `not` or the like, so that the part may do the reverse there. */
function refersReversed(value: unknown, isReversed = false): boolean {
  if (Array.isArray(value)) return value.some((each) => refersReversed(each, isReversed));
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([key, each]) =>
      (isReversed && /^\$(?:\w+R|r)ef$/.test(key)) || refersReversed(each, isReversed || reversing.includes(key)),
  );
}

/** A schema may have a key such as `__proto__`. */
function valueAt(schema: Record<string, unknown>, key: string): unknown {
  return Object.hasOwn(schema, key) ? schema[key] : undefined;
}

function keyChanges(key: string, before: unknown, now: unknown, at: At): string[] {
  if (Bun.deepEquals(before, now)) return [];
  const { place } = at;
  const changed = [`${place}: ${shown(key)} changed`];
  if (texts.includes(key))
    return textChange(before, now) ? [`${place}: the ${key} was ${textChange(before, now)}`] : [];
  const isExact = at.isExact || reversing.includes(key);
  if (named.includes(key)) return namedChanges(key, before ?? {}, now ?? {}, { place, isExact });
  if (inner.includes(key))
    return before === undefined || now === undefined ? changed : changes(before, now, { place, isExact });
  if (lists.includes(key) && Array.isArray(before) && Array.isArray(now) && before.length === now.length) {
    return now.flatMap((each, index) => changes(before[index], each, { place, isExact }));
  }
  if (key === "additionalProperties" && isObject(before) && isObject(now)) {
    return changes(before, now, { place: `${place}.*`, isExact });
  }
  if (isExact) return changed;
  if (key === "required") return requiredChanges(before ?? [], now ?? [], place);
  if (key === "enum") return enumChanges(before, now, place);
  if (key === "type") return typeChanges(before, now, place);
  if (lowest.includes(key)) return isWithin(before, now, (a, b) => b >= a) ? [] : changed;
  if (highest.includes(key)) return isWithin(before, now, (a, b) => b <= a) ? [] : changed;
  return key === "additionalProperties" && now === false ? [] : changed;
}

/** How a text has changed, for a sentence. Undefined if it passes. */
export function textChange(before: unknown, now: unknown): string | undefined {
  const [wasThere, isThere] = [before, now].map((text) => text !== undefined && text !== "");
  if (!wasThere || !isThere) return wasThere ? "removed" : isThere ? "added" : undefined;
  return typeof before === "string" && typeof now === "string" && saysTheSame(before, now) ? undefined : "rewritten";
}

function namedChanges(key: string, before: unknown, now: unknown, { place, isExact }: At): string[] {
  if (!isObject(before) || !isObject(now)) return [`${place}: changed`];
  const gone = Object.keys(before).filter((name) => !Object.hasOwn(now, name));
  const isGone = gone.length > 0 && (isExact || !removable.includes(key));
  return [
    ...(isGone ? gone.map((name) => `${place}: "${shown(name)}" is gone`) : []),
    ...Object.keys(now).flatMap((name) =>
      Object.hasOwn(before, name)
        ? changes(before[name], now[name], { place: `${place}.${shown(name)}`, isExact })
        : [`${place}: "${shown(name)}" is new`],
    ),
  ];
}

function requiredChanges(before: unknown, now: unknown, place: string): string[] {
  if (!Array.isArray(before) || !Array.isArray(now)) return [`${place}: what is required changed`];
  return [
    ...now.filter((name) => !before.includes(name)).map((name) => `${place}: "${shown(name)}" is required now`),
    ...before.filter((name) => !now.includes(name)).map((name) => `${place}: "${shown(name)}" is optional now`),
  ];
}

function enumChanges(before: unknown, now: unknown, place: string): string[] {
  if (!Array.isArray(before) || !Array.isArray(now)) return [`${place}: the allowed values changed`];
  const isKnown = (value: unknown) => before.some((each) => Bun.deepEquals(each, value));
  const more = now.filter((value) => !isKnown(value));
  return more.length === 0
    ? []
    : [`${place}: allows ${more.map((each) => shown(JSON.stringify(each))).join(", ")} too`];
}

function typeChanges(before: unknown, now: unknown, place: string): string[] {
  const [old, types] = [before, now].map((each) => (each === undefined ? [] : [each].flat()));
  const isNarrower = before !== undefined && types!.length > 0 && types!.every((each) => old!.includes(each));
  return isNarrower || (before === undefined && now !== undefined) ? [] : [`${place}: the type changed`];
}

/** Whether a bound allows less than before. A new bound does. */
function isWithin(before: unknown, now: unknown, isLess: (before: number, now: number) => boolean): boolean {
  if (typeof now !== "number") return false;
  return before === undefined || (typeof before === "number" && isLess(before, now));
}

/** Servers choose these names. */
function shown(name: unknown): string {
  return oneLine(String(name), maxShownNameChars);
}
