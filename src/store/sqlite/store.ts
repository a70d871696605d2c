/** The store in one SQLite file of the user, which several processes use at once. */
import { dirname, join } from "node:path";
import { stampOf } from "../../base/files.ts";
import type { ApprovalRows } from "../approvals.ts";
import { audited } from "../audit/heard.ts";
import type { AuditLog } from "../audit/log.ts";
import type { Owner } from "../owner.ts";
import type { Store } from "../store.ts";
import { type Access, readerOf } from "./access.ts";
import { Connection } from "./connection.ts";
import { countRows } from "./counts.ts";
import { isNewerDatabase } from "./database.ts";
import { executionRows } from "./execution-rows.ts";
import { labelRows } from "./labels.ts";
import { peopleRows } from "./people.ts";
import { quotaRows } from "./quota-uses.ts";
import { recordRows } from "./records.ts";

export class SqliteStore implements Store {
  readonly file: string;
  readonly #connection: Connection;
  readonly records;
  readonly counts;
  readonly people;
  readonly labels;
  readonly quotas;
  readonly approvals;
  readonly audit;
  readonly executions;
  readonly continuations = undefined;
  readonly replicas = undefined;
  readonly files = undefined;

  constructor(file: string) {
    const connection = new Connection(file);
    this.file = file;
    this.#connection = connection;
    this.records = recordRows(connection);
    this.counts = countRows(connection);
    this.people = peopleRows(connection);
    this.labels = labelRows(connection);
    this.quotas = quotaRows(connection);
    this.approvals = approvalRows(connection);
    this.audit = auditLog(connection);
    this.executions = executionRows(connection);
  }

  get exists(): boolean {
    return this.#connection.exists;
  }

  checkWritable(): Promise<void> {
    return this.#connection.write(() => {});
  }

  isTooNew(): Promise<boolean> {
    return isNewerDatabase(this.file);
  }

  async stamp(): Promise<string> {
    return `${stampOf(this.file)}\n${stampOf(`${this.file}-wal`)}`;
  }

  async mayTidy(): Promise<boolean> {
    return true;
  }

  onChange(listener: () => void): () => void {
    return this.#connection.onChange(listener);
  }

  async takeOwner(): Promise<Owner> {
    const { LockOwner } = await import("./owner.ts");
    return LockOwner.take(this.#owners);
  }

  async isAlive(owner: string): Promise<boolean> {
    const { isOwnerAlive } = await import("./owner.ts");
    return isOwnerAlive(this.#owners, owner);
  }

  /** The folder with the locks of processes that run stored executions. */
  get #owners(): string {
    return join(dirname(this.file), "owners");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#connection[Symbol.asyncDispose]();
  }
}

/** The approvals of the store: the main thread reads, and a worker changes. The SQL is loaded with the first use. */
function approvalRows(access: Access): ApprovalRows {
  const read = readerOf(access, async () => (await import("./approvals.ts")).ApprovalStore);
  return {
    get: (id) => read(undefined, (table) => table.get(id)),
    argumentsOf: (id) => read(undefined, (table) => table.argumentsOf(id)),
    list: (filter) => read([], (table) => table.list(filter)),
    decided: (after, count) => read([], (table) => table.decided(after, count)),
    isWaiting: (execution) => read(false, (table) => table.isWaiting(execution)),
    openAmong: (ids) => read(new Set(), (table) => table.openAmong(ids)),
    ofCall: (execution, call) => read(undefined, (table) => table.ofCall(execution, call)),
    sessionApproval: (execution, server, tool) =>
      read(undefined, (table) => table.sessionApproval(execution, server, tool)),
    unsaved: (filter) => read([], (table) => table.unsaved(filter)),
    isDue: (now) => read(false, (table) => table.isDue(now)),
    hasOld: (now) => read(false, (table) => table.hasOld(now)),
    async change(change, by, now) {
      const { changed } = await import("./approval-changes.ts");
      return changed({ change, file: access.file, by, now });
    },
  };
}

/** The audit log of the store. What writes and reads it is loaded with the first use. */
export function auditLog({ file }: Pick<Access, "file">): AuditLog {
  return {
    async add(events, by, at = Date.now()) {
      const { record } = await import("./audit.ts");
      await record(file, events, by, at);
      audited(events, by, at);
    },
    async requireWritable() {
      const { requireLog } = await import("./audit.ts");
      await requireLog(file);
    },
    async cut(before, by, why) {
      const { cut } = await import("./audit.ts");
      const end = await cut(file, before, by, why);
      if (end) audited([end.event], by, Date.now());
      return end;
    },
    async *lines(order) {
      const { linesOf } = await import("./audit.ts");
      yield* linesOf(file, order);
    },
    async lastPlace() {
      const { lastPlaceOf } = await import("./audit.ts");
      return lastPlaceOf(file);
    },
  };
}
