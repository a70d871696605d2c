/** The outcomes of calls in the words that people read and filter by. */
import type { CallOutcome } from "../../store/call-log.ts";

export const outcomeWords = {
  ok: "ok",
  tool_error: "failed",
  failed: "failed",
  denied: "denied",
  cancelled: "cancelled",
} as const satisfies Record<CallOutcome, string>;

export const shownOutcomes = ["ok", "failed", "denied", "cancelled"] as const;
type ShownOutcome = (typeof shownOutcomes)[number];

/** The outcomes that a word stands for. */
export function outcomesOf(word: ShownOutcome): CallOutcome[] {
  return (Object.keys(outcomeWords) as CallOutcome[]).filter((each) => outcomeWords[each] === word);
}
