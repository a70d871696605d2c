/** Shapes of values as JSON Schemas: types and field names, without values. Shapes of several results are merged. */
import { isObject } from "../../base/json-object.ts";
import { nullSoFar } from "../types/one-line.ts";
import { areNames, numbered, wordsIn } from "./data-keys.ts";
import { formText, mergedForm, readForm, type TextForm } from "./text-form.ts";

/** In the order in which they are shown. */
const kinds = ["string", "number", "boolean", "object", "array", "null"] as const;

/** A value with more types, besides null, is unknown. */
const maxShapeKinds = 3;

/** Fields of an object. */
const maxShapeFields = 64;

/** An object with this many similar fields is a map of objects. */
const minMapThings = 4;

/** The same for maps of strings and numbers. */
const minMapValues = 16;

/** The same for maps of numbers, if no key has several words. Field names often have several. */
const minMapNumbers = 8;

/** The same for objects without required fields. */
const minMapOptional = 8;

/** The same if no two objects had a field in common. */
const minMapDistinct = 4;

/** Characters of the JSON of a shape, for one tool. */
const maxShapeChars = 4_000;

type JsonKind = (typeof kinds)[number];

/** A small JSON Schema. An empty one stays unknown, because its value was too deep or too large. */
export interface Shape {
  type?: JsonKind | JsonKind[];
  /** The form of a text, if the whole result is a text or has one field with a text. */
  form?: TextForm;
  /** The fields of an object. */
  properties?: Record<string, Shape>;
  /** The fields that every object had. */
  required?: string[];
  /** The values of keys that are data, also beside `properties`. */
  additionalProperties?: Shape;
  /** The items of a list; missing if it was always empty. */
  items?: Shape;
}

const depths = [6, 5, 4, 3, 2, 1];

function kindsOf({ type }: Shape): JsonKind[] {
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
  if (both.filter((kind) => kind !== "null").length > maxShapeKinds) return {};
  const areObjects = ofA.includes("object") && ofB.includes("object");
  const { properties, required, additionalProperties } = ofA.includes("object") ? a : b;
  return defined({
    type: typeOf(both),
    ...(areObjects ? mergedObjects(a, b, part) : { properties, required, additionalProperties }),
    form: mergedForm(a.form, b.form),
    items: a.items && b.items && areDistinct(a.items, b.items) ? anyFields : mergeSome(a.items, b.items, part),
  });
}

/** An object whose fields depend on the arguments of the call. */
export const anyFields: Shape = { type: "object", additionalProperties: {} };

/** Whether the rows of two results have no field in common, so that their fields depend on the arguments. */
function areDistinct(a: Shape, b: Shape): boolean {
  if (!a.properties || !b.properties || a.additionalProperties || b.additionalProperties) return false;
  return !Object.keys(a.properties).some((key) => Object.hasOwn(b.properties!, key));
}

function typeOf(found: JsonKind[]): JsonKind | JsonKind[] {
  return found.length === 1 ? found[0]! : found;
}

/** The shape without the properties that are undefined. */
function defined(shape: { [Key in keyof Shape]: Shape[Key] | undefined }): Shape {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as Shape;
}

function mergeSome(a: Shape | undefined, b: Shape | undefined, part: boolean): Shape | undefined {
  return a && b ? merge(a, b, part) : (a ?? b);
}

type ObjectPart = Pick<Shape, "properties" | "required" | "additionalProperties">;

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
  const isDistinct = a.properties !== undefined && b.properties !== undefined && common === 0;
  const isStable = required.length * 2 >= Object.keys(fields).length;
  if (isDistinct) return objectShape(fields, required, others, minMapDistinct);
  if (isStable) return objectShape(fields, required, others, Number.POSITIVE_INFINITY);
  return objectShape(fields, required, others, required.length === 0 ? minMapOptional : minMapValues);
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
  mapFrom = minMapValues,
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
    fields.length > maxShapeFields
      ? fields
          .sort(([a], [b]) => Number(always.has(b)) - Number(always.has(a)) || (a < b ? -1 : 1))
          .slice(0, maxShapeFields)
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
  if (isThing) return names.length >= minMapThings;
  const isCounts = !isText && mapFrom === minMapValues && names.every((name) => wordsIn(name).length === 1);
  return names.length >= (isCounts ? minMapNumbers : mapFrom);
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
  if (!isObject(value)) throw new TypeError("no shape");
  const { type, properties, required } = value;
  const read = [type].flat().filter((kind) => kinds.includes(kind as JsonKind)) as JsonKind[];
  if (read.length === 0) return {};
  const whole: Shape = defined({ ...value, type: typeOf(read), form: readForm(value["form"]) });
  if (typeof properties !== "object" || properties === null) delete whole.properties;
  if (Array.isArray(required)) whole.required = required.filter((key) => typeof key === "string");
  else delete whole.required;
  return withInner(whole, readShape);
}

/** The shape with every shape in it replaced, and its properties in one order. */
function withInner(
  { type, form, properties, required, items, additionalProperties }: Shape,
  change: (inner: Shape) => Shape,
) {
  return defined({
    type,
    form,
    properties: properties && byName(Object.entries(properties).map(([key, each]) => [key, change(each)])),
    required,
    items: items === undefined ? undefined : change(items),
    additionalProperties: additionalProperties === undefined ? undefined : change(additionalProperties),
  });
}

/** The shape within `maxShapeChars`. If it is too large, its deep parts are unknown. */
export function bounded(shape: Shape): Shape {
  for (const depth of depths) {
    const cut = shallow(shape, depth);
    if (JSON.stringify(cut).length <= maxShapeChars) return cut;
  }
  return {};
}

/** The shape as it is shown. A value that was always null is unknown, and says so. */
export function shownShape(shape: Shape): Shape & { description?: string } {
  if (shape.type === "null") return { description: nullSoFar };
  const { form, ...shown } = withInner(shape, shownShape);
  const description = form && formText(form);
  return description ? { ...shown, description } : shown;
}

/** The shape cut at a depth of objects and lists; with `fieldsOnly`, without maps beside fields. */
export function shallow(shape: Shape, depth: number, fieldsOnly = false): Shape {
  const { additionalProperties, ...rest } = shape;
  if (!shape.properties && !shape.items && !additionalProperties) return shape;
  if (depth === 0) return {};
  const kept = fieldsOnly && shape.properties ? rest : shape;
  return withInner(kept, (inner) => shallow(inner, depth - 1, fieldsOnly));
}
