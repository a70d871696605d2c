/** The part of JSON Schema (2020-12) that the demo's tools use, and the matching TypeScript types. */

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
