/** Restores the exact numbers in arguments. Programs hold a number that JavaScript cannot represent as a text. */
import { exactDigits, exactNumber, isExactText, manyDigits, rounded } from "../../base/exact-json.ts";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { sameValue, schemasOf } from "../../base/json-schema.ts";
import { maxSchemasOfValue } from "../../base/limits.ts";
import { maxCheckedDepth } from "../limits.ts";

export interface ExactArguments {
  /** The arguments for the server. */
  args: JsonObject;
  /** The arguments for a check against the schema, with rounded numbers. */
  checked: JsonObject;
}

/**
 * Texts with the digits of a number become numbers where the schema takes numbers and no text. Returns the same object if nothing changes.
 */
export function exactArguments(schema: JsonObject, given: JsonObject, json = JSON.stringify(given)): ExactArguments {
  if (!manyDigits.test(json)) return { args: given, checked: given };
  const args = exactIn(given, [schema], { root: schema, depth: 0 }) as JsonObject;
  return { args, checked: rounded(args) };
}

interface Place {
  root: JsonObject;
  depth: number;
}

function exactIn(value: unknown, schemas: readonly unknown[], { root, depth }: Place): unknown {
  if (depth > maxCheckedDepth) return value;
  const forms = formsOf(schemas, root);
  if (isExactText(value)) return takesNumber(forms, value) ? exactNumber(value) : value;
  const inner = { root, depth: depth + 1 };
  if (Array.isArray(value)) {
    return value.map((item, at) =>
      exactIn(
        item,
        forms.flatMap((form) => itemSchemas(form, at)),
        inner,
      ),
    );
  }
  if (!isObject(value) || exactDigits(value) !== undefined) return value;
  const entries = Object.entries(value).map(([key, each]) => {
    return [
      key,
      exactIn(
        each,
        forms.flatMap((form) => propertySchemas(form, key)),
        inner,
      ),
    ] as const;
  });
  return Object.fromEntries(entries);
}

/** The schemas with their references, their parts and their alternatives. */
function formsOf(schemas: readonly unknown[], root: JsonObject): JsonObject[] {
  const forms = new Set(schemas.filter(isObject));
  for (const form of forms) {
    for (const part of sameValue(form, root)) forms.add(part);
    for (const part of [...schemasOf(form["anyOf"]), ...schemasOf(form["oneOf"])]) {
      if (isObject(part) && forms.size < maxSchemasOfValue) forms.add(part);
    }
  }
  return [...forms];
}

function takesNumber(forms: readonly JsonObject[], digits: string): boolean {
  const types = new Set(forms.flatMap(({ type }) => type));
  if (types.has("string")) return false;
  return types.has("number") || (types.has("integer") && /^-?\d+$/.test(digits));
}

function itemSchemas({ prefixItems, items }: JsonObject, at: number): unknown[] {
  return [schemasOf(prefixItems)[at] ?? (Array.isArray(items) ? items[at] : items)];
}

function propertySchemas({ properties, patternProperties, additionalProperties }: JsonObject, key: string): unknown[] {
  if (isObject(properties) && Object.hasOwn(properties, key)) return [properties[key]];
  // Patterns may be costly, and a name that matches none of several is rare.
  return [additionalProperties, ...(isObject(patternProperties) ? Object.values(patternProperties) : [])];
}
