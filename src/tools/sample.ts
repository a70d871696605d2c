/** Makes a plausible value for a JSON Schema, for example calls. The same schema gives the same value. */
import { isObject, type JsonObject } from "../base/json-object.ts";
import { requiredArguments, resolveReference, typesIn } from "../base/json-schema.ts";
import { listedValues } from "./types/one-line.ts";
import { keyText } from "./types/printer.ts";

/** Levels of an example, as many as of written types, so that it matches its type. */
const maxSampleDepth = 6;

export interface Sample {
  /** The required arguments as source text: `{ order_id: "ord_00042" }`; empty if nothing is required. */
  text: string;
  /** Whether it has values that the types do not show, such as the form of an id. */
  isTelling: boolean;
}

/** `placeholder` replaces texts whose value is unknown. Without it, such a text is the name of its property. */
export function sampleArguments(schema: JsonObject, placeholder?: string): Sample {
  const telling = { count: 0 };
  const value = sampleOf(schema, { root: schema, depth: 0, name: "value", telling, placeholder });
  const text = isObject(value) && Object.keys(value).length > 0 ? source(value) : "";
  return { text, isTelling: telling.count > 0 };
}

interface SampleContext {
  root: unknown;
  depth: number;
  /** How many values are from the schema's examples, formats or descriptions. */
  telling: { count: number };
  placeholder: string | undefined;
  /** The name of the property. It is also the sample for strings. */
  name: string;
}

function sampleOf(schema: unknown, outer: SampleContext): unknown {
  if (!isObject(schema)) return outer.name;
  const context = { ...outer, depth: outer.depth + 1 };
  const deep = outer.depth >= maxSampleDepth;
  if (typeof schema["$ref"] === "string") {
    return deep ? {} : sampleOf(resolveReference(schema["$ref"], outer.root), context);
  }
  const { examples, enum: values } = schema;
  if ("const" in schema) return schema["const"];
  if (Array.isArray(examples) && examples.length > 0) {
    outer.telling.count += 1;
    return examples[0];
  }
  if (schema["default"] !== undefined) return schema["default"];
  if (Array.isArray(values) && values.length > 0) return values[0];
  const parts = combinedParts(schema, outer.root);
  if ([schema, ...parts].some((part) => isObject(part["properties"]))) {
    return deep ? {} : objectSample([schema, ...parts], context);
  }
  const [part] = parts;
  if (part) return deep ? {} : sampleOf(part, context);
  const types = typesIn(schema);
  switch (types?.find((one) => one !== "null") ?? types?.[0]) {
    case "string":
      return stringSample(schema, outer);
    case "integer":
    case "number":
      return numberSample(schema);
    case "boolean":
      return true;
    case "null":
      return null;
    case "array":
      return deep ? [] : [sampleOf(schema["items"], { ...context, name: "value" })];
    default:
      return {};
  }
}

/** Schemas that the value must match too: all parts of `allOf`, and the first option of each choice that is not null. */
function combinedParts(schema: JsonObject, root: unknown): JsonObject[] {
  const { allOf, anyOf, oneOf } = schema;
  const choices = [anyOf, oneOf].map((options) =>
    Array.isArray(options) ? options.find((option) => isObject(option) && option["type"] !== "null") : undefined,
  );
  return [...(Array.isArray(allOf) ? allOf : []), ...choices]
    .map((part) => (isObject(part) && typeof part["$ref"] === "string" ? resolveReference(part["$ref"], root) : part))
    .filter(isObject);
}

function objectSample(parts: JsonObject[], context: SampleContext): JsonObject {
  const sample: JsonObject = Object.create(null);
  for (const name of new Set(parts.flatMap((part) => [...requiredArguments(part, context.root, parts)]))) {
    const described = parts.map((part) => part["properties"]).filter(isObject);
    const property = described.find((properties) => Object.hasOwn(properties, name))?.[name];
    sample[name] = sampleOf(property, { ...context, name });
  }
  return sample;
}

function numberSample({ minimum, maximum, exclusiveMinimum }: JsonObject): number {
  if (typeof minimum === "number") return minimum;
  if (typeof exclusiveMinimum === "number") return exclusiveMinimum + 1;
  return typeof maximum === "number" ? Math.min(1, maximum) : 1;
}

const formats: Record<string, string> = {
  date: "2025-01-31",
  "date-time": "2025-01-31T12:00:00Z",
  uri: "https://example.com",
  url: "https://example.com",
  email: "someone@example.com",
};

/** A value that fits the format, the description or the name. Otherwise the name itself. */
function stringSample(schema: JsonObject, { name, telling, placeholder }: SampleContext): string {
  const { format, description } = schema;
  const known =
    (typeof format === "string" && Object.hasOwn(formats, format) ? formats[format] : undefined) ??
    exampleIn(description) ??
    (isDate(name, description) ? formats["date"] : undefined) ??
    (/url|uri/i.test(name) ? formats["uri"] : undefined);
  if (known !== undefined) telling.count += 1;
  return known ?? listedValues(schema)[0] ?? placeholder ?? name;
}

/** The value in `such as ord_00042` or `e.g. "main"`. A bare word after it counts only if it does not look like prose. */
function exampleIn(description: unknown): string | undefined {
  if (typeof description !== "string") return undefined;
  const [, rest] = /\b(?:such as|e\.g\.,?|for example,?|example:)\s+(.{1,100})/isu.exec(description) ?? [];
  if (rest === undefined) return undefined;
  const [, , quoted] = /^(["'`])([^"'`\n]{1,60})\1/u.exec(rest) ?? [];
  if (quoted !== undefined) return quoted;
  const [bare = ""] = /^[\w./:@+#-]{2,60}/u.exec(rest) ?? [];
  const value = bare.replace(/[.:]+$/, "");
  return /\d|[a-z][_/@#-][a-z]/iu.test(value) ? value : undefined;
}

/** Whether the property is a date. For `from` and `to`, only the description tells. */
function isDate(name: string, description: unknown): boolean {
  if (/(?:^|[^a-z])date(?:$|[^a-z])|[a-z]Date(?:$|[^a-z])/.test(name)) return true;
  const isBound = /^(?:from|to|since|until|after|before|start|end)(?:$|[^a-z])/i.test(name);
  return isBound && typeof description === "string" && /\bYYYY-MM-DD\b|\bdates?\b|\bdays?\b/i.test(description);
}

/** A value as source text, as a person would write it. */
function source(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(source).join(", ")}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? "undefined";
  // `__proto__: value` in an object literal would set its prototype.
  const textOf = (key: string) => (key === "__proto__" ? '["__proto__"]' : keyText(key));
  const members = Object.entries(value).map(([key, child]) => `${textOf(key)}: ${source(child)}`);
  return members.length > 0 ? `{ ${members.join(", ")} }` : "{}";
}
