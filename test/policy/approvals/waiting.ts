/** An app whose calls wait for decisions, and a second process that decides. */
import { rmSync } from "node:fs";
import type { App } from "../../../src/app/app.ts";
import { storeFile } from "../../../src/config/locations.ts";
import type { MadeCall } from "../../../src/policy/approval-queue.ts";
import { Approvals } from "../../../src/policy/approvals/approvals.ts";
import type { Approval, Asking, Decision } from "../../../src/store/approval.ts";
import type { AuditLine } from "../../../src/store/audit/event.ts";
import { openDatabase } from "../../../src/store/sqlite/database.ts";
import { ApprovalRows } from "../../store/sqlite/rows.ts";
import { auditLines } from "../../support/audit.ts";
import { storeExecution } from "../../support/stored.ts";
import { Recorded } from "../recorded.ts";

export const yes: Decision = { state: "approved", scope: "once", by: "command" };
export const session: Decision = { state: "approved", scope: "session", by: "command" };
export const no: Decision = { state: "denied", by: "page" };

export class Waiting extends Recorded {
  override waits = true;
  #elsewhere: Approvals | undefined;
  /** How often it was opened. */
  #opened = 0;

  get env() {
    return { HOME: this.project.path };
  }

  /** The approvals as another process sees them. */
  get elsewhere(): Approvals {
    this.#elsewhere ??= new Approvals({ env: this.env });
    return this.#elsewhere;
  }

  /** Begins without rows and without a log. */
  override async open(...args: Parameters<Recorded["open"]>): Promise<App> {
    this.#opened += 1;
    await this.#elsewhere?.[Symbol.asyncDispose]();
    this.#elsewhere = undefined;
    await this.close();
    for (const suffix of ["", "-wal", "-shm"]) rmSync(storeFile(this.env) + suffix, { force: true });
    return super.open(...args);
  }

  /** Stores a program of the execution, so that another process could continue it. */
  store(execution: string): Promise<void> {
    return storeExecution(this.env, execution, { isSaved: true });
  }

  /** Rows that wait, of other executions. */
  async fill(...rows: Asking[]): Promise<void> {
    const store = new ApprovalRows(await openDatabase(storeFile(this.env)));
    store.atomically(() => rows.map((row) => store.add(row)));
    store.close();
  }

  /** One call of a program. */
  async call(args: object, made: Partial<MadeCall> = {}, signal?: AbortSignal, tool = "remove-it"): Promise<string> {
    const place = { execution: "e1", call: 1, line: 3, ...made };
    try {
      const result = await this.app.pool.callTool("rec", tool, args, { made: place, signal });
      return JSON.stringify(result["content"]);
    } catch (error) {
      return (error as Error).message;
    }
  }

  /** The open rows, when there are this many. Rejects when the next test begins. */
  async rows(count = 1): Promise<Approval[]> {
    const opened = this.#opened;
    for (;;) {
      const rows = await this.elsewhere.open();
      if (rows.length >= count) return rows;
      await Bun.sleep(5);
      if (opened !== this.#opened) throw new Error("nothing waited");
    }
  }

  /** Decides the first open row from elsewhere, when there is one. */
  async decide(decision: Decision): Promise<Approval> {
    const [row] = await this.rows();
    const [decided] = await this.elsewhere.decide(row!.id, decision);
    return decided!;
  }

  async states(): Promise<string[]> {
    return (await this.elsewhere.list()).map(({ state }) => state);
  }

  audit(): AuditLine[] {
    return auditLines(this.env);
  }

  override async [Symbol.asyncDispose](): Promise<void> {
    await this.#elsewhere?.[Symbol.asyncDispose]();
    await super[Symbol.asyncDispose]();
  }
}
