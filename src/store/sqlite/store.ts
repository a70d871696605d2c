/** The store in one SQLite file of the user, which several processes use at once. */
import { dirname, join } from "node:path";
import { stampOf } from "../../base/files.ts";
import { OffThread } from "../../base/off-thread.ts";
import type { Approval } from "../approval.ts";
import { approvalRows, eventsIn } from "../approval-table.ts";
import { audited } from "../audit/heard.ts";
import { auditLog } from "../audit/table.ts";
import { callColumns, callKeys, callLogRows, maxUserCalls, type StoredCall } from "../call-log.ts";
import { countRows } from "../counts.ts";
import { type DeliveryRows, deliveryRows } from "../deliveries.ts";
import { directoryRows } from "../directory.ts";
import { executionRows } from "../execution-table.ts";
import { labelRows } from "../labels.ts";
import { peopleRows } from "../people.ts";
import { quotaRows } from "../quotas.ts";
import { recordRows } from "../records.ts";
import type { Owner } from "../replicas.ts";
import type { Store } from "../store.ts";
import { run, type Work } from "../work.ts";
import type { Changed, ChangeJob } from "./approvals-worker.ts";
import { Connection } from "./connection.ts";
import { auditProtection, isNewerDatabase } from "./database.ts";
import { StoreWriter } from "./writer.ts";

/**
 * Time for a worker to change approvals: longer than all waits for locks together. A worker that is ended within a transaction would keep
 * its lock.
 */
const approvalChangeMs = 120_000;

/** One, so that the calls of a program are asked about in their order. The database has one writer at a time anyway. */
const approvalChanges = new OffThread<ChangeJob, Changed>("./store/sqlite/approvals-worker.ts", { maxWorkers: 1 });

export class SqliteStore implements Store {
  readonly file: string;
  readonly #connection: Connection;
  #deliveries: DeliveryRows | undefined;
  readonly records;
  readonly callLog;
  readonly counts;
  readonly people;
  readonly directory;
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
    this.callLog = callLogRows(connection, {
      insert: insertEach,
      tidy: (config, before) => connection.write(() => removeOldCalls(config, before)),
    });
    this.counts = countRows(connection);
    this.people = peopleRows(connection);
    this.directory = directoryRows(connection);
    this.labels = labelRows(connection);
    this.quotas = quotaRows(connection);
    this.audit = auditLog(connection.durable, auditProtection);
    this.executions = executionRows(connection, () => new StoreWriter(file));
    this.approvals = approvalRows(connection, async (change, by, now) => {
      const { rows } = await approvalChanges.run({ change, file, by, now }, { limitMs: approvalChangeMs });
      const changed = JSON.parse(rows) as Approval[];
      audited(eventsIn(change, changed), by, now);
      return changed;
    });
  }

  /** Made when it is needed: most processes have no events. */
  get deliveries(): DeliveryRows {
    this.#deliveries ??= deliveryRows(this.#connection, this.#connection.durable);
    return this.#deliveries;
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

const insertion = `INSERT INTO claudikins.call_log (${callColumns}) VALUES (${callKeys.map((key) => `$${key}`).join(", ")})`;

/** One by one, because JSON with many calls takes ten times as long to read. */
function* insertEach(calls: readonly StoredCall[]): Work<void> {
  for (const call of calls) yield* run(insertion, { ...call });
}

/** The calls of a config that are too old, and of all configs what is too much: calls have numbers in the order in which they were added. */
function* removeOldCalls(config: string | null, before: number): Work<void> {
  yield* run("DELETE FROM claudikins.call_log WHERE at < $before AND config IS $config", { config, before });
  const most = "rowid <= (SELECT max(rowid) FROM claudikins.call_log) - $most";
  yield* run(`DELETE FROM claudikins.call_log WHERE ${most}`, { most: maxUserCalls });
}
