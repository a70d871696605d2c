/** Compares a tool's definition with the accepted one, and finds the changes that hold the tool until a person has reviewed them. */
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { oneLine } from "../../base/visible-text.ts";
import { maxShownNameChars } from "../limits.ts";
import type { Definition } from "./definition.ts";
import { saysTheSame } from "./text-change.ts";

/** Changes of one tool that are named. */
const maxNamedChanges = 10;

/** MCP's annotation hints, each with its default and the value of a safer tool. */
const hints: Record<string, { default: boolean; isSafe: boolean }> = {
  readOnlyHint: { default: false, isSafe: true },
  idempotentHint: { default: false, isSafe: true },
  destructiveHint: { default: true, isSafe: false },
  openWorldHint: { default: true, isSafe: false },
};

/** The reasons to hold the tool, as short sentences without their end. Empty if the change passes. */
export function definitionChanges(before: Definition, now: Definition): string[] {
  const all = [
    ...textReasons("title", before.title, now.title),
    ...textReasons("description", before.description, now.description),
    ...schemaChanges(before.inputSchema, now.inputSchema, "arguments"),
    ...resultChanges(before.outputSchema, now.outputSchema),
    ...annotationChanges(before.annotations ?? {}, now.annotations ?? {}),
  ];
  if (all.length <= maxNamedChanges) return all;
  return [...all.slice(0, maxNamedChanges), `and ${all.length - maxNamedChanges} more changes`];
}

function textReasons(part: string, before: string | undefined, now: string | undefined): string[] {
  const change = textChange(before, now);
  return change === undefined ? [] : [`the ${part} was ${change}`];
}

function resultChanges(before: JsonObject | undefined, now: JsonObject | undefined): string[] {
  if (now === undefined) return [];
  return before === undefined ? ["the server describes its results now"] : schemaChanges(before, now, "results");
}

/** A hint that makes the tool look less dangerous holds it. One that makes it look more dangerous passes. */
function annotationChanges(before: JsonObject, now: JsonObject): string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((key) => {
    const [old, value] = [before, now].map((each) => (Object.hasOwn(each, key) ? each[key] : undefined));
    if (Bun.deepEquals(old, value)) return [];
    if (key === "title") return textReasons("title", old as string | undefined, value as string | undefined);
    const hint = Object.hasOwn(hints, key) ? hints[key] : undefined;
    if (!hint) return [`the annotation "${oneLine(key, maxShownNameChars)}" changed`];
    const wasSafe = (old ?? hint.default) === hint.isSafe;
    const isSafe = (value ?? hint.default) === hint.isSafe;
    return isSafe && !wasSafe ? [`${key} is ${String(value ?? "not set")} now, so the tool looks safer`] : [];
  });
}

/** Schemas by name. */
const named: readonly string[] = ["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"];
const texts: readonly string[] = ["title", "description", "$comment"];
const lists: readonly string[] = ["anyOf", "oneOf", "allOf", "prefixItems"];
const inner: readonly string[] = ["items", "contains", "propertyNames", "not", "if", "then", "else"];
/** Below these keywords, a stricter schema may make the whole schema less strict. */
const reversing: readonly string[] = ["not", "if", "oneOf", "contains"];
/** Entries may disappear from these keywords. In others, the removed schema was a constraint. */
const removable: readonly string[] = ["properties", "$defs", "definitions"];
/** Keywords that are stricter with a greater number. */
const lowest: readonly string[] = ["minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"];
/** Keywords that are stricter with a smaller number. */
const highest: readonly string[] = ["maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"];

/** Each change that does not pass, as a sentence without its end. `place` is the schema's name for people. */
function schemaChanges(before: unknown, now: unknown, place: string): string[] {
  return changes(before, now, { place, isExact: [before, now].some((schema) => refersReversed(schema)) });
}

/** The place of a change, and whether a stricter schema also holds the tool there. */
interface At {
  place: string;
  isExact: boolean;
}

function changes(before: unknown, now: unknown, at: At): string[] {
  if (Bun.deepEquals(before, now)) return [];
  if (!isObject(before) || !isObject(now)) return [`${at.place}: changed`];
  return [...new Set([...Object.keys(before), ...Object.keys(now)])].flatMap((key) =>
    key === "required" && !at.isExact
      ? requiredChanges(before, now, at.place)
      : keyChanges(key, valueAt(before, key), valueAt(now, key), at),
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
  if (key === "enum") return enumChanges(before, now, place);
  if (key === "type") return typeChanges(before, now, place);
  if (lowest.includes(key)) return isWithin(before, now, (a, b) => b >= a) ? [] : changed;
  if (highest.includes(key)) return isWithin(before, now, (a, b) => b <= a) ? [] : changed;
  return key === "additionalProperties" && now === false ? [] : changed;
}

/** How a text has changed, for a sentence. Undefined if it passes. */
function textChange(before: unknown, now: unknown): string | undefined {
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

/** A property that is no longer required may be gone. */
function requiredChanges(
  { required: before = [], properties: known }: Record<string, unknown>,
  { required: now = [], properties }: Record<string, unknown>,
  place: string,
): string[] {
  if (Bun.deepEquals(before, now)) return [];
  const isIn = (all: unknown, name: unknown) => isObject(all) && Object.hasOwn(all, String(name));
  const word = (name: unknown) => (isIn(known, name) && !isIn(properties, name) ? "gone" : "optional now");
  if (!Array.isArray(before) || !Array.isArray(now)) return [`${place}: the required properties changed`];
  return [
    ...now.filter((name) => !before.includes(name)).map((name) => `${place}: "${shown(name)}" is required now`),
    ...before.filter((name) => !now.includes(name)).map((name) => `${place}: "${shown(name)}" is ${word(name)}`),
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

/** Whether a bound is stricter than before. A new bound is. */
function isWithin(before: unknown, now: unknown, isLess: (before: number, now: number) => boolean): boolean {
  if (typeof now !== "number") return false;
  return before === undefined || (typeof before === "number" && isLess(before, now));
}

/** Servers choose these names. */
function shown(name: unknown): string {
  return oneLine(String(name), maxShownNameChars);
}
