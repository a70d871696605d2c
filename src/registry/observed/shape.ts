/** Shapes of values as JSON Schemas: types and field names, without values. Shapes of several results are merged. */
import { areNames, numbered, wordsIn } from "./data-keys.ts";

/** In the order in which they are shown. */
const kinds = ["string", "number", "boolean", "object", "array", "null"] as const;
type Kind = (typeof kinds)[number];

/** A small JSON Schema. An empty one is unknown for good, because something was too deep or too large. */
export interface Shape {
  type?: Kind | Kind[];
  /** The fields of an object. */
  properties?: Record<string, Shape>;
  /** The fields that every object had. */
  required?: string[];
  /** The values of keys that are data, also beside `properties`. */
  additionalProperties?: Shape;
  /** The items of a list; missing if it was always empty. */
  items?: Shape;
}

/** A value with more types, besides null, is unknown. */
const maxKinds = 3;

/** Maximum number of fields. */
const maxFields = 64;

/** An object with this many similar fields is a map: of objects, or of strings and numbers. */
const manyThings = 4;
const manyValues = 16;
/** For maps of numbers. No name may have several words, as field names often do. */
const manyNumbers = 8;
/** For objects without required fields, if no two objects had a field in common. */
const manyOptional = 8;
const manyDistinct = 4;

const depths = [6, 5, 4, 3, 2, 1];
/** Maximum JSON characters for one tool. */
const maxLength = 4_000;

export function kindsOf({ type }: Shape): Kind[] {
  return type === undefined ? [] : [type].flat();
}

/**
 * The shape that fits both. Order and grouping do not matter, and merging a shape again changes nothing. With `part`, missing
 * fields say nothing, because only a part of the value was observed.
 */
export function merge(a: Shape, b: Shape, part = false): Shape {
  const [ofA, ofB] = [kindsOf(a), kindsOf(b)];
  if (ofA.length === 0 || ofB.length === 0) return {};
  const both = kinds.filter((kind) => ofA.includes(kind) || ofB.includes(kind));
  if (both.filter((kind) => kind !== "null").length > maxKinds) return {};
  const [only] = both;
  const items = mergeSome(a.items, b.items, part);
  return {
    type: both.length === 1 && only ? only : both,
    ...(ofA.includes("object") && ofB.includes("object")
      ? mergedObjects(a, b, part)
      : objectPart(ofA.includes("object") ? a : b)),
    ...(items ? { items } : {}),
  };
}

function mergeSome(a: Shape | undefined, b: Shape | undefined, part: boolean): Shape | undefined {
  return a && b ? merge(a, b, part) : (a ?? b);
}

type ObjectPart = Pick<Shape, "properties" | "required" | "additionalProperties">;

function objectPart({ properties, required, additionalProperties }: Shape): ObjectPart {
  return {
    ...(properties ? { properties } : {}),
    ...(required ? { required } : {}),
    ...(additionalProperties ? { additionalProperties } : {}),
  };
}

function mergedObjects(a: Shape, b: Shape, part: boolean): ObjectPart {
  const fields: Record<string, Shape> = Object.assign(Object.create(null), a.properties);
  let common = 0;
  for (const [key, shape] of Object.entries(b.properties ?? {})) {
    const before = fields[key];
    if (before) common += 1;
    fields[key] = before ? merge(before, shape, part) : shape;
  }
  const ofB = new Set(b.required);
  const required = (a.required ?? []).filter(
    (key) => ofB.has(key) || (part && !Object.hasOwn(b.properties ?? {}, key)),
  );
  const others = mergeSome(a.additionalProperties, b.additionalProperties, part);
  if (isMap(a) || isMap(b)) return objectShape(fields, required, others, 0);
  const distinct = a.properties && b.properties && common === 0;
  const stable = required.length * 2 >= Object.keys(fields).length;
  const mapFrom = distinct
    ? manyDistinct
    : stable
      ? Number.POSITIVE_INFINITY
      : required.length === 0
        ? manyOptional
        : manyValues;
  return objectShape(fields, required, others, mapFrom);
}

function isMap({ properties, additionalProperties }: ObjectPart): boolean {
  return additionalProperties !== undefined && properties === undefined;
}

/**
 * The shape of an object. Fields that are data lose their names. `mapFrom` or more similar fields are a map; with 0, any
 * number is.
 */
