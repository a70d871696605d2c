/** Approvals: calls that wait for a person's decision, and the decisions. A decision and its line in the audit log are one transaction. */
import type { Approval, ApprovalFilter, Asking, Decision } from "./approval.ts";
import type { AuditEvent, Decider } from "./audit/event.ts";

/** A call whose earlier calls are looked for. */
export type ApprovedBefore = Pick<Approval, "config" | "door" | "person" | "server" | "tool" | "decidedAt">;

export type ApprovalChange =
  /**
   * Writes an open row. Throws POLICY_DENIED if too much is open, see `requireRoom`; `tool` names the tool in this error. Also removes what
   * `prune` removes.
   */
  | { type: "ask"; asking: Asking; tool: string }
  /**
   * Decides an open row whose time is not over. A denial also decides the other open rows of the tool in the same execution, or with `all`
   * everything that the execution itself asks. The row with the id is the first of the changed rows; there are none if it was not decided.
   */
  | { type: "decide"; id: string; decision: Decision }
  /** Withdraws open and approved rows. */
  | { type: "withdraw"; ids: readonly string[] }
  /** Marks the open rows whose time is over. */
  | { type: "expire" }
  /** The process `owner` waits for the row from now on. No row counts as changed. */
  | { type: "adopt"; id: string; owner: string }
  /**
   * Removes rows that were decided more than `approvalKeptDays` ago, and beyond the `maxDecidedApprovals` of each config those that were
   * decided first. No row counts as changed.
   */
  | { type: "prune" }
  /** Removes rows that are not open. No row counts as changed. */
  | { type: "remove"; ids: readonly string[] }
  /** Only adds the event to the audit log. */
  | { type: "note"; event: AuditEvent };

/** Reads return rows as they are stored, even if their time is over and nothing has marked them yet. */
export interface ApprovalRows {
  get(id: string): Promise<Approval | undefined>;
  /** All arguments of an open row, as JSON. Undefined if the row is not open: they are deleted with the decision. */
  argumentsOf(id: string): Promise<string | undefined>;
  /** The oldest first. */
  list(filter?: ApprovalFilter): Promise<Approval[]>;
  /** The newest rows that were decided or expired after a time, at most `count`, newest first. */
  decided(after: number, count: number): Promise<Approval[]>;
  /** Whether a call of the execution is open, or of a saved program that it runs. It is asked for often. */
  isWaiting(execution: string): Promise<boolean>;
  /** The ids whose rows are open. */
  openAmong(ids: readonly string[]): Promise<Set<string>>;
  /** The last row of a call. A call has several if something changed while a person was asked. */
  ofCall(execution: string, call: number): Promise<Approval | undefined>;
  /** The last call of the same tool, config, door and person that was approved, before the row was decided if it was. Its arguments may be cut. */
  lastApproved(row: ApprovedBefore): Promise<Approval | undefined>;
  /** The last permission for further calls of a tool that a person gave an execution. */
  sessionApproval(execution: string, server: string, tool: string): Promise<Approval | undefined>;
  /** The open rows whose executions end with their process: no program is stored that another process could continue. */
  unsaved(filter?: Pick<ApprovalFilter, "config" | "execution">): Promise<Approval[]>;
  /** Whether the time of an open row is over. `now` is in milliseconds since 1970. It is asked for often. */
  isDue(now: number): Promise<boolean>;
  /** Whether rows were decided more than `approvalKeptDays` ago. */
  hasOld(now: number): Promise<boolean>;
  /**
   * Makes one change. Returns the changed rows, as they are now. Each row that has left `open`, or was withdrawn, has its line in the audit
   * log, made with `by`; see `eventsOf`. `now` is in milliseconds since 1970. Other work of the thread goes on meanwhile.
   */
  change(change: ApprovalChange, by: Decider, now: number): Promise<Approval[]>;
}
