/** Checks the arguments of a call right before it is sent: quick checks here, slow ones in a worker thread. */
import type { JsonObject } from "../../base/json-object.ts";
import { argumentCheckMs, maxQuickArgumentChars, maxQuickComparisons, maxQuickSchemaValues } from "../limits.ts";
import { runJobInTime } from "../work/run.ts";
import { checkArguments } from "./check-arguments.ts";

/** The problems. Empty if the arguments are valid, the schema is invalid, or the check takes too long. `json` are the arguments as JSON. */
export async function argumentProblems(
  schema: JsonObject,
  args: JsonObject,
  json = JSON.stringify(args),
): Promise<string[]> {
  const isQuick = json.length <= maxQuickArgumentChars && schemaSize(schema) * valuesIn(json) <= maxQuickComparisons;
  if (isQuick) return checkArguments(schema, args);
  const job = { work: "arguments", schema: JSON.stringify(schema), args: json } as const;
  return (await runJobInTime(job, argumentCheckMs)) ?? [];
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