export function objectShape(
  found: Record<string, Shape>,
  required: readonly string[],
  others: Shape | undefined,
  mapFrom = manyValues,
): ObjectPart {
  const series = new Set(numbered(Object.keys(found)));
  const fields = Object.entries(found).filter(([key]) => !series.has(key));
  const toMap = mapFrom === 0 || isMapOf(fields, mapFrom);
  const data = toMap ? Object.entries(found) : Object.entries(found).filter(([key]) => series.has(key));
  const all = [others, ...data.map(([, shape]) => shape)];
  const additionalProperties = all.reduce((some, each) => mergeSome(some, each, false));
  const more = additionalProperties ? { additionalProperties } : {};
  if (toMap || fields.length === 0) return more;
  const always = new Set(required);
  // If there are too many fields, the required ones stay.
  const kept =
    fields.length > maxFields
      ? fields.sort(([a], [b]) => Number(always.has(b)) - Number(always.has(a)) || (a < b ? -1 : 1)).slice(0, maxFields)
      : fields;
  const names = kept.map(([key]) => key);
  return { properties: byName(kept), required: names.filter((key) => always.has(key)), ...more };
}

/** Allows any name, even `__proto__`. */
function byName(fields: [string, Shape][]): Record<string, Shape> {
  return Object.assign(Object.create(null), Object.fromEntries(fields));
}

function isMapOf(fields: [string, Shape][], mapFrom: number): boolean {
  const [first, ...rest] = fields.map(([, shape]) => shape);
  if (!first || !rest.every((each) => isAlike(first, each))) return false;
  const names = fields.map(([key]) => key);
  const isText = kindsOf(first).includes("string");
  if (areNames(names, isText)) return true;
  const isThing = first.properties !== undefined || first.items?.properties !== undefined;
  if (isThing) return names.length >= manyThings;
  const isCounts = !isText && mapFrom === manyValues && names.every((name) => wordsIn(name).length === 1);
  return names.length >= (isCounts ? manyNumbers : mapFrom);
}

/** Whether both could be values of the same map. Null fits anything. */
function isAlike(a: Shape, b: Shape): boolean {
  const [ofA, ofB] = [a, b].map((shape) => kindsOf(shape).filter((kind) => kind !== "null"));
  if (ofA!.length > 0 && ofB!.length > 0 && ofA!.join() !== ofB!.join()) return false;
  if (a.items && b.items && !isAlike(a.items, b.items)) return false;
  if (!a.properties || !b.properties) return true;
  const [namesA, namesB] = [Object.keys(a.properties), Object.keys(b.properties)];
  const common = namesA.filter((key) => Object.hasOwn(b.properties!, key)).length;
  return common / (namesA.length + namesB.length - common) >= 0.6;
}

/** Reads a shape from a file that may have been edited. Throws TypeError for an invalid one. */
export function readShape(value: unknown): Shape {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new TypeError("no shape");
  const { type, properties, required, items, additionalProperties } = value as Record<string, unknown>;
  const read = [type].flat().filter((kind) => kinds.includes(kind as Kind)) as Kind[];
  const [only] = read;
  if (!only) return {};
  const isFields = typeof properties === "object" && properties !== null;
  return {
    type: read.length === 1 ? only : read,
    ...(isFields
      ? { properties: byName(Object.entries(properties).map(([key, each]) => [key, readShape(each)])) }
      : {}),
    ...(Array.isArray(required) ? { required: required.filter((key) => typeof key === "string") } : {}),
    ...(items === undefined ? {} : { items: readShape(items) }),
    ...(additionalProperties === undefined ? {} : { additionalProperties: readShape(additionalProperties) }),
  };
}

/** The shape within `maxLength`. If it is too large, its deep parts are unknown. */
export function bounded(shape: Shape): Shape {
  for (const depth of depths) {
    const cut = shallow(shape, depth);
    if (JSON.stringify(cut).length <= maxLength) return cut;
  }
  return {};
}

/** The shape as it is shown. A value that was always null is unknown. */
export function shownShape(shape: Shape): Shape {
  const { type, properties, items, additionalProperties } = shape;
  if (type === "null") return {};
  return {
    ...shape,
    ...(properties
      ? { properties: byName(Object.entries(properties).map(([key, each]) => [key, shownShape(each)])) }
      : {}),
    ...(items ? { items: shownShape(items) } : {}),
    ...(additionalProperties ? { additionalProperties: shownShape(additionalProperties) } : {}),
  };
}

/** The shape cut at a depth of objects and lists; with `fieldsOnly`, without maps beside fields. */
export function shallow(shape: Shape, depth: number, fieldsOnly = false): Shape {
  const { type, properties, required, items, additionalProperties } = shape;
  if (!properties && !items && !additionalProperties) return shape;
  if (depth === 0) return {};
  const one = (inner: Shape) => shallow(inner, depth - 1, fieldsOnly);
  const others = fieldsOnly && properties ? undefined : additionalProperties;
  return {
    ...(type ? { type } : {}),
    ...(properties ? { properties: byName(Object.entries(properties).map(([key, each]) => [key, one(each)])) } : {}),
    ...(required ? { required } : {}),
    ...(items ? { items: one(items) } : {}),
    ...(others ? { additionalProperties: one(others) } : {}),
  };
}
