/** Literals in the code, compared with the JSON Schema of the argument that they are given for. */
import type { Expression } from "acorn";
import { isObject } from "../../json-object.ts";
import { didYouMean } from "../../near-names.ts";

type Schema = Record<string, unknown>;

/** The mistake in a literal, or undefined if it fits or nothing is certain. */
export function wrongLiteral(value: Expression, schema: unknown): string | undefined {
  const kind = literalKind(value);
  if (kind === undefined || !isObject(schema)) return undefined;
  const constant = value.type === "Literal" ? value.value : undefined;
  const choices = schema["enum"];
  if (Array.isArray(choices) && value.type === "Literal" && kind !== "null" && !choices.includes(constant)) {
    const near = typeof constant === "string" ? didYouMean(constant, choices.map(String)) : undefined;
    const listed = choices
      .slice(0, 12)
      .map((choice) => JSON.stringify(choice))
      .join(", ");
    return [`must be one of ${listed}, got ${JSON.stringify(constant)}.`, near].filter(Boolean).join(" ");
  }
  const types = typesOf(schema);
  if (types.length === 0) return undefined;
  const fits = types.some((type) => type === kind || (type === "integer" && kind === "number"));
  return fits ? undefined : `must be ${types.join(" or ")}, got ${kind}`;
}

/** The literal as it should be written: `5` for `"5"`, `["a", "b"]` for `"a, b"`. */
export function fittingText(value: Expression, schema: unknown): string | undefined {
  if (!isObject(schema) || value.type !== "Literal") return undefined;
  const types = typesOf(schema);
  const given = value.value;
  if (types.includes("array") && typeof given === "string") {
    const items = isObject(schema["items"]) ? typesOf(schema["items"]) : [];
    if (items.length > 0 && !items.includes("string")) return undefined;
    return `[${given
      .split(/\s*,\s*/)
      .filter(Boolean)
      .map((each) => JSON.stringify(each))
      .join(", ")}]`;
  }
  if (types.includes("string") && typeof given === "number") return JSON.stringify(String(given));
  if (typeof given !== "string") return undefined;
  if ((types.includes("number") || types.includes("integer")) && /^-?\d+(?:\.\d+)?$/.test(given)) return given;
  return types.includes("boolean") && /^(?:true|false)$/.test(given) ? given : undefined;
}

/** Names of arguments in other interfaces, each with the names that the same argument may have here. */
const synonyms: [RegExp, RegExp][] = [
  [
    /^(?:page_?size|per_?page|max(?:_?(?:results?|items))?|count|size|first|top|take|n)$/i,
    /^(?:limit|max_?results|page_?size|per_?page|count)$/i,
  ],
  [
    /^(?:page(?:_?(?:number|token))?|offset|skip|start|after|next(?:_?(?:cursor|page|token))?|token)$/i,
    /^(?:cursor|page|offset|page_?token|after)$/i,
  ],
  [/^(?:q|search|term|text|keywords?|name|filter|pattern)$/i, /^(?:query|q|search|pattern)$/i],
  [
    /^(?:since|start(?:_?date)?|(?:date_?from|from_?date)|begin|after|min_?date)$/i,
    /^(?:from|since|start(?:_?date)?)$/i,
  ],
  [/^(?:until|end(?:_?date)?|(?:date_?to|to_?date)|before|max_?date)$/i, /^(?:to|until|end(?:_?date)?)$/i],
  [/^(?:message|content|text|comment|note)$/i, /^(?:body|message|content|text)$/i],
  [/^(?:recipients?|email|address|mail)$/i, /^(?:to|recipients?|email)$/i],
  [/^(?:title|topic|headline)$/i, /^(?:subject|title)$/i],
  [/^(?:file(?:_?(?:name|path))?|dir(?:ectory)?|folder)$/i, /^(?:path|file(?:_?(?:name|path))?)$/i],
];

/** The argument among `names` that another interface calls `name`. */
export function likelyName(name: string, names: readonly string[]): string | undefined {
  for (const [given, meant] of synonyms) {
    const found = given.test(name) ? names.find((each) => meant.test(each)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

function typesOf(schema: Schema): string[] {
  const { type } = schema;
  if (["anyOf", "oneOf", "allOf", "$ref", "nullable"].some((key) => key in schema)) return [];
  return Array.isArray(type) ? type : typeof type === "string" ? [type] : [];
}

/** The JSON type of a literal, a template, an array or an object; undefined for other expressions. */
export function literalKind(value: Expression): string | undefined {
  switch (value.type) {
    case "Literal":
      if (value.value === null) return value.raw === "null" ? "null" : undefined;
      return ["string", "number", "boolean"].includes(typeof value.value) ? typeof value.value : undefined;
    case "TemplateLiteral":
      return "string";
    case "ArrayExpression":
      return "array";
    case "ObjectExpression":
      return "object";
    default:
      return undefined;
  }
}

/** A value as code: `{ status: "open" }`, without quotes around keys that need none. */
export function literalText(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) return `[${value.map(literalText).join(", ")}]`;
  const entries = Object.entries(value).map(([key, each]) => {
    return `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key)}: ${literalText(each)}`;
  });
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
