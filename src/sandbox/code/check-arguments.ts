/** The arguments that stand in a call, against the schema of the function: names, presence, and literals. */
import type { CallExpression, Expression, ObjectExpression } from "acorn";
import { didYouMean, misspelling } from "../../near-names.ts";
import { meantKey } from "../advice/shapes.ts";
import type { KnownFunction } from "../contract.ts";
import type { Finding } from "./check.ts";
import { fittingText, likelyName, literalKind, literalText, wrongLiteral } from "./literals.ts";

type Schema = Record<string, unknown>;

export function checkArguments(call: CallExpression, known: KnownFunction, shown: string, code: string): Finding[] {
  const schema = plainObjectSchema(known.inputSchema);
  const [first] = call.arguments;
  if (!schema || first?.type === "SpreadElement") return [];
  const problem = (at: number, message: string, write?: string): Finding => {
    return {
      at,
      code: "INVALID_ARGUMENTS",
      message: `${shown}: ${message}`,
      ...(write === undefined ? {} : { write: `await ${shown}(${write})` }),
      signatures: known.signature ? [known.signature] : [],
    };
  };
  if (!first) return missing([], schema).map((name) => problem(call.end - 1, `the argument "${name}" is missing`));
  if (first.type !== "ObjectExpression") {
    const given = literalKind(first);
    if (given === undefined) return [];
    const write = asNamed(call, schema, code);
    return [problem(first.start, `takes one object with named arguments, got ${given}`, write)];
  }
  const { given, open } = givenArguments(first);
  const absent = open ? [] : missing([...given.keys()], schema);
  const unknown = [...given.keys()].filter((name) => isUnknown(name, schema));
  const meant = meantNames(unknown, absent, given, schema);
  const named = [...meant.values()];
  const isPlain =
    absent.every((name) => named.includes(name)) &&
    unknown.every((name) => isRename(given.get(name), meant.get(name), schema));
  const write = isPlain && unknown.length > 0 ? renamed(first, meant, code) : undefined;
  const findings = absent.map((name) => problem(first.start, `the argument "${name}" is missing`, write));
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

/** Names that are required and not described are meant as well. */
function isUnknown(name: string, { closed, properties, required }: ObjectSchema): boolean {
  return closed && properties[name] === undefined && !required.includes(name);
}

/** Of the arguments that are not known, the ones that were meant: the same in other words, else the only one missing. */
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

/** A page's number is no cursor, whatever it is called. */
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

/** `"ord_00042"` → `{ order_id: "ord_00042" }`, where there is only one argument that it can be. */
function asNamed(call: CallExpression, schema: ObjectSchema, code: string): string | undefined {
  const names = schema.required.length > 0 ? schema.required : Object.keys(schema.properties);
  const given = call.arguments;
  const parsed = jsonText(given);
  if (parsed !== undefined) return parsed;
  if (given.length > names.length || (given.length === 1 && names.length > 1)) return undefined;
  const areFitting = given.every((each, at) => {
    if (each.type === "SpreadElement") return false;
    const kind = literalKind(each);
    return kind === undefined ? given.length > 1 : wrongLiteral(each, schema.properties[names[at]!]) === undefined;
  });
  if (!areFitting) return undefined;
  return `{ ${given.map((each, at) => `${names[at]}: ${code.slice(each.start, each.end)}`).join(", ")} }`;
}

/** `'{"status": "paid"}'` as an object. */
function jsonText([first, second]: CallExpression["arguments"]): string | undefined {
  if (second || first?.type !== "Literal" || typeof first.value !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(first.value);
    return isSchema(value) ? literalText(value) : undefined;
  } catch {
    return undefined;
  }
}

function renamed(object: ObjectExpression, meant: ReadonlyMap<string, string>, code: string): string | undefined {
  if (object.end - object.start > 160) return undefined;
  let text = "";
  let done = object.start;
  for (const property of object.properties) {
    if (property.type !== "Property" || property.key.type !== "Identifier") continue;
    const { key, value } = property;
    const name = meant.get(property.key.name);
    if (name === undefined) continue;
    text += `${code.slice(done, key.start)}${name}: ${code.slice(value.start, value.end)}`;
    done = value.end;
  }
  return (text + code.slice(done, object.end)).replace(/\s+/g, " ");
}

interface ObjectSchema {
  properties: Record<string, unknown>;
  required: string[];
  /** No other names than these are meant. */
  closed: boolean;
}

/** Undefined where the schema is more than a list of properties: then nothing is certain. */
function plainObjectSchema(schema: unknown): ObjectSchema | undefined {
  if (!isSchema(schema) || !isSchema(schema["properties"])) return undefined;
  if (["anyOf", "oneOf", "allOf", "not", "if", "$ref", "patternProperties"].some((key) => key in schema))
    return undefined;
  const { properties, required, additionalProperties } = schema;
  return {
    properties: Object.assign(Object.create(null), properties),
    required: Array.isArray(required) ? required.filter((name) => typeof name === "string") : [],
    closed: additionalProperties === undefined || additionalProperties === false,
  };
}

function missing(given: string[], schema: ObjectSchema): string[] {
  return schema.required.filter((name) => name in schema.properties && !given.includes(name));
}

/** The arguments by name; `open` when there may be more. `undefined` counts as absent. */
function givenArguments(object: ObjectExpression): { given: Map<string, Expression>; open: boolean } {
  const given = new Map<string, Expression>();
  let open = false;
  for (const property of object.properties) {
    if (property.type === "SpreadElement" || property.computed) open = true;
    else {
      const name =
        property.key.type === "Identifier"
          ? property.key.name
          : property.key.type === "Literal"
            ? String(property.key.value)
            : undefined;
      const absent = property.value.type === "Identifier" && property.value.name === "undefined";
      if (name !== undefined && !absent) given.set(name, property.value);
    }
  }
  return { given, open };
}

function isSchema(value: unknown): value is Schema {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
