/** JSON Schemas in a few words, for what commands print with `--json`. Plain data, made in no time. */

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

/** These keys and no others; those whose name ends in `?` may be missing. */
export function record(keys: Readonly<Record<string, Shape>>): Shape {
  const names = Object.keys(keys);
  return {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name.replace(/\?$/, ""), keys[name]])),
    required: names.filter((name) => !name.endsWith("?")),
    additionalProperties: false,
  };
}

/** Any keys, all with values of one kind. */
export function byName(values: Shape): Shape {
  return { type: "object", additionalProperties: values };
}

export function about(description: string, shape: Shape): Shape {
  return { ...shape, description };
}

/** Under a name of its own in help texts. */
export function named(title: string, shape: Shape): Shape {
  return { ...shape, title };
}

/** An error as everything says it. */
export const problem = named("Problem", record({ code: text, message: text, "hint?": text }));

/** What a command that fails writes on stderr, in one line; `more` is what it can tell all the same. */
export function failureShape(more: Readonly<Record<string, Shape>> = {}): Shape {
  return record({ error: problem, ...more });
}
