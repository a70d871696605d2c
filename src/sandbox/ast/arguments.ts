/** Compares the literal arguments of a call with the schema of its tool. */
import { type CallExpression, type Expression, type ObjectExpression, parseExpressionAt } from "acorn";
import { isExactText } from "../../base/exact-json.ts";
import { isObject, type JsonObject, parsedJson, stringsIn } from "../../base/json-object.ts";
import { argumentNames, isPlainObject, typesIn } from "../../base/json-schema.ts";
import { didYouMean, misspelling } from "../../base/near-names.ts";
import type { KnownFunction } from "../contract.ts";
import { keyName } from "./nodes.ts";
import { meantKey } from "./tool-names.ts";

/** Longer arguments are not written again in a suggestion. */
const maxCorrectedArgumentsChars = 160;

export interface ArgumentMistake {
  /** Offset in the code. */
  at: number;
  message: string;
  /** The corrected call, if it is certain. */
  write?: string;
}

/** Certain mistakes in the arguments of a call: wrong and missing names, literals of the wrong type. */
export function argumentMistakes(
  call: CallExpression,
  known: KnownFunction,
  shown: string,
  code: string,
): ArgumentMistake[] {
  const schema = plainObjectSchema(known.inputSchema);
  const [first] = call.arguments;
  if (!schema || first?.type === "SpreadElement") return [];
  const problem = (at: number, message: string, write?: string): ArgumentMistake => ({
    at,
    message: `${shown}: ${message}`,
    ...(write === undefined ? {} : { write: `await ${shown}(${write})` }),
  });
  if (first && first.type !== "ObjectExpression") {
    const kind = literalKind(first);
    const message = `takes one object with named arguments, got ${kind}`;
    return kind === undefined ? [] : [problem(first.start, message, asNamed(call, known, code))];
  }
  const { given, open } = givenArguments(first);
  const absent = open ? [] : schema.required.filter((name) => name in schema.properties && !given.has(name));
  const unknown = given
    .keys()
    .filter((name) => isUnknown(name, schema))
    .toArray();
  const meant = meantNames(unknown, absent, given, schema);
  const isClear =
    first !== undefined &&
    unknown.length > 0 &&
    absent.every((name) => meant.values().some((each) => each === name)) &&
    unknown.every((name) => isRename(given.get(name), meant.get(name), schema));
  const write = isClear ? renamed(first, meant, schema, code) : undefined;
  const at = first?.start ?? call.end - 1;
  const findings = absent.map((name) => problem(at, `the argument "${name}" is missing`, write));
  for (const [name, value] of given) {
    const property = schema.properties[name];
    if (property === undefined) {
      if (!isUnknown(name, schema)) continue;
      const instead = insteadOf(name, meant.get(name), absent, schema);
      findings.push(problem(value.start, `there is no argument "${name}". ${instead}`, write));
    } else {
      const wrong = wrongLiteral(value, property);
      const better = wrong && fittingText(value, property);
      const text = better === undefined ? "" : `. Write ${name}: ${better}`;
      if (wrong) findings.push(problem(value.start, `"${name}" ${wrong}${text}`));
    }
  }
  return findings;
}

function isUnknown(name: string, { names }: ObjectSchema): boolean {
  return names?.has(name) === false;
}

/** The argument that each unknown name probably means: a similar name or a synonym, else the only missing argument. */
function meantNames(
  unknown: string[],
  absent: string[],
  given: ReadonlyMap<string, Expression>,
  schema: ObjectSchema,
): Map<string, string> {
  const meant = new Map<string, string>();
  const open = Object.keys(schema.properties).filter((name) => !given.has(name));
  for (const name of unknown) {
    const free = open.filter((each) => ![...meant.values()].includes(each));
    const missed = absent.filter((each) => free.includes(each));
    const [only] = missed.length === 1 && unknown.length === 1 ? missed : [];
    const found = meantKey(name, missed) ?? likelyName(name, missed) ?? meantKey(name, free) ?? likelyName(name, free);
    const guess = found ?? (fits(given.get(name), only, schema) ? only : undefined);
    if (guess !== undefined) meant.set(name, guess);
  }
  return meant;
}

/** Whether the value fits under the other name as well. A page number never fits a cursor. */
function isRename(value: Expression | undefined, name: string | undefined, schema: ObjectSchema): boolean {
  return name !== undefined && !/cursor|token/i.test(name) && fits(value, name, schema);
}

