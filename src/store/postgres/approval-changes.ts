/** The changes of approvals, each as a part of the caller's transaction. */
import { dayMs } from "../../base/units.ts";
import { type Approval, type Asking, type Decision, newApproval } from "../approval.ts";
import type { ApprovalChange } from "../approvals.ts";
import { approvalKeptDays, maxDecidedApprovals } from "../limits.ts";
import { type OpenSum, requireRoom } from "../open-approvals.ts";
import { approvalsIn, columns } from "./approval-rows.ts";
import { jsonOf, type Querying } from "./querying.ts";

/** Makes the change. Returns the changed rows. */
export async function changedRows(change: ApprovalChange, querying: Querying, now: number): Promise<Approval[]> {
  switch (change.type) {
    case "ask":
      await prune(querying, now);
      return [await ask(change, querying)];
    case "decide":
      return decide(change.id, change.decision, querying, now);
    case "withdraw":
      return withdraw(change.ids, querying, now);
    case "expire":
      return expire(querying, now);
    case "adopt": {
      const { id, owner } = change;
      await querying.run("UPDATE claudikins.approvals SET owner = $owner WHERE id = $id", { id, owner });
      return [];
    }
    case "prune":
      await prune(querying, now);
      return [];
    case "remove":
      await querying.run(
        `DELETE FROM claudikins.approvals WHERE id IN (SELECT json_array_elements_text($ids::text::json)) AND state <> 'open'`,
        { ids: jsonOf(change.ids) },
      );
      return [];
    case "note":
      return [];
  }
}

async function ask({ asking, tool }: { asking: Asking; tool: string }, querying: Querying): Promise<Approval> {
  const { args, config } = asking;
  requireRoom(await openSums(config, querying), Buffer.byteLength(args), tool);
  const { changed, bound, ...row } = newApproval(asking);
  const [added] = await approvalsIn(
    querying,
    `INSERT INTO claudikins.approvals (id, config, door, person, person_name, execution, call, owner, line, code, server, tool, excerpt,
       args_chars, args_bytes, args, why, told, changed, bound, state, asked_at, expires_at)
     VALUES ($id, $config, $door, $person, $personName, $execution, $call, $owner, $line, $code, $server, $tool, $excerpt,
       $argsChars, $argsBytes, $args, $why, $told, $changed, $bound, 'open', $askedAt, $expiresAt)
     RETURNING ${columns}`,
    { ...row, args, changed: changed && JSON.stringify(changed), bound: JSON.stringify(bound) },
  );
  return added!;
}

/** Counts the open approvals of one config, and those of all configs. */
async function openSums(config: string | null, querying: Querying): Promise<{ ofConfig: OpenSum; ofAll: OpenSum }> {
  const sums =
    "SELECT count(*)::int AS rows, coalesce(sum(args_bytes), 0)::double precision AS bytes FROM claudikins.approvals WHERE state = 'open'";
  const ofAll = await querying.get<OpenSum>(sums);
  const ofConfig = await querying.get<OpenSum>(`${sums} AND config IS NOT DISTINCT FROM $config`, { config });
  return { ofConfig: ofConfig!, ofAll: ofAll! };
}

/** No decision needs the arguments any more. */
const closed = "args = NULL, decided_at = $now";

/** Two who decide about a row at once get its lock one after the other, and the second one finds that it is not open. */
async function decide(id: string, decision: Decision, querying: Querying, now: number): Promise<Approval[]> {
  const { state, by } = decision;
  const values = { state, scope: state === "approved" ? decision.scope : null, by, now };
  const set = `UPDATE claudikins.approvals SET state = $state, scope = $scope, decided_by = $by, ${closed}
    WHERE state = 'open' AND expires_at > $now`;
  const [decided] = await approvalsIn(querying, `${set} AND id = $id RETURNING ${columns}`, { ...values, id });
  if (!decided || decision.state === "approved") return decided ? [decided] : [];
  const { execution, server, tool } = decided;
  const ofTool = decision.all ? "" : "AND server = $server AND tool = $tool";
  const others = await approvalsIn(querying, `${set} AND execution = $execution ${ofTool} RETURNING ${columns}`, {
    ...values,
    execution,
    server,
    tool,
  });
  return [decided, ...others.sort(byAge)];
}

/** In the order of the ids. */
async function withdraw(ids: readonly string[], querying: Querying, now: number): Promise<Approval[]> {
  const rows = await approvalsIn(
    querying,
    `UPDATE claudikins.approvals SET state = 'withdrawn', ${closed}
     WHERE id IN (SELECT json_array_elements_text($ids::text::json)) AND state IN ('open', 'approved') RETURNING ${columns}`,
    { ids: jsonOf(ids), now },
  );
  return rows.sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id));
}

async function expire(querying: Querying, now: number): Promise<Approval[]> {
  const rows = await approvalsIn(
    querying,
    `UPDATE claudikins.approvals SET state = 'expired', ${closed} WHERE state = 'open' AND expires_at <= $now RETURNING ${columns}`,
    { now },
  );
  return rows.sort(byAge);
}

function byAge(a: Approval, b: Approval): number {
  return a.askedAt - b.askedAt;
}

/** Deletes rows that were decided long ago, and the oldest if a config has many. */
async function prune(querying: Querying, now: number): Promise<void> {
  await querying.run(
    `DELETE FROM claudikins.approvals WHERE state <> 'open' AND (decided_at < $before OR id IN (SELECT id FROM
       (SELECT id, row_number() OVER (PARTITION BY config ORDER BY decided_at DESC) AS number
        FROM claudikins.approvals WHERE state <> 'open') AS decided
     WHERE number > $kept))`,
    { before: now - approvalKeptDays * dayMs, kept: maxDecidedApprovals },
  );
}
