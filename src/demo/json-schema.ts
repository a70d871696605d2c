/** The part of JSON Schema (2020-12) that the demo's tools use: the matching TypeScript types, and the check of arguments. */
import { isObject } from "../base/json-object.ts";

export type JsonSchema = {
  readonly type: "string" | "integer" | "number" | "boolean" | "array" | "object";
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly items?: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: false;
};

/** The type of a value that satisfies the schema `S`. */
export type FromSchema<S> = S extends { enum: readonly (infer E)[] }
  ? E
  : S extends { type: "string" }
    ? string
    : S extends { type: "integer" | "number" }
      ? number
      : S extends { type: "boolean" }
        ? boolean
        : S extends { type: "array"; items: infer I }
          ? FromSchema<I>[]
          : S extends { properties: infer P; required: readonly (infer R)[] }
            ? { [K in keyof P as K extends R ? K : never]: FromSchema<P[K]> } & {
                [K in keyof P as K extends R ? never : K]?: FromSchema<P[K]>;
              }
            : never;

/** Returns the schema of an object with exactly these properties. All are required except those in `optional`. */
export function objectSchema<
  const P extends Readonly<Record<string, JsonSchema>>,
  const O extends readonly (keyof P)[] = [],
>(properties: P, optional?: O) {
  const required = Object.keys(properties).filter((key) => !optional?.includes(key)) as Exclude<keyof P, O[number]>[];
  return { type: "object", properties, required, additionalProperties: false } as const;
}

/**
 * Returns all problems of `value` as sentences, or none if it satisfies `schema`. Each names the argument, its value and its schema.
 * `owner` has the value: the tool or a property.
 */
export function* problemsOf(owner: string, value: unknown, schema: JsonSchema, path = ""): Generator<string> {
  const { items, properties = {}, required = [] } = schema;
  if (!fits(value, schema)) {
    const text = JSON.stringify(value);
    yield `${path} is ${text.length > 80 ? `${text.slice(0, 80)}…` : text}. It must match ${JSON.stringify(schema)}`;
  } else if (Array.isArray(value) && items) {
    for (const [index, item] of value.entries()) yield* problemsOf(path, item, items, `${path}[${index}]`);
  } else if (isObject(value)) {
    const prefix = path === "" ? "" : `${path}.`;
    for (const key of required) {
      if (!Object.hasOwn(value, key))
        yield `${prefix}${key} is missing. It must match ${JSON.stringify(properties[key])}`;
    }
    for (const [key, item] of Object.entries(value)) {
      const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
      if (known) yield* problemsOf(`${prefix}${key}`, item, known, `${prefix}${key}`);
      else yield `${owner} has no "${key}". It takes: ${Object.keys(properties).join(", ")}.`;
    }
  }
}

/** Returns whether the value itself is valid. The contents of arrays and objects are checked separately. */
function fits(value: unknown, schema: JsonSchema): boolean {
  const isOfType = {
    string: typeof value === "string",
    integer: Number.isInteger(value),
    number: typeof value === "number",
    boolean: typeof value === "boolean",
    array: Array.isArray(value),
    object: isObject(value),
  }[schema.type];
  if (!isOfType || schema.enum?.includes(String(value)) === false) return false;
  const size = typeof value === "string" || Array.isArray(value) ? value.length : Number(value);
  const least = schema.minimum ?? schema.minLength ?? schema.minItems ?? size;
  const most = schema.maximum ?? schema.maxLength ?? schema.maxItems ?? size;
  return !(size < least || size > most);
}
