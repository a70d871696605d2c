/** Tells which checks of arguments are quick, for any schema and any arguments. */

import { isObject } from "../../json-object.ts";

/** Limits of the values in a schema, the values in arguments, and the product of both. */
const maxSchemaValues = 1_000;
const maxArgumentValues = 2_000;
const maxMeetings = 100_000;

/** Limit of the characters of all strings in arguments. */
const maxChars = 65_536;

/** Keywords whose value has schemas by name, so that its keys are names and not keywords. */
const named = new Set(["properties", "$defs", "definitions", "dependentSchemas"]);

/** Keywords that may cost more than the sizes suggest: regular expressions, comparisons of pairs, and references. */
const costly = new Set([
  "pattern",
  "patternProperties",
  "uniqueItems",
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "unevaluatedProperties",
  "unevaluatedItems",
]);

const sizes = new WeakMap<object, number>();

/** Whether checking the arguments takes a few milliseconds at most. */
export function isQuick(schema: object, args: object): boolean {
  let size = sizes.get(schema);
  if (size === undefined) {
    size = schemaSize(schema);
    sizes.set(schema, size);
  }
  return size <= maxSchemaValues && size * valuesIn(args) <= maxMeetings;
}

/** The number of values in the schema; infinite if it has a costly keyword or is too large. */
export function schemaSize(schema: object): number {
  let values = 0;
  const visit = (node: unknown, areNames: boolean): boolean => {
    values += 1;
    if (values > maxSchemaValues) return false;
    if (Array.isArray(node)) return node.every((each) => visit(each, false));
    if (!isObject(node)) return true;
    return Object.keys(node).every((key) => {
      if (!areNames && costly.has(key)) return false;
      return visit(node[key], !areNames && named.has(key));
    });
  };
  return visit(schema, false) ? values : Number.POSITIVE_INFINITY;
}

/** The number of values in the arguments; infinite if they are too large. */
function valuesIn(args: object): number {
  let values = 0;
  let chars = 0;
  const waiting: unknown[] = [args];
  while (waiting.length > 0) {
    const node = waiting.pop();
    values += 1;
    if (typeof node === "string") chars += node.length;
    else if (Array.isArray(node)) {
      if (node.length > maxArgumentValues) return Number.POSITIVE_INFINITY;
      waiting.push(...node);
    } else if (isObject(node)) for (const key in node) waiting.push(node[key]);
    if (waiting.length + values > maxArgumentValues || chars > maxChars) return Number.POSITIVE_INFINITY;
  }
  return values;
}
