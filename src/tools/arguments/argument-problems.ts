/** Checks the arguments of a call right before it is sent: quick checks here, slow ones in a worker thread. */
import type { JsonObject } from "../../base/json-object.ts";
import { runJobInTime } from "../work/run.ts";
import { checkArguments, isKnownValid, isSound } from "./check-arguments.ts";

/** A check that takes longer is skipped, because the server checks its arguments too. */
const argumentCheckMs = 2_000;

/** Values of a schema that can be checked within a few milliseconds. Checks with more run in a worker. */
const maxQuickSchemaValues = 1_000;

/** Characters of the arguments for such a quick check. */
const maxQuickArgumentChars = 65_536;

/** The product of the number of values in the schema and in the arguments, for such a quick check. */
const maxQuickComparisons = 100_000;

/** Whether the arguments are certainly valid. If not, call `argumentProblems`, which costs 4 µs more for its promises. */
export function areValid(schema: JsonObject, args: JsonObject, json: string): boolean {
  return isQuickFor(schema, json) && isKnownValid(schema, args);
}

/** The problems. Empty if the arguments are valid, the schema is invalid, or the check takes too long. `json` are the arguments as JSON. */
export async function argumentProblems(
  schema: JsonObject,
  args: JsonObject,
  json = JSON.stringify(args),
): Promise<string[]> {
  if (isQuickFor(schema, json)) return checkArguments(schema, args);
  const job = { work: "arguments", schema: JSON.stringify(schema), args: json } as const;
  return (await runJobInTime(job, argumentCheckMs)) ?? [];
}

/** Whether the tool refuses wrong arguments. It does not if its schema is invalid, or takes too long to compile. */
export async function refusesArguments(schema: JsonObject): Promise<boolean> {
  if (Number.isFinite(schemaSize(schema))) return isSound(schema);
  return (await runJobInTime({ work: "soundness", schema: JSON.stringify(schema) }, argumentCheckMs)) ?? false;
}

function isQuickFor(schema: JsonObject, json: string): boolean {
  if (json.length > maxQuickArgumentChars) return false;
  const size = schemaSize(schema);
  // A text has fewer values than characters, which need no counting.
  return size * json.length <= maxQuickComparisons || size * valuesIn(json) <= maxQuickComparisons;
}

/** Keywords that may cost more than the sizes suggest: regular expressions, comparisons of pairs, and references. A property may have such a name. */
const costly =
  /"(?:pattern|\$ref|\$dynamicRef|\$recursiveRef)":"|"(?:patternProperties|uniqueItems|unevaluated(?:Properties|Items))":/;

const sizes = new WeakMap<object, number>();

/** The number of values in the schema; infinite if it has a costly keyword or is too large. */
export function schemaSize(schema: object): number {
  let size = sizes.get(schema);
  if (size === undefined) {
    const json = JSON.stringify(schema);
    const values = valuesIn(json);
    size = values > maxQuickSchemaValues || costly.test(json) ? Number.POSITIVE_INFINITY : values;
    sizes.set(schema, size);
  }
  return size;
}

/** About the number of values in a JSON text. Commas in strings count too. */
function valuesIn(json: string): number {
  return json.match(/[,{[]/g)?.length ?? 0;
}
