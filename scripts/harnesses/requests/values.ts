/** Makes values that fit a schema, in a way that the same schema always gets the same values. */
import type { OpenDocument, Place } from "./document.ts";
import { textLike } from "./pattern-text.ts";
import { fitsType, type Merged, merged } from "./schemas.ts";

/** Levels below which only required properties are made. */
const maxFullLevels = 4;

/** Levels below which nothing is made. A schema that needs more refers to itself. */
const maxLevels = 14;

/** Properties of one object that are made besides the required ones. */
const maxOptional = 40;

/** A text that every place of a request has to encode. */
const oddText = "a b&c=d/é+%,;#?";

export interface Making {
  document: OpenDocument;
  /** All properties, or only the required ones. */
  isFull: boolean;
  /** Text without characters that headers cannot have. */
  isPlain?: boolean | undefined;
  side: "request" | "tool";
  /** The places in the value about which the schema says nothing but a type, as JSON pointers. */
  open: Set<string>;
}

/** Thrown for a schema that no value is found for. */
export class NoValue extends Error {}

export function valueFor(making: Making, place: Place, pointer = "", level = 0): unknown {
  if (level > maxLevels) throw new NoValue("it is nested too deeply");
  const schema = chosen(making, merged(making.document, place));
  const { keywords, types, properties, items, isNullable } = schema;
  if (keywords["const"] !== undefined) return keywords["const"];
  // Some documents list numbers for a text, or the values of a list beside its items.
  const values = Array.isArray(keywords["enum"])
    ? keywords["enum"].filter((each) => each !== null && fitsType(types, each))
    : [];
  if (values.length > 0) return values[0];
  const type = types[0] ?? (properties.size > 0 || schema.additional ? "object" : items ? "array" : undefined);
  const saysNothing = Object.keys(keywords).every((key) => silent.has(key));
  if (
    type === undefined ||
    (type !== "object" && type !== "array" && saysNothing) ||
    (type === "object" && properties.size === 0) ||
    (type === "array" && !items)
  )
    making.open.add(pointer);
  switch (type) {
    case "object":
      return objectFor(making, schema, pointer, level);
    case "array":
      return listFor(making, schema, pointer, level);
    case "integer":
    case "number":
      return numberFor(schema, type);
    case "boolean":
      return true;
    case "string":
    case "file":
      return textFor(making, schema);
    default:
      return isNullable && types.length === 0 && keywords["enum"] !== undefined ? null : textFor(making, schema);
  }
}

/** Keywords that do not limit a value. */
const silent = new Set(["description", "title", "deprecated", "examples", "default", "minLength", "maxLength"]);

/** The first option that a value can be made for. */
function chosen(making: Making, schema: Merged, depth = 0): Merged {
  const [first, ...others] = schema.choices;
  if (!first || depth > 8) return schema;
  const options = first.map((each) => merged(making.document, each));
  const isReal = ({ types, isNullable }: Merged) => types.length > 0 || !isNullable;
  const option = options.find(isReal) ?? options[0];
  if (!option) return chosen(making, { ...schema, choices: others }, depth + 1);
  const together: Merged = {
    keywords: { ...schema.keywords, ...option.keywords },
    properties: new Map([...schema.properties, ...option.properties]),
    required: new Set([...schema.required, ...option.required]),
    choices: [...others, ...option.choices],
    items: option.items ?? schema.items,
    additional: option.additional ?? schema.additional,
    types: option.types.length > 0 ? option.types : schema.types,
    isNullable: schema.isNullable,
  };
  return chosen(making, together, depth + 1);
}

