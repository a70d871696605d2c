/** The schema of a tool's arguments without those that agents do not see, and with the defaults that the config gives. */
import { isObject, type JsonObject, stringsIn } from "../../base/json-object.ts";
import { pointerParts, schemasOf } from "../json-schema.ts";

interface ArgumentEdits {
  /** Arguments that agents do not see. */
  unseen: readonly string[];
  /** Arguments that may be left out, and their values then. */
  defaults: JsonObject;
}

/** Only the properties at the top of the schema are arguments. Parts that depend on unseen ones are left to the server. */
export function editedSchema(schema: JsonObject, { unseen, defaults }: ArgumentEdits): JsonObject {
  const names = new Set(unseen);
  const optional = new Set([...unseen, ...Object.keys(defaults)]);
  const { minProperties: _, maxProperties: __, ...rest } = schema;
  const edited = partOf(unseen.length > 0 ? rest : schema, { names, optional });
  const properties = isObject(edited["properties"]) ? edited["properties"] : {};
  const shown = Object.entries(properties).map(([name, property]) =>
    Object.hasOwn(defaults, name)
      ? [name, { ...(isObject(property) ? property : {}), default: defaults[name] }]
      : [name, property],
  );
  const whole = "properties" in edited ? { ...edited, properties: Object.fromEntries(shown) } : edited;
  return withMoved(whole, schema, names);
}

interface Names {
  /** Properties that are removed. */
  names: ReadonlySet<string>;
  /** Properties that are never required. */
  optional: ReadonlySet<string>;
}

/** A schema of all arguments: the whole one, or a part such as one of `anyOf`. */
function partOf(schema: JsonObject, edit: Names): JsonObject {
  const { names, optional } = edit;
  const isAbout = (part: unknown) => [...names].some((name) => mentions(part, name));
  const part: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    const isCondition = ["if", "then", "else"].includes(key);
    if (key === "properties" && isObject(value)) part[key] = without(value, names);
    else if (key === "required") {
      const left = stringsIn(value).filter((name) => !optional.has(name));
      if (left.length > 0) part[key] = left;
    } else if (["allOf", "anyOf", "oneOf"].includes(key) && Array.isArray(value)) {
      // Two forms may be the same without the argument that tells them apart.
      const isAlike = key === "oneOf" && value.some(isAbout);
      part[isAlike && !("anyOf" in schema) ? "anyOf" : key] = value.map((each) =>
        isObject(each) ? partOf(each, edit) : each,
      );
    } else if (key === "not" && isAbout(value)) continue;
    else if (isCondition && [schema["if"], schema["then"], schema["else"]].some(isAbout)) continue;
    else if (["dependentRequired", "dependentSchemas", "dependencies"].includes(key) && isAbout({ [key]: value }))
      continue;
    else if (["examples", "default"].includes(key)) {
      const shown = Array.isArray(value) ? value.map((each) => withoutIn(each, names)) : withoutIn(value, names);
      part[key] = shown;
    } else part[key] = value;
  }
  return part;
}

/** Whether a schema of all arguments says something about one of them. */
function mentions(schema: unknown, name: string): boolean {
  if (!isObject(schema)) return false;
  const { properties, required } = schema;
  if (stringsIn(required).includes(name) || (isObject(properties) && Object.hasOwn(properties, name))) return true;
  const dependent = ["dependentRequired", "dependentSchemas", "dependencies"]
    .map((key) => schema[key])
    .filter(isObject);
  const isDependent = (each: JsonObject) =>
    Object.hasOwn(each, name) ||
    Object.values(each).some((value) => stringsIn(value).includes(name) || mentions(value, name));
  const parts = [...["allOf", "anyOf", "oneOf"].flatMap((key) => schemasOf(schema[key])), schema["not"], schema["if"]];
  return dependent.some(isDependent) || parts.some((part) => mentions(part, name));
}

const withoutIn = (value: unknown, names: ReadonlySet<string>) => (isObject(value) ? without(value, names) : value);

function without(object: JsonObject, names: ReadonlySet<string>): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([key]) => !names.has(key)));
}

/** Some generators write a repeated schema once, as a property, and refer to it. Such a schema moves to `$defs` if its property is removed. */
function withMoved(edited: JsonObject, { properties }: JsonObject, names: ReadonlySet<string>): JsonObject {
  if (names.size === 0 || !isObject(properties) || !JSON.stringify(edited).includes('"#/properties/')) return edited;
  const known = isObject(edited["$defs"]) ? edited["$defs"] : {};
  const moved = new Map<string, string>();
  const moving = (reference: string): string => {
    const [top, name = "", ...rest] = pointerParts(reference);
    if (top !== "properties" || !names.has(name) || !Object.hasOwn(properties, name)) return reference;
    let place = moved.get(name);
    for (let count = moved.size + 1; place === undefined; count++) {
      if (!Object.hasOwn(known, `shared${count}`)) place = `shared${count}`;
    }
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
