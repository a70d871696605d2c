/**
 * The store: everything that outlives a process. One implementation keeps it in SQLite, another in a Postgres of the team. Callers know neither
 * SQL nor where the data is.
 *
 * Every method is one transaction: all of its changes are made, or none. Methods throw FILE_NOT_WRITABLE and VERSION_TOO_OLD. Reading from a
 * store in which nothing was ever written returns nothing, and creates nothing. Approvals, the audit log and executions survive a loss of
 * power once the promise has resolved; the last writes of everything else may be lost with it.
 */
import type { ApprovalRows } from "./approval.ts";
import type { AuditLog } from "./audit/log.ts";
import type { CallLogRows } from "./call-log.ts";
import type { CountRows } from "./counts.ts";
import type { DeliveryRows } from "./deliveries.ts";
import type { DirectoryRows } from "./directory.ts";
import type { Continuations, ExecutionRows } from "./executions.ts";
import type { FileRows } from "./files.ts";
import type { LabelRows } from "./labels.ts";
import type { PeopleRows } from "./people.ts";
import type { QuotaRows } from "./quotas.ts";
import type { RecordRows } from "./records.ts";
import type { Owner, ReplicaRows } from "./replicas.ts";

export interface Store extends AsyncDisposable {
  /** Whether anything was ever stored. Nothing is created for a question. */
  readonly exists: boolean;
  /** The records of executions that have ended, for `claudikins executions`. */
  readonly records: RecordRows;
  /** The calls of tools, and who made them. */
  readonly callLog: CallLogRows;
  /** The ledger. */
  readonly counts: CountRows;
  /** The people who have signed in to `serve --http`. */
  readonly people: PeopleRows;
  /** The users and groups that a company's directory sends. */
  readonly directory: DirectoryRows;
  /** The labels of what was read. */
  readonly labels: LabelRows;
  /** How much of each quota was used. */
  readonly quotas: QuotaRows;
  /** The calls that wait for a person's decision, and the decisions. */
  readonly approvals: ApprovalRows;
  readonly audit: AuditLog;
  /** The events that start saved programs. */
  readonly deliveries: DeliveryRows;
  /** The executions that outlive their process, with their programs and calls. */
  readonly executions: ExecutionRows;
  /** Undefined if all processes are of one user: there, the daemon continues what they leave. */
  readonly continuations: Continuations | undefined;
  /** Undefined where only processes of one machine share the store. */
  readonly replicas: ReplicaRows | undefined;
  /** The files of workspaces. Undefined where only processes of one machine share the store: they share the folders too. */
  readonly files: FileRows | undefined;
  /** Throws if nothing can be written now. It creates a store that is missing. */
  checkWritable(): Promise<void>;
  /** Whether a newer claudikins has changed the store in a way that this one does not understand. Changes nothing. */
  isTooNew(): Promise<boolean>;
  /** A text that is another one after every change by any process. */
  stamp(): Promise<string>;
  /**
   * Calls the listener soon after others have changed the store: other processes, and other threads of this one. It may be called without a
   * change, and does not keep the process alive. Returns a function that ends this.
   */
  onChange(listener: () => void): () => void;
  /**
   * Whether this process is to remove what is no longer kept, of a kind. Of the processes that share a database, one an hour is; the file of one
   * user is tidied by any process.
   */
  mayTidy(what: string): Promise<boolean>;
  /** This process, as one that runs executions or waits for approvals. */
  takeOwner(): Promise<Owner>;
  /** Whether the process with this name runs, and has not given the name up. */
  isAlive(owner: string): Promise<boolean>;
  /** Releases what the store has open. A later call opens it again. Dispose owners and writers first. */
  [Symbol.asyncDispose](): Promise<void>;
}
