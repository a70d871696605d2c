/** Approvals, as rows: calls that wait for a person's decision, and decisions. */
import { dayMs } from "../../base/units.ts";
import { type Approval, type ApprovalFilter, type Asking, type Decision, newApproval } from "../approval.ts";
import type { ApprovalChange, ApprovalRows } from "../approvals.ts";
import { eventsOf } from "../audit/approval-events.ts";
import type { Decider } from "../audit/event.ts";
import { audited } from "../audit/heard.ts";
import { approvalKeptDays, maxDecidedApprovals } from "../limits.ts";
import { type OpenSum, requireRoom } from "../open-approvals.ts";
import { approvalsIn, columns } from "./approval-rows.ts";
import { addEvents } from "./audit.ts";
import { tellOnCommit } from "./changes.ts";
import type { Connections } from "./connections.ts";
import { jsonOf, type Querying, type Values } from "./querying.ts";

export class PostgresApprovals implements ApprovalRows {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async get(id: string): Promise<Approval | undefined> {
    return (await this.#where("id = $id", { id }))[0];
  }

  async argumentsOf(id: string): Promise<string | undefined> {
    const row = await this.#first<{ args: string | null }>("SELECT args FROM claudikins.approvals WHERE id = $id", {
      id,
    });
    return row?.args ?? undefined;
  }

  list(filter: ApprovalFilter = {}): Promise<Approval[]> {
    const { where, values } = conditions(filter);
    return this.#where(where, values);
  }

  decided(after: number, count: number): Promise<Approval[]> {
    const statement = `SELECT ${columns} FROM claudikins.approvals
      WHERE decided_at > $after AND (decided_by IS NOT NULL OR state = 'expired') ORDER BY decided_at DESC, place DESC LIMIT $count`;
    return this.#connections.each((querying) => approvalsIn(querying, statement, { after, count }));
  }

  async isWaiting(execution: string): Promise<boolean> {
    const open = `SELECT 1 AS one FROM claudikins.approvals WHERE ${ofExecution} AND state = 'open' LIMIT 1`;
    return (await this.#first(open, { execution })) !== undefined;
  }

  async openAmong(ids: readonly string[]): Promise<Set<string>> {
    const open =
      "SELECT id FROM claudikins.approvals WHERE state = 'open' AND id IN (SELECT json_array_elements_text($ids::text::json))";
    const rows = await this.#connections.each((querying) => querying.all<{ id: string }>(open, { ids: jsonOf(ids) }));
    return new Set(rows.map(({ id }) => id));
  }

  async ofCall(execution: string, call: number): Promise<Approval | undefined> {
    return (await this.#where("execution = $execution AND call = $call", { execution, call })).at(-1);
  }

  async sessionApproval(execution: string, server: string, tool: string): Promise<Approval | undefined> {
    const rows = await this.#where(
      "execution = $execution AND server = $server AND tool = $tool AND state = 'approved' AND scope = 'session'",
      { execution, server, tool },
    );
    return rows.at(-1);
  }

  unsaved(filter: Pick<ApprovalFilter, "config" | "execution"> = {}): Promise<Approval[]> {
    const { where, values } = conditions({ config: filter.config, execution: filter.execution, state: "open" });
    return this.#where(
      `${where} AND NOT EXISTS (SELECT FROM claudikins.executions
         WHERE id = approvals.execution AND state = 'open' AND program IS NOT NULL)`,
      values,
    );
  }

  async isDue(now: number): Promise<boolean> {
    const due = "SELECT 1 AS one FROM claudikins.approvals WHERE state = 'open' AND expires_at <= $now LIMIT 1";
    return (await this.#first(due, { now })) !== undefined;
  }

  async hasOld(now: number): Promise<boolean> {
    const old = "SELECT 1 AS one FROM claudikins.approvals WHERE state <> 'open' AND decided_at < $before LIMIT 1";
    return (await this.#first(old, { before: now - approvalKeptDays * dayMs })) !== undefined;
  }

  /** A decision and its line in the audit log are one transaction. */
  async change(change: ApprovalChange, by: Decider, now: number): Promise<Approval[]> {
    const eventsIn = (rows: readonly Approval[]) => (change.type === "note" ? [change.event] : eventsOf(rows));
    const changed = await this.#connections.transaction(async (querying) => {
      const rows = await changedRows(change, querying, now);
      await addEvents(querying, eventsIn(rows), by, Date.now());
      if (change.type !== "prune") await tellOnCommit(querying);
      return rows;
    });
    audited(eventsIn(changed), by, now);
    return changed;
  }

  /** The oldest first. */
  #where(where: string, values: Values): Promise<Approval[]> {
    const statement = `SELECT ${columns} FROM claudikins.approvals WHERE ${where} ORDER BY asked_at, place`;
    return this.#connections.each((querying) => approvalsIn(querying, statement, values));
  }

  #first<Found>(statement: string, values: Values): Promise<Found | undefined> {
    return this.#connections.each((querying) => querying.get<Found>(statement, values));
  }
}

/** The ids of the saved programs that an execution runs begin with its own, see `isOfExecution`. */
const ofExecution = "(execution = $execution OR starts_with(execution, $execution || '-'))";

function conditions({ state, config, execution }: ApprovalFilter): { where: string; values: Values } {
  const given: readonly [value: unknown, condition: string][] = [
    [state, "state = $state"],
    [config, "config IS NOT DISTINCT FROM $config"],
    [execution, ofExecution],
  ];
  const parts = given.flatMap(([value, condition]) => (value === undefined ? [] : [condition]));
  return { where: parts.join(" AND ") || "TRUE", values: { state, config, execution } };
}

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

/** Counts the open approvals of one config, and of all configs. */
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
