/** Approvals, as rows: calls that wait for a person's decision, and decisions. */
import { dayMs } from "../../base/units.ts";
import type { Approval, ApprovalFilter } from "../approval.ts";
import type { ApprovalChange, ApprovalRows } from "../approvals.ts";
import { eventsOf } from "../audit/approval-events.ts";
import type { Decider } from "../audit/event.ts";
import { audited } from "../audit/heard.ts";
import { approvalKeptDays } from "../limits.ts";
import { changedRows } from "./approval-changes.ts";
import { approvalsIn, columns } from "./approval-rows.ts";
import { addEvents } from "./audit.ts";
import { tellOnCommit } from "./changes.ts";
import type { Connections } from "./connections.ts";
import { jsonOf, type Values } from "./querying.ts";

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
