/** The part of JSON Schema (2020-12) that the demo's tools use, and the matching TypeScript types. */

interface Described {
  readonly description?: string;
}

export interface StringSchema extends Described {
  readonly type: "string";
  readonly enum?: readonly string[];
  /** Only 1 is supported: the text must not be empty. */
  readonly minLength?: 1;
  readonly maxLength?: number;
}

export interface NumberSchema extends Described {
  readonly type: "integer" | "number";
  readonly minimum?: number;
  readonly maximum?: number;
}

export interface BooleanSchema extends Described {
  readonly type: "boolean";
}

export interface ArraySchema extends Described {
  readonly type: "array";
  readonly items: JsonSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
}

export interface ObjectSchema extends Described {
  readonly type: "object";
  readonly properties: Readonly<Record<string, JsonSchema>>;
  readonly required: readonly string[];
  readonly additionalProperties: false;
}

export type JsonSchema = StringSchema | NumberSchema | BooleanSchema | ArraySchema | ObjectSchema;

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
  const O extends readonly (keyof P)[],
>(properties: P, optional: O) {
  const required = Object.keys(properties).filter((key) => !optional.includes(key)) as Exclude<keyof P, O[number]>[];
  return { type: "object", properties, required, additionalProperties: false } as const;
}
