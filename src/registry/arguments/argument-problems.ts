/** Checks the arguments of a call right before it is sent: quick checks here, slow ones in a worker thread. */
import type { JsonObject } from "../../json-object.ts";
import { runJobInTime } from "../work/run.ts";
import { checkArguments } from "./check-arguments.ts";
import { isQuick } from "./plain-schema.ts";

/** A check that takes longer is skipped, because the server checks its arguments too. */
const limitMs = 2_000;

/** The problems. Empty if the arguments are valid, the schema is invalid, or the check takes too long. */
export async function argumentProblems(schema: JsonObject, args: JsonObject): Promise<string[]> {
  if (isQuick(schema, args)) return checkArguments(schema, args);
  const job = { work: "arguments", schema: JSON.stringify(schema), args: JSON.stringify(args) } as const;
  return (await runJobInTime(job, limitMs)) ?? [];
}