function objectFor(making: Making, schema: Merged, pointer: string, level: number): unknown {
  const made: Record<string, unknown> = Object.create(null);
  // The schema of a tool says so if it leaves out properties.
  if (making.side === "tool" && schema.additional === true) making.open.add(pointer);
  let optional = 0;
  for (const [name, place] of schema.properties) {
    const isRequired = schema.required.has(name);
    if (!isRequired && (!making.isFull || level >= maxFullLevels || optional++ >= maxOptional)) continue;
    if (making.side === "request" && merged(making.document, place).keywords["readOnly"] === true) continue;
    try {
      made[name] = valueFor(making, place, `${pointer}/${name}`, level + 1);
    } catch (error) {
      if (isRequired || !(error instanceof NoValue)) throw error;
    }
  }
  for (const name of schema.required) if (!schema.properties.has(name)) made[name] = oddText;
  const { minProperties, maxProperties = Number.POSITIVE_INFINITY } = schema.keywords;
  for (const name of Object.keys(made))
    if (Object.keys(made).length > Number(maxProperties) && !schema.required.has(name)) delete made[name];
  if (schema.additional === false && Object.keys(made).length < Number(minProperties ?? 0))
    throw new NoValue("it needs more properties");
  if (schema.additional === false) return { ...made };
  const more = typeof schema.additional === "object" ? schema.additional : { value: { type: "object" }, file: "" };
  for (let count = 1; Object.keys(made).length < Number(minProperties); count++)
    made[`more${count}`] = valueFor({ ...making, isFull: true }, more, `${pointer}/more${count}`, level + 1);
  return { ...made };
}

function listFor(making: Making, schema: Merged, pointer: string, level: number): unknown[] {
  const { minItems, maxItems, uniqueItems } = schema.keywords;
  const least = typeof minItems === "number" ? minItems : 0;
  if (!schema.items || (level >= maxFullLevels && least === 0)) return [];
  const count = Math.min(
    Math.max(least, making.isFull && uniqueItems !== true ? 2 : 1),
    typeof maxItems === "number" ? maxItems : 50,
  );
  if (count > 1 && uniqueItems === true) throw new NoValue("it needs different values");
  return Array.from({ length: count }, (_, at) => valueFor(making, schema.items!, `${pointer}/${at}`, level + 1));
}

function numberFor({ keywords }: Merged, type: string): number {
  const bound = (key: string, exclusive: string, step: number) => {
    const [plain, strict] = [keywords[key], keywords[exclusive]];
    if (typeof strict === "number") return strict + step;
    return typeof plain === "number" ? plain + (strict === true ? step : 0) : undefined;
  };
  const least = bound("minimum", "exclusiveMinimum", type === "integer" ? 1 : 0.5);
  const most = bound("maximum", "exclusiveMaximum", type === "integer" ? -1 : -0.5);
  const step = typeof keywords["multipleOf"] === "number" ? keywords["multipleOf"] : undefined;
  let value = type === "integer" ? 7 : 7.5;
  if (least !== undefined) value = Math.max(value, type === "integer" ? Math.ceil(least) : least);
  if (most !== undefined) value = Math.min(value, type === "integer" ? Math.floor(most) : most);
  if (step !== undefined && step > 0) {
    value = Math.ceil(value / step) * step;
    if (most !== undefined && value > most) value -= step;
  }
  if (least !== undefined && value < least) throw new NoValue("its bounds leave no number");
  return value;
}

const formats: Record<string, string> = {
  date: "2026-11-29",
  "date-time": "2026-11-29T10:20:30Z",
  time: "10:20:30Z",
  duration: "PT1H",
  uuid: "3f2b1a9c-5d4e-4f6a-8b7c-9d0e1f2a3b4c",
  email: "ada+1@example.com",
  uri: "https://example.com/a?b=c&d=%20",
  url: "https://example.com/a?b=c&d=%20",
  hostname: "host.example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  byte: "YWI/Yw==",
};

function textFor(making: Making, { keywords }: Merged): string {
  const { pattern, format, minLength, maxLength, example, examples } = keywords;
  const least = typeof minLength === "number" ? minLength : 0;
  const most = typeof maxLength === "number" ? maxLength : Number.POSITIVE_INFINITY;
  if (typeof pattern === "string") {
    const text = textLike(pattern, least, most, [example, ...(Array.isArray(examples) ? examples : [])]);
    if (text === undefined) throw new NoValue(`no text is found for ${pattern}`);
    return text;
  }
  const known = typeof format === "string" && Object.hasOwn(formats, format) ? formats[format]! : undefined;
  const text = known ?? (making.isPlain ? "plain-text 1" : oddText);
  if (text.length > most) return text.slice(0, most).replaceAll(" ", "-");
  return text.length < least ? text + "x".repeat(least - text.length) : text;
}
