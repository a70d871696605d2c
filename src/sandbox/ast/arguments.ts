/** Compares the arguments that are written in a call with the schema of its tool. */
import type { CallExpression, Expression, Node, ObjectExpression } from "acorn";
import { isObject } from "../../json-object.ts";
import { didYouMean, misspelling } from "../../near-names.ts";
import type { KnownFunction } from "../contract.ts";
import { fittingText, likelyName, literalKind, literalText, wrongLiteral } from "./literals.ts";
import { keyName } from "./nodes.ts";
import { meantKey } from "./tool-names.ts";

export interface ArgumentProblem {
  /** Offset in the code. */
  at: number;
  message: string;
  /** The corrected call, if it is certain. */
  write?: string;
}

/** Certain mistakes in the arguments of a call: wrong and missing names, literals of the wrong type. */
export function checkArguments(
  call: CallExpression,
  known: KnownFunction,
  shown: string,
  code: string,
): ArgumentProblem[] {
  const schema = plainObjectSchema(known.inputSchema);
  const [first] = call.arguments;
  if (!schema || first?.type === "SpreadElement") return [];
  const problem = (at: number, message: string, write?: string): ArgumentProblem => {
    return {
      at,
      message: `${shown}: ${message}`,
      ...(write === undefined ? {} : { write: `await ${shown}(${write})` }),
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

/** A name that is required but not described is known, too. */
function isUnknown(name: string, { closed, properties, required }: ObjectSchema): boolean {
  return closed && properties[name] === undefined && !required.includes(name);
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

/** Arguments as JSON text, `'{"status": "paid"}'`, as an object. */
function jsonText([first, second]: CallExpression["arguments"]): string | undefined {
  if (second || first?.type !== "Literal" || typeof first.value !== "string") return undefined;
  try {
    const value: unknown = JSON.parse(first.value);
    return isObject(value) ? literalText(value) : undefined;
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
  /** The schema accepts no other names. */
  closed: boolean;
}

/** Undefined if the schema is more than a list of properties, so that nothing is certain. */
function plainObjectSchema(schema: unknown): ObjectSchema | undefined {
  if (!isObject(schema) || !isObject(schema["properties"])) return undefined;
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

/** The arguments by name. `open` if there may be more. An argument that is `undefined` counts as absent. */
function givenArguments(object: ObjectExpression): { given: Map<string, Expression>; open: boolean } {
  const given = new Map<string, Expression>();
  let open = false;
  for (const property of object.properties) {
    if (property.type === "SpreadElement" || property.computed) open = true;
    else {
      const name = keyName(property);
      const absent = property.value.type === "Identifier" && property.value.name === "undefined";
      if (name !== undefined && !absent) given.set(name, property.value);
    }
  }
  return { given, open };
}

const maxArguments = 160;

/**
 * `await demo.list_orders({ status: "paid" })`: a call of the tool with the arguments of `call`, or with `…` if they
 * are long or do not fit.
 */
export function correctedCall(call: CallExpression, callee: string, tool: KnownFunction, code: string): string {
  const [first] = call.arguments;
  const last = call.arguments.at(-1);
  const text = first && last ? code.slice(first.start, last.end) : "";
  const fits = text.length <= maxArguments && checkArguments(call, tool, callee, code).length === 0;
  return `await ${callee}(${fits ? text.replace(/\s+/g, " ") : "…"})`;
}

/** The innermost call whose callee contains the name: `name(…)` or `name.member(…)`. */
export function callOf(name: Node, calls: readonly CallExpression[]): CallExpression | undefined {
  return calls
    .filter(({ callee }) => callee.start <= name.start && name.end <= callee.end)
    .sort((a, b) => a.end - a.start - (b.end - b.start))[0];
}
