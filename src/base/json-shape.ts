/** Short functions that build JSON Schemas of documents that claudikins writes, and the TypeScript types of these documents. */
import type { ErrorCode } from "./errors.ts";

/** The type of the values, which exists only for the type checker. */
declare const values: unique symbol;

/** A JSON Schema of values of one type. */
export type Shape<T = unknown> = Readonly<Record<string, unknown>> & { readonly [values]?: T };

/** The type of a shape's values. */
export type ValueOf<S extends Shape> = S extends Shape<infer T> ? T : never;

export const text: Shape<string> = { type: "string" };
export const number: Shape<number> = { type: "number" };
export const yesOrNo: Shape<boolean> = { type: "boolean" };
export const nothing: Shape<null> = { type: "null" };
export const anything: Shape = {};
export const time: Shape<number> = { type: "number", description: "Milliseconds since 1970" };

export function list<T>(items: Shape<T>): Shape<T[]> {
  return { type: "array", items };
}

export const texts = list(text);

export function exactly<const T>(value: T): Shape<T> {
  return { const: value };
}

export function oneOf<const T extends string>(...allowed: readonly T[]): Shape<T> {
  return { enum: allowed };
}

export function either<T extends Shape[]>(...anyOf: T): Shape<ValueOf<T[number]>> {
  return { anyOf };
}

type Keys = Readonly<Record<string, Shape>>;

type RecordOf<K extends Keys> = {
  [Name in keyof K as Name extends `${string}?` ? never : Name]: ValueOf<K[Name]>;
} & {
  [Name in keyof K as Name extends `${infer Optional}?` ? Optional : never]?: ValueOf<K[Name]> | undefined;
};

/** An object with exactly these keys. Keys that end in `?` are optional. */
export function record<K extends Keys>(keys: K): Shape<RecordOf<K>> {
  const names = Object.keys(keys);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ""), keys[name]])),
    required: names.filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

/** An object with any keys and values of one shape. */
export function byName<T>(items: Shape<T>): Shape<Record<string, T>> {
  return { type: "object", additionalProperties: items };
}

export function about<T>(description: string, shape: Shape<T>): Shape<T> {
  return { ...shape, description };
}

/** Gives the shape a name in help texts. */
export function named<T>(title: string, shape: Shape<T>): Shape<T> {
  return { ...shape, title };
}

export const errorCode: Shape<ErrorCode> = { type: "string" };

/** The JSON of an error. */
export const problem = named("Problem", record({ code: errorCode, message: text, "hint?": text }));

/** The line of JSON that a failed command writes to stderr. `more` are properties beside `error`. */
export function failureShape(more: Keys = {}): Shape {
  return record({ error: problem, ...more });
}
