/** The state of an execution: how far it is, or how it ended. Commands, JSON documents and the page take it and its words from here. */
import { about, exactly, oneOf, record, text, texts, time, type ValueOf, yesOrNo } from "../../base/json-shape.ts";
import { failureReason, type Summary } from "../trace/record.ts";
import { outcomeWord } from "../trace/record-text.ts";
import type { Progress } from "./running-execution.ts";

/** The keys of the state in JSON documents. */
export const stateKeys = {
  state: about(
    "asleep: it waits for a timer. stopped: its process has ended, and it continues when it is asked for, or on another replica if there is one. " +
      "lost: its process has ended, and it cannot be continued",
    oneOf("running", "asleep", "stopped", "lost", "ended"),
  ),
  "until?": about("When it wakes up", time),
  approvals: about("Ids of the approvals that it waits for", texts),
  "why?": about("Why it is lost", text),
  "ok?": about("Whether an ended one succeeded", yesOrNo),
  "reason?": about("Why an ended one failed", failureReason),
  "dryRun?": about("Whether it is a dry run", exactly(true)),
};
const stateShape = record(stateKeys);
export type ExecutionState = ValueOf<typeof stateShape>;

/** The approvals that it waits for are not known yet. */
export function stateOf(progress: Progress): ExecutionState {
  const approvals: string[] = [];
  switch (progress.state) {
    case "ended":
      return { state: "ended", approvals, ok: progress.ok, reason: progress.reason };
    case "asleep":
      return { state: "asleep", approvals, until: progress.until };
    case "lost":
      return { state: "lost", approvals, why: progress.why };
    default:
      return { state: progress.state, approvals };
  }
}

export function stateOfRecord({ ok, reason, dryRun }: Pick<Summary, "ok" | "reason" | "dryRun">): ExecutionState {
  return { state: "ended", approvals: [], ok, reason, dryRun };
}

/** The state in a few words, such as `waits for approval 7k2m`. */
export function stateText({ state, until, approvals, why, ok = false, reason, dryRun }: ExecutionState): string {
  if (state === "ended") return outcomeWord({ ok, reason, dryRun });
  if (state === "lost") return `lost: ${why}`;
  if (approvals.length > 0) return `waits for approval ${approvals.join(", ")}`;
  if (state === "stopped") return "stopped: it continues when it is asked for";
  return until === undefined ? "running" : `sleeps until ${new Date(until).toLocaleString()}`;
}

export type StateKind = "running" | "waiting" | "good" | "bad";

/** The state as a colour shows it. */
export function kindOf({ state, approvals, ok }: ExecutionState): StateKind {
  if (state === "ended") return ok ? "good" : "bad";
  if (state === "lost") return "bad";
  return state === "running" && approvals.length === 0 ? "running" : "waiting";
}
