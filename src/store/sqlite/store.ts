/** The store in one SQLite file of the user, which several processes use at once. */
import { dirname, join } from "node:path";
import { stampOf } from "../../base/files.ts";
import { approvalRows } from "../approval-table.ts";
import { auditLog } from "../audit/table.ts";
import { countRows } from "../counts.ts";
import { executionRows } from "../execution-table.ts";
import { labelRows } from "../labels.ts";
import type { Owner } from "../owner.ts";
import { peopleRows } from "../people.ts";
import { quotaRows } from "../quotas.ts";
import { recordRows } from "../records.ts";
import type { Store } from "../store.ts";
import { Connection } from "./connection.ts";
import { auditProtection, isNewerDatabase } from "./database.ts";
import { StoreWriter } from "./writer.ts";

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
    this.audit = auditLog(connection.durable, auditProtection);
    this.executions = executionRows(connection, () => new StoreWriter(file));
    this.approvals = approvalRows(connection, async (change, by, now) => {
      const { changed } = await import("./approval-changes.ts");
      return changed({ change, file, by, now });
    });
  }

  get exists(): boolean {
    return this.#connection.exists;
  }

  checkWritable(): Promise<void> {
    return this.#connection.write(function* () {});
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
