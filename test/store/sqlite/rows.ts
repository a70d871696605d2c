/** The rows of the user's file, as a test reads and changes them beside the store. */
import type { Database } from "bun:sqlite";
import type { Approval, ApprovalChange, ApprovalFilter, Asking, Decision } from "../../../src/store/approval.ts";
import { changeApprovals, listed } from "../../../src/store/approval-table.ts";
import {
  byId,
  callText,
  endExecution,
  insertExecution,
  messageOf,
  saveExecution,
} from "../../../src/store/execution-table.ts";
import type { StoredExecution } from "../../../src/store/executions.ts";
import type { NewExecution } from "../../../src/store/jobs.ts";
import { transact, workIn } from "../../../src/store/sqlite/database.ts";
import { all, type Values, type Work } from "../../../src/store/work.ts";

class Rows {
  protected readonly database: Database;

  constructor(database: Database) {
    this.database = database;
  }

  /** Makes all changes of `work`, or none. */
  atomically<T>(work: () => T): T {
    return this.database.transaction(work).immediate();
  }

  close(): void {
    this.database.close();
  }

  protected all<Row>(text: string, values?: Values): Row[] {
    return workIn(this.database, all<Row>(text, values));
  }

  protected done<T>(work: () => Work<T>): T {
    return transact(this.database, work);
  }
}

type ExecutionRow = Omit<StoredExecution, "reason"> & { outcome: string | null; program: Uint8Array | null };

interface CallRow {
  call: number;
  /** JSON, as the whole answer. */
  message: string;
  state: "made" | "sent" | "answered";
  isRepeatable: boolean;
  answer: string | null;
}

export class ExecutionRows extends Rows {
  add(id: string, owner: string, execution: Partial<NewExecution>): void {
    this.done(() => insertExecution(id, owner, execution));
  }

  /** Stores no program, but until when it waits. */
  sleep(id: string, wakeAt: number): void {
    this.done(() => saveExecution(byId(id), { program: undefined, unsaved: undefined, wakeAt, engine: "e" }));
  }

  fail(id: string): void {
    this.done(() => endExecution(byId(id), { outcome: '{"ok":false}', value: undefined, isOk: false }));
  }

  get(id: string): ExecutionRow | undefined {
    return this.list().find((each) => each.id === id);
  }

  list(): ExecutionRow[] {
    return this.all("SELECT *, program IS NOT NULL AS is_saved FROM claudikins.executions");
  }

  calls(id: string): CallRow[] {
    const statement =
      "SELECT call, state, is_repeatable, answer FROM claudikins.calls WHERE execution = $id ORDER BY call";
    return this.all<Omit<CallRow, "message">>(statement, { id }).map((row) => {
      const message = messageOf(workIn(this.database, callText(id, row.call, "message")));
      return { ...row, message: JSON.stringify(message) };
    });
  }
}

const by = { user: "ada", pid: 1, terminal: false };

export class ApprovalRows extends Rows {
  /** Throws POLICY_DENIED if too much is open. */
  add(asking: Asking): Approval {
    return this.change({ type: "ask", asking, tool: "github.close_issue" }, asking.askedAt)[0]!;
  }

  decide(id: string, decision: Decision, now: number): Approval[] {
    return this.change({ type: "decide", id, decision }, now);
  }

  change(change: ApprovalChange, now: number): Approval[] {
    return this.done(() => changeApprovals(change, by, now));
  }

  list(filter?: ApprovalFilter): Approval[] {
    return workIn(this.database, listed(filter));
  }

  get(id: string): Approval | undefined {
    return this.list().find((each) => each.id === id);
  }

  argumentsOf(id: string): string | undefined {
    const [row] = this.all<{ args: string | null }>("SELECT args FROM claudikins.approvals WHERE id = $id", { id });
    return row?.args ?? undefined;
  }
}
