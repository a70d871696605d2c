/** The arguments that stand in a call, against the schema of the function: names, presence, and literals. */
import type { CallExpression, Expression, ObjectExpression } from "acorn";
import { didYouMean } from "../near-names.ts";
import type { Finding } from "./check.ts";
import type { KnownFunction } from "./contract.ts";

type Schema = Record<string, unknown>;

export function checkArguments(call: CallExpression, known: KnownFunction, shown: string): Finding[] {
  const schema = plainObjectSchema(known.inputSchema);
  const [first] = call.arguments;
  if (!schema || first?.type === "SpreadElement") return [];
  const problem = (at: number, message: string): Finding => {
    return {
      at,
      code: "INVALID_ARGUMENTS",
      message: `${shown}: ${message}`,
      signatures: known.signature ? [known.signature] : [],
    };
  };
  if (!first) return missing([], schema).map((name) => problem(call.end - 1, `the argument "${name}" is missing`));
  if (first.type !== "ObjectExpression") {
    const given = literalKind(first);
    return given === undefined ? [] : [problem(first.start, `takes one object with named arguments, got ${given}`)];
  }
  const { given, open } = givenArguments(first);
  const absent = open ? [] : missing([...given.keys()], schema);
  const findings = absent.map((name) => problem(first.start, `the argument "${name}" is missing`));
  for (const [name, value] of given) {
    const property = schema.properties[name];
    if (property === undefined) {
      if (schema.closed) {
        const names = Object.keys(schema.properties);
        const instead = didYouMean(name, names) ?? `It takes: ${names.slice(0, 20).join(", ") || "none"}`;
        findings.push(problem(value.start, `there is no argument "${name}". ${instead}`));
      }
    } else {
      const wrong = wrongLiteral(value, property);
      if (wrong) findings.push(problem(value.start, `"${name}" ${wrong}`));
    }
  }
  return findings;
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

/** What is wrong with a value that stands in the code, undefined when nothing is, or nothing certain. */
function wrongLiteral(value: Expression, schema: unknown): string | undefined {
  const kind = literalKind(value);
  if (kind === undefined || !isSchema(schema)) return undefined;
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
  const { type } = schema;
  const types = Array.isArray(type) ? type : typeof type === "string" ? [type] : [];
  if (types.length === 0 || ["anyOf", "oneOf", "allOf", "$ref", "nullable"].some((key) => key in schema))
    return undefined;
  const fits = types.some((one) => one === kind || (one === "integer" && kind === "number"));
  return fits ? undefined : `must be ${types.join(" or ")}, got ${kind}`;
}

/** The JSON type of an expression that is a literal of some sort. */
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

function isSchema(value: unknown): value is Schema {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}
