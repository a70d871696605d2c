/**
 * Forms that servers ask people to fill in (MCP elicitation). Servers send more shapes than the protocol lists: references, choices
 * without a type, optional types. Agents get a form as it is, and a plain form if they refuse that one.
 */
import { ElicitRequestFormParamsSchema, ElicitRequestSchema, ElicitResultSchema } from "@modelcontextprotocol/core";
import { z } from "zod";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { sameValue, schemasOf, typesIn } from "../../base/json-schema.ts";

const formSchema = z.looseObject({ properties: z.custom<JsonObject>(isObject).optional() });

/** The request `elicitation/create` with a form. */
export const formRequestSchema = ElicitRequestSchema.extend({
  params: ElicitRequestFormParamsSchema.extend({ requestedSchema: formSchema }),
});

/** The answer to a form, whose fields may have any values. */
export const formAnswerSchema = ElicitResultSchema.extend({
  content: z.preprocess((value) => value ?? undefined, z.custom<JsonObject>(isObject).optional()),
});

export type FormAnswer = z.infer<typeof ElicitResultSchema>;

/** The form with fields as the protocol lists them, as far as they can be written so. Other fields stay as they are. */
export function plainForm(form: JsonObject): JsonObject {
  const { $defs, definitions, properties, ...rest } = form;
  const fields = isObject(properties) ? Object.entries(properties) : [];
  const plain = fields.map(([name, field]) => [name, isObject(field) ? plainField(field, form) : field]);
  const filled = { ...rest, type: "object", properties: Object.fromEntries(plain) };
  const refers = JSON.stringify(plain).includes('"$ref"');
  return refers ? { ...filled, ...($defs ? { $defs } : {}), ...(definitions ? { definitions } : {}) } : filled;
}

/** The formats of texts that the protocol has. */
const formats: readonly unknown[] = ["email", "uri", "date", "date-time"];
/** Keywords that say more about a value of a plain type. */
const bounds = ["minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems"];

function plainField(field: JsonObject, root: JsonObject): JsonObject {
  const whole = merged(field, root);
  const { title, description, format, default: usual } = whole;
  const about = {
    ...(typeof title === "string" ? { title } : {}),
    ...(typeof description === "string" ? { description } : {}),
    ...Object.fromEntries(bounds.flatMap((key) => (typeof whole[key] === "number" ? [[key, whole[key]]] : []))),
    ...(formats.includes(format) ? { format } : {}),
  };
  const withDefault = (value: unknown) => (usual === undefined || usual === null ? {} : { default: value });
  const choices = choicesOf(whole, root);
  if (choices) return { type: "string", ...about, ...choices, ...withDefault(usual) };
  const [type, ...others] = typesIn(whole)?.filter((each) => each !== "null") ?? [];
  if (type === undefined || type === "object" || others.length > 0) return whole;
  if (type !== "array") return { type, ...about, ...withDefault(usual) };
  const items = isObject(whole["items"]) ? merged(whole["items"], root) : {};
  const { oneOf: anyOf, ...listed } = choicesOf(items, root) ?? items;
  const plainItems = anyOf === undefined ? { type: "string", ...listed } : { anyOf };
  return { type, ...about, items: plainItems, ...withDefault([usual].flat()) };
}

/** A schema with the parts that describe the same value: its reference, `allOf`, and the only option that is not null. */
function merged(schema: JsonObject, root: JsonObject): JsonObject {
  const parts = sameValue(schema, root).flatMap((part) => [part, ...(onlyOption(part, root) ?? [])]);
  if (parts.length === 1) return schema;
  // What stands nearer to the field counts.
  const { $ref: _, allOf: __, ...whole } = Object.assign({}, ...parts.toReversed()) as JsonObject;
  for (const key of ["anyOf", "oneOf"]) if (optionsIn(whole[key]).length === 1) delete whole[key];
  return whole;
}

function onlyOption({ anyOf, oneOf }: JsonObject, root: JsonObject): JsonObject[] | undefined {
  const options = optionsIn(anyOf ?? oneOf);
  return options.length === 1 ? sameValue(options[0]!, root) : undefined;
}

function optionsIn(schemas: unknown): JsonObject[] {
  return schemasOf(schemas).filter((option) => isObject(option) && option["type"] !== "null") as JsonObject[];
}

/** The texts to choose from, if the schema has no other values. */
function choicesOf(schema: JsonObject, root: JsonObject): JsonObject | undefined {
  const { enum: values, enumNames, oneOf, anyOf } = schema;
  if ("const" in schema && typeof schema["const"] === "string") return { enum: [schema["const"]] };
  if (Array.isArray(values)) {
    const texts = values.filter((value) => value !== null);
    if (texts.length === 0 || !texts.every((value) => typeof value === "string")) return undefined;
    return { enum: texts, ...(Array.isArray(enumNames) ? { enumNames } : {}) };
  }
  const options = optionsIn(oneOf ?? anyOf).map((option) => merged(option, root));
  if (options.length === 0 || !options.every((option) => typeof option["const"] === "string")) return undefined;
  return { oneOf: options.map(({ const: value, title }) => ({ const: value, title: title ?? value })) };
}
