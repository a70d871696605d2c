/** Short functions that build the JSON Schemas of `--json` output. */

export type Shape = Readonly<Record<string, unknown>>;

export const text: Shape = { type: "string" };
export const number: Shape = { type: "number" };
export const yesOrNo: Shape = { type: "boolean" };
export const nothing: Shape = { type: "null" };
export const anything: Shape = {};
export const time: Shape = { type: "number", description: "Milliseconds since 1970" };

export function list(items: Shape): Shape {
  return { type: "array", items };
}

export const texts = list(text);

export function oneOf(...values: readonly string[]): Shape {
  return { enum: values };
}

export function either(...anyOf: Shape[]): Shape {
  return { anyOf };
}

/** An object with exactly these keys. Keys that end in `?` are optional. */
export function record(keys: Readonly<Record<string, Shape>>): Shape {
  const names = Object.keys(keys);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ""), keys[name]])),
    required: names.filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

/** An object with any keys and values of one shape. */
export function byName(values: Shape): Shape {
  return { type: "object", additionalProperties: values };
}

export function about(description: string, shape: Shape): Shape {
  return { ...shape, description };
}

/** Gives the shape a name in help texts. */
export function named(title: string, shape: Shape): Shape {
  return { ...shape, title };
}

/** The JSON of an error. */
export const problem = named("Problem", record({ code: text, message: text, "hint?": text }));

/** The line of JSON that a failed command writes to stderr. `more` are properties beside `error`. */
export function failureShape(more: Readonly<Record<string, Shape>> = {}): Shape {
  return record({ error: problem, ...more });
}
