/** Whether a delivery that failed is begun again, and when. */
import { isServerDown, toClaudikinsError } from "../../base/errors.ts";
import { minuteMs } from "../../base/units.ts";
import type { Outcome } from "../../sandbox/contract.ts";
import type { AttemptEnd } from "../../store/deliveries.ts";
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";
import { findTool } from "../../tools/model.ts";
import { isRepeatable } from "../call.ts";

/** The milliseconds before each further attempt. After the last one, the delivery is dead. */
const pausesMs = [10_000, minuteMs, 5 * minuteMs, 30 * minuteMs, 120 * minuteMs] as const;

/** A person must act before another attempt can go better, or must look which calls of a program that is lost took effect. */
const untilPersonActs: readonly string[] = [
  "PROGRAM_NOT_FOUND",
  "INVALID_ARGUMENTS",
  "DEFINITION_CHANGED",
  "CONFIG_NOT_TRUSTED",
  "DOOR_NOT_FOUND",
  "POLICY_DENIED",
  "EXECUTION_LOST",
];

/** The end of an attempt whose program did not begin. */
export function endOfFailedStart(error: unknown, attempts: number, now: number): AttemptEnd {
  const { code, message } = toClaudikinsError(error);
  return failed(message, attempts, now, !untilPersonActs.includes(code));
}

/** The end of an attempt whose program has ended, in whatever process. Its receipt has all of its calls. */
export function endOfOutcome(
  outcome: Outcome,
  { attempts, now }: { attempts: number; now: number },
  catalog: Pick<ToolCatalog, "find">,
): AttemptEnd {
  if (outcome.ok) return { state: "done" };
  const { message, code = "" } = outcome.error;
  const mayHelp = !["check", "cancelled"].includes(outcome.reason) && !untilPersonActs.includes(code);
  return failed(message, attempts, now, mayHelp && hasChangedNothing(outcome, catalog));
}

/** The end of an attempt that failed. `attempts` counts it. */
export function failed(message: string, attempts: number, now: number, mayRepeat: boolean): AttemptEnd {
  const pauseMs = mayRepeat ? pausesMs[attempts - 1] : undefined;
  return pauseMs === undefined ? { state: "dead", message } : { state: "failed", message, nextAt: now + pauseMs };
}

/**
 * Whether every call that left may be made again. A call of another tool counts as one that has changed something, unless it is the only failure
 * and its server could not be used.
 */
function hasChangedNothing(outcome: Extract<Outcome, { ok: false }>, catalog: Pick<ToolCatalog, "find">): boolean {
  const { code } = outcome.error;
  // What its calls were is not known.
  if (code === "CALL_OUTCOME_UNKNOWN") return false;
  const { tools, failures } = outcome.receipt;
  const changing = Object.entries(tools).filter(([id]) => !isRepeatable(toolOf(id, catalog)));
  if (changing.length === 0) return true;
  const [only] = changing.length === 1 ? changing : [];
  const { calls = 0, failures: failed = 0 } = only?.[1] ?? {};
  return isServerDown(code) && failures === 1 && calls === 1 && failed === 1;
}

function toolOf(id: string, catalog: Pick<ToolCatalog, "find">) {
  const dot = id.indexOf(".");
  const server = catalog.find(id.slice(0, dot));
  return server && findTool(server, id.slice(dot + 1));
}
