/** The schema of a tool's arguments as agents see it: without hidden arguments, and with the config's defaults. */
import { isObject, type JsonObject, stringsIn } from "../../base/json-object.ts";
import { pointerParts, schemasOf } from "../../base/json-schema.ts";

interface ArgumentEdits {
  /** Arguments that agents do not see. */
  unseen: readonly string[];
  /** Optional arguments with their default values. */
  defaults: JsonObject;
}

/** Only the properties at the top of the schema are arguments. Parts that depend on unseen ones are left to the server. */
export function editedSchema(schema: JsonObject, { unseen, defaults }: ArgumentEdits): JsonObject {
  const names = new Set(unseen);
  const optional = new Set([...unseen, ...Object.keys(defaults)]);
  const { minProperties: _, maxProperties: __, ...rest } = schema;
  const edited = partOf(unseen.length > 0 ? rest : schema, { names, optional });
  const { properties } = edited;
  if (!isObject(properties)) return edited;
  const shown = Object.entries(properties).map(([name, property]) =>
    Object.hasOwn(defaults, name)
      ? [name, { ...(isObject(property) ? property : {}), default: defaults[name] }]
      : [name, property],
  );
  const whole = { ...edited, properties: Object.fromEntries(shown) };
  return unseen.length === 0 ? whole : withoutUnused(withMoved(whole, schema, names));
}

interface Names {
  /** Properties that are removed. */
  names: ReadonlySet<string>;
  /** Properties that are never required. */
  optional: ReadonlySet<string>;
}

const conditions = ["if", "then", "else"];
const dependencies = ["dependentRequired", "dependentSchemas", "dependencies"];

/** A schema of all arguments: the whole one, or a part such as one of `anyOf`. */
function partOf(schema: JsonObject, edit: Names): JsonObject {
  const isAbout = (part: unknown) => [...edit.names].some((name) => mentions(part, name));
  const isCondition = conditions.some((key) => isAbout(schema[key]));
  const entries = Object.entries(schema).flatMap(([key, value]): [string, unknown][] => {
    const isLeft =
      (key === "not" && isAbout(value)) ||
      (conditions.includes(key) && isCondition) ||
      (dependencies.includes(key) && isAbout({ [key]: value }));
    if (isLeft) return [];
    if (key === "required") {
      const left = stringsIn(value).filter((name) => !edit.optional.has(name));
      return left.length > 0 ? [[key, left]] : [];
    }
    // Alternatives may be equal without the argument that distinguishes them.
    if (key === "oneOf" && schemasOf(value).some(isAbout)) {
      return "anyOf" in schema ? [] : [["anyOf", partsOf(value, edit)]];
    }
    if (["allOf", "anyOf", "oneOf"].includes(key)) return [[key, partsOf(value, edit)]];
    return [[key, shownKeys.includes(key) ? without(value, edit.names) : value]];
  });
  return Object.fromEntries(entries);
}

/** Keywords whose objects have arguments as keys. */
const shownKeys = ["properties", "examples", "default"];

function partsOf(schemas: unknown, edit: Names): unknown {
  return Array.isArray(schemas) ? schemas.map((each) => (isObject(each) ? partOf(each, edit) : each)) : schemas;
}

/** Whether a schema of all arguments says something about one of them. */
function mentions(schema: unknown, name: string): boolean {
  if (!isObject(schema)) return false;
  const { properties, required } = schema;
  if (stringsIn(required).includes(name) || (isObject(properties) && Object.hasOwn(properties, name))) return true;
  const dependent = dependencies.map((key) => schema[key]).filter(isObject);
  const isDependent = (each: JsonObject) =>
    Object.hasOwn(each, name) ||
    Object.values(each).some((value) => stringsIn(value).includes(name) || mentions(value, name));
  const parts = [...["allOf", "anyOf", "oneOf"].flatMap((key) => schemasOf(schema[key])), schema["not"], schema["if"]];
  return dependent.some(isDependent) || parts.some((part) => mentions(part, name));
}

/** The object, or each object of a list, without these keys. */
function without(value: unknown, names: ReadonlySet<string>): unknown {
  if (Array.isArray(value)) return value.map((each) => without(each, names));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !names.has(key)));
}

/** Some generators write a repeated schema once, as a property, and refer to it. Such a schema moves to `$defs` if its property is removed. */
function withMoved(edited: JsonObject, { properties }: JsonObject, names: ReadonlySet<string>): JsonObject {
  if (!isObject(properties) || !JSON.stringify(edited).includes('"#/properties/')) return edited;
  const known = isObject(edited["$defs"]) ? edited["$defs"] : {};
  const moved = new Map<string, string>();
  const freePlace = () => {
    const taken = new Set([...Object.keys(known), ...moved.values()]);
    for (let count = 1; ; count++) if (!taken.has(`shared${count}`)) return `shared${count}`;
  };
  const moving = (reference: string): string => {
    const [top, name = "", ...rest] = pointerParts(reference);
    if (top !== "properties" || !names.has(name) || !Object.hasOwn(properties, name)) return reference;
    const place = moved.get(name) ?? freePlace();
    moved.set(name, place);
    return ["#/$defs", place, ...rest.map((part) => part.replaceAll("~", "~0").replaceAll("/", "~1"))].join("/");
  };
  const visit = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(visit);
    if (!isObject(value)) return value;
    const entries = Object.entries(value).map(([key, each]) => [
      key,
      key === "$ref" && typeof each === "string" && each.startsWith("#/") ? moving(each) : visit(each),
    ]);
    return Object.fromEntries(entries);
  };
  const whole = visit(edited) as JsonObject;
  const definitions: JsonObject = {};
  // A moved schema may refer to another one that has to move.
  for (let size = -1; size < moved.size; ) {
    size = moved.size;
    for (const [name, place] of [...moved]) definitions[place] ??= visit(properties[name]);
  }
  return moved.size === 0 ? edited : { ...whole, $defs: { ...(whole["$defs"] as object), ...definitions } };
}

/**
 * Removes the definitions that only hidden arguments used. A definition with its own `$id` or anchor may be referenced in other ways, so it
 * stays.
 */
function withoutUnused(schema: JsonObject): JsonObject {
  let edited = schema;
  for (const key of ["$defs", "definitions"]) {
    const all = edited[key];
    if (!isObject(all)) continue;
    const hasName = (each: unknown) =>
      isObject(each) && ["$id", "$anchor", "$dynamicAnchor"].some((name) => name in each);
    const { [key]: _, ...rest } = edited;
    const used = new Map<string, unknown>();
    const waiting: unknown[] = [rest, ...Object.values(all).filter(hasName)];
    while (waiting.length > 0) {
      for (const reference of referencesIn(waiting.pop())) {
        const [top, name = ""] = pointerParts(reference);
        if (top !== key || used.has(name) || !Object.hasOwn(all, name)) continue;
        used.set(name, all[name]);
        waiting.push(all[name]);
      }
    }
    const kept = Object.entries(all).filter(([name, each]) => used.has(name) || hasName(each));
    edited = kept.length > 0 ? { ...rest, [key]: Object.fromEntries(kept) } : rest;
  }
  return edited;
}

/** The JSON pointers of all `$ref` in a schema. */
function referencesIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(referencesIn);
  if (!isObject(value)) return [];
  const { $ref } = value;
  const own = typeof $ref === "string" && $ref.startsWith("#/") ? [$ref] : [];
  return [...own, ...Object.values(value).flatMap(referencesIn)];
}