function fits(value: Expression | undefined, name: string | undefined, schema: ObjectSchema): boolean {
  return value !== undefined && name !== undefined && wrongLiteral(value, schema.properties[name]) === undefined;
}

function insteadOf(name: string, meant: string | undefined, absent: string[], { properties }: ObjectSchema): string {
  const names = Object.keys(properties);
  const takes = `It takes: ${names.slice(0, 20).join(", ") || "none"}`;
  if (meant === undefined) return didYouMean(name, names) ?? takes;
  if (absent.includes(meant)) return `It is called ${meant}`;
  if (misspelling(name, [meant]) !== undefined) return `Did you mean ${meant}?`;
  const { description } = (properties[meant] ?? {}) as { description?: unknown };
  const said = typeof description === "string" && description.length <= 160 ? ` (${description})` : "";
  return `Perhaps ${meant}${said}. ${takes}`;
}

/** Positional arguments as an object: `"ord_00042"` → `{ order_id: "ord_00042" }`, if only one reading fits. */
function asNamed(call: CallExpression, known: KnownFunction, code: string): string | undefined {
  const schema = plainObjectSchema(known.inputSchema);
  if (!schema) return undefined;
  const names = schema.required.length > 0 ? schema.required : Object.keys(schema.properties);
  const given = call.arguments;
  const parsed = jsonText(given);
  if (parsed !== undefined) return isCorrect(parsed, call, known) ? parsed : undefined;
  if (given.length > names.length || (given.length === 1 && names.length > 1)) return undefined;
  const areFitting = given.every((each, at) => {
    if (each.type === "SpreadElement") return false;
    const kind = literalKind(each);
    return kind === undefined ? given.length > 1 : wrongLiteral(each, schema.properties[names[at]!]) === undefined;
  });
  if (!areFitting) return undefined;
  return `{ ${given.map((each, at) => `${names[at]}: ${code.slice(each.start, each.end)}`).join(", ")} }`;
}

/** Arguments as JSON text, `'{"status": "paid"}'`, as an object. */
function jsonText([first, second]: CallExpression["arguments"]): string | undefined {
  if (second || first?.type !== "Literal" || typeof first.value !== "string") return undefined;
  const value = parsedJson(first.value);
  return isObject(value) ? literalText(value) : undefined;
}

/** Whether the arguments are a call without certain mistakes: a correction must not repeat one. */
function isCorrect(args: string, call: CallExpression, known: KnownFunction): boolean {
  const object = parseExpressionAt(args, 0, { ecmaVersion: "latest" });
  return argumentMistakes({ ...call, arguments: [object] }, known, "", args).length === 0;
}

/** The object with the right names and values. Undefined if the right value of an argument is not certain. */
function renamed(
  object: ObjectExpression,
  meant: ReadonlyMap<string, string>,
  { properties }: ObjectSchema,
  code: string,
): string | undefined {
  if (object.end - object.start > 160) return undefined;
  const parts: string[] = [];
  for (const each of object.properties) {
    const written = each.type === "Property" ? keyName(each) : undefined;
    if (written === undefined || each.type !== "Property") {
      parts.push(code.slice(each.start, each.end));
      continue;
    }
    const isSame = each.key.type !== "Identifier" || !meant.has(each.key.name);
    const name = (isSame ? undefined : meant.get(written)) ?? written;
    const value = rightText(each.value, properties[name], code);
    if (value === undefined) return undefined;
    const isWritten = isSame && value === code.slice(each.value.start, each.value.end);
    parts.push(isWritten ? code.slice(each.start, each.end) : `${literalKey(name)}: ${value}`);
  }
  return `{ ${parts.join(", ")} }`.replace(/\s+/g, " ");
}

/** The value as it is written, or corrected. Undefined if it is wrong and no correction is certain. */
function rightText(value: Expression, schema: unknown, code: string): string | undefined {
  if (wrongLiteral(value, schema) === undefined) return code.slice(value.start, value.end);
  const choices = isObject(schema) && Array.isArray(schema["enum"]) ? stringsIn(schema["enum"]) : [];
  const given = value.type === "Literal" && typeof value.value === "string" ? value.value : undefined;
  const near = given === undefined ? undefined : misspelling(given, choices);
  return near === undefined ? fittingText(value, schema) : JSON.stringify(near);
}

interface ObjectSchema {
  properties: Record<string, unknown>;
  required: string[];
  /** Undefined if the tool may take other names. */
  names: ReadonlySet<string> | undefined;
}

