/** Checks arguments against a tool's JSON Schema, draft-07 or 2020-12, and describes the problems. */
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import { isObject, type JsonObject } from "../../base/json-object.ts";
import { argumentNames, requiredArguments, sameValue, typesIn } from "../../base/json-schema.ts";
import { didYouMean } from "../../base/near-names.ts";
import { maxCheckedDepth, maxSurroundingSchemas } from "../limits.ts";
import { shortened } from "../types/documentation.ts";

/** Problems of the arguments that an error names. */
const maxProblems = 5;

/** Characters of a problem. It has names and values of the server and the program. */
const maxProblemChars = 1_000;

interface Validators {
  /** Uses the schema without validating it. Takes about a millisecond to compile. */
  quick: ValidateFunction | undefined;
  /**
   * Uses the schema without required properties that have a default, and validates the schema. It is compiled when `quick` refuses
   * arguments.
   */
  sure?: ValidateFunction | undefined;
}

/** By schema. An invalid schema refuses nothing: the server has to check its arguments. */
const validators = new WeakMap<JsonObject, Promise<Validators>>();

/** The compiled ones. */
const compiled = new WeakMap<JsonObject, Validators>();

/** Whether the arguments are certainly valid. False if that is not known at once. */
export function isKnownValid(schema: JsonObject, args: JsonObject): boolean {
  return compiled.get(schema)?.quick?.(args) === true;
}

/** The problems. A missing argument with a default is not a problem, and an invalid schema finds none. Formats are not checked, because servers use them differently. */
export async function checkArguments(schema: JsonObject, args: JsonObject): Promise<string[]> {
  const both = await validatorsFor(schema);
  if (!both.quick || both.quick(args)) return [];
  const sure = await sureIn(both, schema);
  if (!sure || sure(args)) return [];
  const problems = (sure.errors ?? []).flatMap((error) => problemOf(error) ?? []);
  const texts = problems.map((problem) => shortened(problem, maxProblemChars));
  return [...new Set(texts)].slice(0, maxProblems);
}

/** Whether the schema is valid, so that it can refuse arguments. */
export async function isSound(schema: JsonObject): Promise<boolean> {
  const both = await validatorsFor(schema);
  return both.quick !== undefined && (await sureIn(both, schema)) !== undefined;
}

async function validatorsFor(schema: JsonObject): Promise<Validators> {
  let made = validators.get(schema);
  if (!made) {
    made = compile(schema, false).then((quick) => ({ quick }));
    validators.set(schema, made);
  }
  const both = await made;
  compiled.set(schema, both);
  return both;
}

async function sureIn(both: Validators, schema: JsonObject): Promise<ValidateFunction | undefined> {
  if (!("sure" in both)) both.sure = await compile(withoutDefaulted(schema), true);
  return both.sure;
}

async function compile(schema: JsonObject, isSure: boolean): Promise<ValidateFunction | undefined> {
  const { Ajv, Ajv2020 } = await loadAjv();
  const kinds = String(schema["$schema"] ?? "").includes("draft-07") ? [Ajv, Ajv2020] : [Ajv2020, Ajv];
  for (const Kind of kinds) {
    try {
      // Ids collide between servers, and an unknown dialect is an error.
      const { $schema: _dialect, $id: _id, ...plain } = closed(withoutOddTypes(schema) as JsonObject);
      if (isSure && !judgeOf(Kind).validateSchema(plain)) continue;
      return new Kind({ ...options, meta: namesMetaSchema(plain) }).compile(plain);
    } catch {
      // The schema may be of the other draft.
    }
  }
  return undefined;
}

const options = {
  strict: false,
  allErrors: true,
  verbose: true,
  // Without this, an argument called "constructor" would always exist.
  ownProperties: true,
  validateFormats: false,
  // Inlining could double the code with every level of references.
  inlineRefs: false,
  validateSchema: false,
  logger: false as const,
};

/** Whether a part may be defined by the schema of schemas. Half of the time of a compilation is for that one. */
function namesMetaSchema(schema: JsonObject): boolean {
  return JSON.stringify(schema).includes("json-schema.org");
}

type Kind = typeof Ajv | typeof Ajv2020;

const judges = new Map<Kind, Ajv>();

/** Validates the schemas of all tools. It compiles the schema of schemas once, which takes 35 ms. */
function judgeOf(Kind: Kind): Ajv {
  let judge = judges.get(Kind);
  if (!judge) {
    judge = new Kind(options);
    judges.set(Kind, judge);
  }
  return judge;
}

/** Loaded with the first call, because most commands make no call. */
async function loadAjv() {
  const [{ Ajv }, { Ajv2020 }] = await Promise.all([import("ajv"), import("ajv/dist/2020.js")]);
  return { Ajv, Ajv2020 };
}

