/** The arguments that stand in a call, against the schema of the function: names, presence, and literals. */
import type { CallExpression, Expression, ObjectExpression } from "acorn";
import { didYouMean } from "../near-names.ts";
import type { Finding } from "./check.ts";
import type { KnownFunction } from "./contract.ts";
import { fittingText, likelyName, literalKind, wrongLiteral } from "./literals.ts";

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
  const unknown = schema.closed ? [...given.keys()].filter((name) => schema.properties[name] === undefined) : [];
  // One that is missing and one that is not known are most likely the same.
  const pair = absent.length === 1 && unknown.length === 1;
  const findings = absent.map((name) =>
    problem(
      first.start,
      `the argument "${name}" is missing`,
      pair ? renamed(first, unknown[0]!, name, code) : undefined,
    ),
  );
  for (const [name, value] of given) {
    const property = schema.properties[name];
    if (property === undefined) {
      if (schema.closed) {
        const names = Object.keys(schema.properties);
        const near = pair ? `It is called ${absent[0]}` : (didYouMean(name, names) ?? likely(name, schema.properties));
        const takes = `It takes: ${names.slice(0, 20).join(", ") || "none"}`;
        findings.push(problem(value.start, `there is no argument "${name}". ${near ?? takes}`));
      }
    } else {
      const wrong = wrongLiteral(value, property);
      const better = wrong && fittingText(value, property);
      const text = better === undefined ? "" : `. Write ${name}: ${better}`;
      if (wrong) findings.push(problem(value.start, `"${name}" ${wrong}${text}`));
    }
  }
  return findings;
}

/** For names that mean the same elsewhere: `page_size` for `limit`. */
function likely(name: string, properties: Record<string, unknown>): string | undefined {
  const names = Object.keys(properties);
  const meant = likelyName(name, names);
  if (meant === undefined) return undefined;
  const { description } = (properties[meant] ?? {}) as { description?: unknown };
  const said = typeof description === "string" && description.length <= 160 ? ` (${description})` : "";
  return `Perhaps ${meant}${said}. It takes: ${names.slice(0, 20).join(", ")}`;
}

/** `"ord_00042"` → `{ order_id: "ord_00042" }`, where there is only one argument that it can be. */
function asNamed(call: CallExpression, schema: ObjectSchema, code: string): string | undefined {
  const names = schema.required.length > 0 ? schema.required : Object.keys(schema.properties);
  const given = call.arguments;
  if (given.length > names.length || (given.length === 1 && names.length > 1)) return undefined;
  const fits = given.every((each, at) => {
    if (each.type === "SpreadElement") return false;
    const kind = literalKind(each);
    return kind === undefined ? given.length > 1 : wrongLiteral(each, schema.properties[names[at]!]) === undefined;
  });
  if (!fits) return undefined;
  return `{ ${given.map((each, at) => `${names[at]}: ${code.slice(each.start, each.end)}`).join(", ")} }`;
}

function renamed(object: ObjectExpression, from: string, to: string, code: string): string | undefined {
  const text = code.slice(object.start, object.end);
  if (text.length > 160) return undefined;
  const property = object.properties.find(
    (each) => each.type === "Property" && each.key.type === "Identifier" && each.key.name === from,
  );
  if (property?.type !== "Property") return undefined;
  const { key, value } = property;
  return `${code.slice(object.start, key.start)}${to}: ${code.slice(value.start, object.end)}`.replace(/\s+/g, " ");
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
