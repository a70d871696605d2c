/** Checks the arguments of a call just before it leaves. */
import type { JsonObject } from "../../json-object.ts";
import { runJobInTime } from "../work/run.ts";
import { checkArguments } from "./check-arguments.ts";
import { isQuick } from "./plain-schema.ts";

/** A check that takes longer is given up: the server checks its arguments itself. */
const limitMs = 2_000;

/** Empty when the arguments fit, when the schema is invalid, and when the check takes too long. */
export async function argumentProblems(schema: JsonObject, args: JsonObject): Promise<string[]> {
  if (isQuick(schema, args)) return checkArguments(schema, args);
  const job = { work: "arguments", schema: JSON.stringify(schema), args: JSON.stringify(args) } as const;
  return (await runJobInTime(job, limitMs)) ?? [];
}