function problemOf(error: ErrorObject): string | undefined {
  const { keyword, params, instancePath, parentSchema, data, message } = error;
  const place = instancePath.slice(1).replaceAll("/", ".").replaceAll("~1", "/").replaceAll("~0", "~");
  const within = place ? ` in "${place}"` : "";
  const subject = place ? `"${place}"` : "the arguments";
  switch (keyword) {
    case "required":
      return `the argument "${params["missingProperty"]}" is missing${within}`;
    case "additionalProperties": {
      const name = String(params["additionalProperty"]);
      // JSON omits undefined.
      if ((data as JsonObject)[name] === undefined) return undefined;
      const known = Object.keys((parentSchema as { properties?: object } | undefined)?.properties ?? {});
      const instead =
        didYouMean(name, known) ?? (known.length > 0 ? `It takes: ${known.slice(0, 20).join(", ")}` : undefined);
      return [`there is no argument "${name}"${within}.`, instead].filter(Boolean).join(" ");
    }
    case "enum": {
      const choices = (params["allowedValues"] as unknown[]).map((choice) => JSON.stringify(choice));
      const near = typeof data === "string" ? didYouMean(JSON.stringify(data), choices) : undefined;
      return [`"${place}" must be one of ${choices.slice(0, 12).join(", ")}, got ${shown(data)}.`, near]
        .filter(Boolean)
        .join(" ");
    }
    case "type":
      return `${subject} must be ${[params["type"]].flat().join(" or ")}, got ${shown(data)}`;
    // These keywords only summarise other errors.
    case "anyOf":
    case "oneOf":
    case "allOf":
    case "if":
      return `${subject} ${place ? "matches" : "match"} none of the allowed forms`;
    default:
      return `${subject} ${message ?? "do not match"}`;
  }
}

function shown(value: unknown): string {
  const json = JSON.stringify(value) ?? "nothing";
  return json.length > 60 ? `${json.slice(0, 57)}...` : json;
}

/** Keywords whose value has schemas by name. */
const named = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);
/** Keywords whose schemas describe the same value as the schema around them. */
const sameValueKeys = new Set(["allOf", "anyOf", "oneOf", "then", "else"]);
/** Keywords with values, or with schemas that would match more if fewer properties were required. */
const kept = new Set(["const", "enum", "default", "examples", "not", "if"]);

/** The schema restricted to the arguments that it names. The same object if it may accept others. */
function closed(schema: JsonObject): JsonObject {
  const names = argumentNames(schema);
  if (!names) return schema;
  const properties = Object.fromEntries([...names].map((name) => [name, {}]));
  return {
    ...schema,
    properties: { ...properties, ...(schema["properties"] as JsonObject) },
    additionalProperties: false,
  };
}

/** The schema without the types that are no constraint, which the validator would refuse. The same object if it has none. */
function withoutOddTypes(schema: unknown, depth = 0): unknown {
  const inner = (each: unknown) => withoutOddTypes(each, depth + 1);
  if (Array.isArray(schema)) return changed(schema, inner);
  if (!isObject(schema) || depth > maxCheckedDepth) return schema;
  const { type, ...rest } = schema;
  return changed(type === undefined || typesIn(schema) ? schema : rest, (value, key) => {
    if (kept.has(key)) return value;
    return named.has(key) && isObject(value) ? changed(value, inner) : inner(value);
  });
}

/** The schema in which properties with a default are not required. The same object if nothing changes. */
function withoutDefaulted(schema: JsonObject): JsonObject {
  return relaxed(schema, { root: schema, around: [], depth: 0 }) as JsonObject;
}

interface Context {
  root: JsonObject;
  /** Schemas around this one that describe the same value. */
  around: JsonObject[];
  depth: number;
}

function relaxed(schema: unknown, context: Context): unknown {
  if (Array.isArray(schema)) return changed(schema, (each) => relaxed(each, context));
  if (!isObject(schema) || context.depth > maxCheckedDepth) return schema;
  const { root, depth } = context;
  const own = [...sameValue(schema, root), ...context.around].slice(0, maxSurroundingSchemas);
  const within: Context = { root, around: [], depth: depth + 1 };
  return changed(schema, (value, key) => {
    if (kept.has(key)) return value;
    if (key === "required" && Array.isArray(value)) {
      const names = requiredArguments(schema, root, own);
      return value.every((name) => names.has(name)) ? value : [...names];
    }
    if (named.has(key) && isObject(value)) return changed(value, (each) => relaxed(each, within));
    return relaxed(value, sameValueKeys.has(key) ? { ...within, around: own } : within);
  });
}

/** The object with each value replaced; the same object if nothing changes. */
function changed<T extends JsonObject | unknown[]>(object: T, replace: (value: unknown, key: string) => unknown): T {
  const entries = Object.entries(object).map(([key, value]) => [key, replace(value, key)] as const);
  if (entries.every(([key, value]) => value === (object as JsonObject)[key])) return object;
  return (Array.isArray(object) ? entries.map(([, value]) => value) : Object.fromEntries(entries)) as T;
}
