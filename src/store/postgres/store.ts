/** The store in a Postgres, which the replicas of a team share. */
import { hourMs } from "../../base/units.ts";
import type { Owner } from "../owner.ts";
import type { Store } from "../store.ts";
import { PostgresApprovals } from "./approvals.ts";
import { PostgresAudit } from "./audit.ts";
import { Changes } from "./changes.ts";
import { Connections } from "./connections.ts";
import { PostgresContinuations } from "./continuations.ts";
import { PostgresCounts } from "./counts.ts";
import { PostgresExecutions } from "./executions.ts";
import { PostgresFiles } from "./files.ts";
import { PostgresLabels } from "./labels.ts";
import { isTooNew, migrate } from "./migrations.ts";
import { Owners } from "./owners.ts";
import { PostgresPeople } from "./people.ts";
import { PostgresQuotas } from "./quotas.ts";
import { PostgresRecords } from "./records.ts";
import { PostgresReplicas } from "./replicas.ts";
import { Room } from "./room.ts";
import { PostgresWriter } from "./writer.ts";

/** How often one of the processes removes what is no longer kept. */
const tidyTurnMs = hourMs;

export class PostgresStore implements Store {
  readonly exists = true;
  readonly records: PostgresRecords;
  readonly counts: PostgresCounts;
  readonly people: PostgresPeople;
  readonly labels: PostgresLabels;
  readonly quotas: PostgresQuotas;
  readonly approvals: PostgresApprovals;
  readonly audit: PostgresAudit;
  readonly executions: PostgresExecutions;
  readonly continuations: PostgresContinuations;
  readonly replicas: PostgresReplicas;
  readonly files: PostgresFiles;
  readonly #connections: Connections;
  readonly #owners: Owners;
  readonly #changes: Changes;

  /** `url` is a secret. Nothing is opened before the first method needs it. */
  constructor(url: string) {
    const connections = new Connections(url, migrate);
    const owners = new Owners(connections);
    const changes = new Changes(connections);
    const parts = { connections, owners, changes, room: new Room(connections) };
    this.#connections = connections;
    this.#owners = owners;
    this.#changes = changes;
    this.records = new PostgresRecords(connections);
    this.counts = new PostgresCounts(connections);
    this.people = new PostgresPeople(connections);
    this.labels = new PostgresLabels(connections);
    this.quotas = new PostgresQuotas(connections);
    this.approvals = new PostgresApprovals(connections);
    this.audit = new PostgresAudit(connections);
    this.executions = new PostgresExecutions(connections, () => new PostgresWriter(parts));
    this.continuations = new PostgresContinuations(connections, changes);
    this.replicas = new PostgresReplicas(connections, owners);
    this.files = new PostgresFiles(connections);
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
    await this.#changes[Symbol.asyncDispose]();
    await this.#connections[Symbol.asyncDispose]();
  }
}
