/** Approves a call that waits, and writes the rule with which its tool is never asked about again. */
import { ClaudikinsError } from "../../base/errors.ts";
import type { WhichConfig } from "../../config/config-file.ts";
import { digestOf } from "../../config/trust/marks.ts";
import type { Approvals } from "../../policy/approvals/approvals.ts";
import type { Approval, DecisionPlace } from "../../store/approval.ts";
import { toolId } from "../../tools/model.ts";
import { type PlannedChange, plannedPolicies } from "./change-policy.ts";

interface AlwaysOptions {
  which: WhichConfig;
  place: Extract<DecisionPlace, "page" | "command">;
  /** The user has confirmed the change, so the file need not be trusted. */
  isAnswered?: boolean;
}

/** A rule that is shown before it is written. */
export interface LastingRule extends PlannedChange {
  /** The same for the same change of the same text. */
  mark: string;
}

/**
 * The rule that `claudikins confirm TOOL never` writes. Throws POLICY_DENIED if the tool's confirmation comes from elsewhere, and what
 * `plannedPolicies` throws.
 */
export async function lastingRule(
  { server, tool }: Pick<Approval, "server" | "tool">,
  { which, place, isAnswered = false }: AlwaysOptions,
): Promise<LastingRule> {
  const planned = await plannedPolicies([{ server, tool, confirm: "never" }], which, { isAnswered, place });
  if (planned) return { ...planned, mark: digestOf([planned.file, planned.changes]) };
  const hint = "A rule with a condition, a label or a door asks. Change it in the config.";
  throw new ClaudikinsError("POLICY_DENIED", `No "confirm" of the config asks about ${toolId(server, tool)}`, { hint });
}

/**
 * Approves the call once, and then writes the rule. Nothing is done if the rule is not the one that was shown. Returns the decided rows;
 * without any, no rule is written. Throws POLICY_DENIED, and what `lastingRule` throws.
 */
export async function alwaysAllow(
  row: Approval,
  shown: string,
  approvals: Approvals,
  options: AlwaysOptions,
): Promise<Approval[]> {
  const rule = await lastingRule(row, options);
  if (rule.mark !== shown) {
    throw new ClaudikinsError("POLICY_DENIED", "The config has changed since the rule was shown", {
      hint: "Look at the rule again.",
    });
  }
  const decided = await approvals.decide(row.id, { state: "approved", scope: "once", by: options.place });
  if (decided.length > 0) await rule.save();
  return decided;
}