/** Undefined if the schema is more than a list of properties, so that nothing is certain. */
function plainObjectSchema(schema: unknown): ObjectSchema | undefined {
  if (!isPlainObject(schema)) return undefined;
  return {
    properties: Object.assign(Object.create(null), schema.properties),
    required: stringsIn(schema["required"]),
    names: argumentNames(schema),
  };
}

/** The arguments by name. `open` if there may be more. An argument that is `undefined` counts as absent. */
function givenArguments(object: ObjectExpression | undefined): { given: Map<string, Expression>; open: boolean } {
  const given = new Map<string, Expression>();
  let open = false;
  for (const property of object?.properties ?? []) {
    if (property.type === "SpreadElement" || property.computed) open = true;
    else {
      const name = keyName(property);
      const absent = property.value.type === "Identifier" && property.value.name === "undefined";
      if (name !== undefined && !absent) given.set(name, property.value);
    }
  }
  return { given, open };
}

/**
 * `await demo.list_orders({ status: "paid" })`: a call of the tool with the arguments of `call`, or with `…` if they
 * are long or do not fit.
 */
export function correctedCall(call: CallExpression, callee: string, tool: KnownFunction, code: string): string {
  const [first] = call.arguments;
  const last = call.arguments.at(-1);
  const text = first && last ? code.slice(first.start, last.end) : "";
  const fits = text.length <= maxCorrectedArgumentsChars && argumentMistakes(call, tool, callee, code).length === 0;
  return `await ${callee}(${fits ? text.replace(/\s+/g, " ") : "…"})`;
}

/** The mistake in a literal, or undefined if it fits or nothing is certain. */
function wrongLiteral(value: Expression, schema: unknown): string | undefined {
  const kind = literalKind(value);
  if (kind === undefined || !isObject(schema)) return undefined;
  // A number that JavaScript cannot hold becomes a text, see `rewriteLongNumbers`.
  const { raw = "", value: written = undefined } = value.type === "Literal" ? value : {};
  const constant = typeof written === "number" && isExactText(raw) ? raw : written;
  const choices = schema["enum"];
  if (Array.isArray(choices) && value.type === "Literal" && kind !== "null" && !choices.includes(constant)) {
    const near = typeof constant === "string" ? didYouMean(constant, choices.map(String)) : undefined;
    const listed = choices
      .slice(0, 12)
      .map((choice) => JSON.stringify(choice))
      .join(", ");
    return [`must be one of ${listed}, got ${JSON.stringify(constant)}.`, near].filter(Boolean).join(" ");
  }
  const types = plainTypes(schema);
  if (types.length === 0) return undefined;
  const isNumber = kind === "number" || isExactText(constant);
  const isText = kind === "string" || isExactText(constant);
  const fits = types.some(
    (type) => type === kind || (type === "string" && isText) || (isNumber && (type === "integer" || type === "number")),
  );
  return fits ? undefined : `must be ${types.join(" or ")}, got ${kind}`;
}

/** The literal as it should be written: `5` for `"5"`, `["a", "b"]` for `"a, b"`. */
function fittingText(value: Expression, schema: unknown): string | undefined {
  if (!isObject(schema) || value.type !== "Literal") return undefined;
  const types = plainTypes(schema);
  const given = value.value;
  if (types.includes("array") && typeof given === "string") {
    const items = isObject(schema["items"]) ? plainTypes(schema["items"]) : [];
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
function likelyName(name: string, names: readonly string[]): string | undefined {
  for (const [given, meant] of synonyms) {
    const found = given.test(name) ? names.find((each) => meant.test(each)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The types of a schema, if no other keyword of the schema restricts them. */
function plainTypes(schema: JsonObject): string[] {
  const hasParts = ["anyOf", "oneOf", "allOf", "$ref", "nullable"].some((key) => key in schema);
  return hasParts ? [] : (typesIn(schema) ?? []);
}

/** The JSON type of a literal, a template, an array or an object; undefined for other expressions. */
function literalKind(value: Expression): string | undefined {
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

function literalKey(key: string): string {
  return /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(key);
}

/** A value as code: `{ status: "open" }`, without quotes around keys that need none. */
export function literalText(value: unknown): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) return `[${value.map(literalText).join(", ")}]`;
  const entries = Object.entries(value).map(([key, each]) => {
    return `${literalKey(key)}: ${literalText(each)}`;
  });
  return entries.length === 0 ? "{}" : `{ ${entries.join(", ")} }`;
}
