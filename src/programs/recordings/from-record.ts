/** What an execution did, from its record. */

import type { Read } from "../../policy/flow/session-reads.ts";
import type { Seed } from "../../sandbox/replay/contract.ts";
import type { ExecutionRecord, RecordedCall } from "../trace/record.ts";
import { valueOfText } from "./replayable.ts";
import type { Taken, TakenCall } from "./tape.ts";

/** The random values of an execution that was not run for a recording are not known. */
const anySeed: Seed = [1, 2, 3, 4];

/** Undefined, with the reason, if the record does not have everything. */
export function takenFrom(record: ExecutionRecord | undefined): { taken: Taken } | { problem: string } {
  if (!record?.hasContents) return { problem: "its calls were not recorded with their contents" };
  if (record.dryRun) return { problem: "it was a dry run" };
  if (record.moreCalls > 0) return { problem: "it made too many calls" };
  const calls = record.timeline.map(takenCall);
  if (calls.some((call) => !call)) return { problem: "its record has only the beginnings of some results" };
  const labels = (record.labels ?? []) as Read[];
  const known = calls.filter((call) => call !== undefined);
  return { taken: { startsAt: Math.round(record.at + record.beforeMs), seed: anySeed, calls: known, labels } };
}

function takenCall(call: RecordedCall): TakenCall | undefined {
  const { server, tool, outcome, arguments: args, result, code, message = "", endMs } = call;
  if (!args?.isWhole) return undefined;
  const made = { server, tool, args: args.text === "" ? "{}" : args.text, ms: endMs };
  if (outcome === "cancelled") return made;
  if (outcome === "failed") {
    return { ...made, answer: { error: { name: "ToolError", message, ...(code === undefined ? {} : { code }) } } };
  }
  return result?.isWhole ? { ...made, answer: { value: valueOfText(result.text) } } : undefined;
}
