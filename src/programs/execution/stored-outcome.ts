/** The stored form of an outcome. A large value stays text: it is parsed when it is read. */
import { eventLoopTurn } from "../../base/event-loop.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import { largeSuccess } from "../../sandbox/main-thread/outcome-recorder.ts";
import type { StoredExecution } from "../../store/executions.ts";

/** Log lines that are written before other events are handled. */
const storedLinesAtOnce = 2_000;

/** JSON of an outcome without its value, and of its value. Other events are handled between the parts. */
export async function outcomeJson(outcome: Outcome): Promise<{ outcome: string; value: string | undefined }> {
  const { logs, display } = outcome;
  const logParts: string[] = [];
  for (let from = 0; from < logs.length; from += storedLinesAtOnce) {
    logParts.push(JSON.stringify(logs.slice(from, from + storedLinesAtOnce)).slice(1, -1));
    if (logs.length > storedLinesAtOnce) await eventLoopTurn();
  }
  const displayParts: string[] = [];
  for (const each of display) displayParts.push(JSON.stringify(each));
  const { receipt, dryRun } = outcome;
  const rest = outcome.ok
    ? { ok: true, receipt, dryRun }
    : { ok: false, reason: outcome.reason, error: outcome.error, receipt, dryRun };
  const lists = `"logs":[${logParts.join(",")}],"display":[${displayParts.join(",")}]}`;
  const value = outcome.ok ? (outcome.json ?? JSON.stringify(outcome.value)) : undefined;
  return { outcome: `${JSON.stringify(rest).slice(0, -1)},${lists}`, value };
}

/** The outcome of its stored form. */
export function outcomeOf({ outcome, value }: { outcome: string; value: string | undefined }): Outcome {
  const parsed = JSON.parse(outcome) as Outcome;
  return parsed.ok && value !== undefined ? largeSuccess(value, parsed) : parsed;
}

type UnrunExecution = Pick<StoredExecution, "id" | "startedAt" | "changedAt">;

/** The outcome of an execution that was cancelled while no process ran it. */
export function cancelledOutcome(execution: UnrunExecution): Outcome {
  const error = { name: "Error", message: "The execution was cancelled", stack: "" };
  return { ok: false, reason: "cancelled", error, ...unrun(execution) };
}

/** The outcome of an execution that no process can continue. */
export function lostOutcome(execution: UnrunExecution, why: string): Outcome {
  const error = {
    name: "Error",
    code: "EXECUTION_LOST",
    message: `The execution could not be continued: ${why}`,
    hint: "Run the program again, after looking which of its calls took effect.",
    stack: "",
  };
  return { ok: false, reason: "crashed", error, ...unrun(execution) };
}

function unrun({ id, startedAt, changedAt }: UnrunExecution): Pick<Outcome, "logs" | "display" | "receipt"> {
  const receipt = { id, durationMs: changedAt - startedAt, calls: 0, failures: 0, tools: {}, charsIn: 0, charsOut: 0 };
  return { logs: [], display: [], receipt };
}
