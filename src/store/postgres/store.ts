/** The store in a Postgres, which the replicas of a team share. */
import { setTimeout as sleep } from "node:timers/promises";
import { hourMs } from "../../base/units.ts";
import type { ApprovalRows } from "../approval.ts";
import { approvalRows, changeApprovals, eventsIn } from "../approval-table.ts";
import { audited } from "../audit/heard.ts";
import type { AuditLog } from "../audit/log.ts";
import { auditLog } from "../audit/table.ts";
import { type CallLogRows, callLogRows } from "../call-log.ts";
import { type CountRows, countRows } from "../counts.ts";
import { type DeliveryRows, deliveryRows } from "../deliveries.ts";
import { type DirectoryRows, directoryRows } from "../directory.ts";
import { executionRows } from "../execution-table.ts";
import type { Continuations, ExecutionRows } from "../executions.ts";
import type { FileRows } from "../files.ts";
import { type LabelRows, labelRows } from "../labels.ts";
import { type PeopleRows, peopleRows } from "../people.ts";
import { type QuotaRows, quotaRows } from "../quotas.ts";
import { type RecordRows, recordRows } from "../records.ts";
import type { Owner, ReplicaRows } from "../replicas.ts";
import type { Store } from "../store.ts";
import type { Bucket } from "./bucket.ts";
import { CallLogDays } from "./call-log-days.ts";
import { Changes } from "./changes.ts";
import { Connections, workConnections } from "./connections.ts";
import { fileRows } from "./files.ts";
import { Objects } from "./objects.ts";
import { Owners } from "./owners.ts";
import { replicaRows } from "./replicas.ts";
import { Room } from "./room.ts";
import { isTooNew, migrate } from "./schema.ts";
import { PostgresWriter } from "./writer.ts";

const auditProtection = {
  off: "ALTER TABLE claudikins.audit DISABLE TRIGGER audit_is_not_changed",
  on: "ALTER TABLE claudikins.audit ENABLE TRIGGER audit_is_not_changed",
};

/** How often one of the processes removes what is no longer kept. */
const tidyTurnMs = hourMs;

/** Time at the end of a process for objects that are being removed. */
const objectsEndMs = 5_000;

export class PostgresStore implements Store {
  readonly exists = true;
  readonly records: RecordRows;
  readonly callLog: CallLogRows;
  readonly counts: CountRows;
  readonly people: PeopleRows;
  readonly directory: DirectoryRows;
  readonly labels: LabelRows;
  readonly quotas: QuotaRows;
  readonly approvals: ApprovalRows;
  readonly audit: AuditLog;
  readonly deliveries: DeliveryRows;
  readonly executions: ExecutionRows;
  readonly continuations: Continuations;
  readonly replicas: ReplicaRows;
  readonly files: FileRows;
  readonly #connections: Connections;
  readonly #leasing: Connections;
  readonly #owners: Owners;
  readonly #changes: Changes;

  readonly #objects: Objects;

  /** `url` is a secret. Nothing is opened before the first method needs it. Large contents go to the bucket, if there is one. */
  constructor(url: string, { maxConnections, bucket }: { maxConnections?: number; bucket?: Bucket | undefined } = {}) {
    const connections = new Connections(url, migrate, workConnections(maxConnections));
    const leasing = connections.forLeases();
    const owners = new Owners(connections, leasing);
    const changes = new Changes(connections);
    const objects = new Objects(connections, bucket);
    const parts = { connections, owners, changes, room: new Room(connections), objects };
    this.#objects = objects;
    this.#connections = connections;
    this.#leasing = leasing;
    this.#owners = owners;
    this.#changes = changes;
    this.records = recordRows(connections);
    this.callLog = callLogRows(connections, new CallLogDays(connections));
    this.counts = countRows(connections);
    this.people = peopleRows(connections);
    this.directory = directoryRows(connections);
    this.labels = labelRows(connections);
    this.quotas = quotaRows(connections);
    this.approvals = approvalRows(connections, async (change, by, now) => {
      const rows = await connections.write(() => changeApprovals(change, by, now));
      audited(eventsIn(change, rows), by, now);
      return rows;
    });
    this.audit = auditLog(connections, auditProtection);
    this.deliveries = deliveryRows(connections);
    this.executions = executionRows(connections, (warn = () => {}) => new PostgresWriter({ ...parts, warn }));
    this.continuations = {
      async take(handlers) {
        // Only a server of a team loads it.
        const { ContinuationJobs } = await import("./continuation-jobs.ts");
        return ContinuationJobs.start(handlers, { connections, changes, objects });
      },
    };
    this.replicas = replicaRows(connections, owners);
    this.files = fileRows(connections, objects);
  }

  async checkWritable(): Promise<void> {
    await this.#connections.transaction((querying) =>
      querying.run("DELETE FROM claudikins.owners WHERE name = 'nobody'"),
    );
  }

  isTooNew(): Promise<boolean> {
    return isTooNew(this.#connections);
  }

  /** Every transaction that has written something is part of it. */
  async stamp(): Promise<string> {
    const snapshot = "SELECT pg_current_snapshot()::text AS stamp";
    return (await this.#connections.each((querying) => querying.get<{ stamp: string }>(snapshot)))?.stamp ?? "";
  }

  async mayTidy(what: string): Promise<boolean> {
    const now = Date.now();
    const from = now - (now % tidyTurnMs);
    const turn = { key: `tidy ${what}`, from, to: from + tidyTurnMs, amount: 1, limit: 1 };
    return (await this.quotas.take([turn])) === undefined;
  }

  onChange(listener: () => void): () => void {
    return this.#changes.listen(listener);
  }

  takeOwner(): Promise<Owner> {
    return this.#owners.take();
  }

  isAlive(owner: string): Promise<boolean> {
    return this.#owners.isAlive(owner);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.race([this.#objects.settled(), sleep(objectsEndMs, undefined, { ref: false })]);
    await this.#changes[Symbol.asyncDispose]();
    await this.#leasing[Symbol.asyncDispose]();
    await this.#connections[Symbol.asyncDispose]();
  }
}
