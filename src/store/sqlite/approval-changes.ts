/**
 * Changes of approvals, which a worker makes: it may have to wait for other processes and for the disk. A decision counts together with its
 * line in the audit log.
 */
import type { Database } from "bun:sqlite";
import { OffThread } from "../../base/off-thread.ts";
import type { Approval } from "../approval.ts";
import { changeApprovals, eventsIn } from "../approval-table.ts";
import type { ApprovalChange } from "../approvals.ts";
import { logNotWritable } from "../audit/chain.ts";
import type { Decider } from "../audit/event.ts";
import { audited } from "../audit/heard.ts";
import { openDatabase, transact } from "./database.ts";

/**
 * Time for a worker to change approvals: longer than all waits for locks together. A worker that is ended within a transaction would keep
 * its lock.
 */
const approvalChangeMs = 120_000;

/** Free pages of the database that are given back at once. */
const approvalPagesGivenBack = 4_000;

interface ChangeJob {
  change: ApprovalChange;
  /** The database. */
  file: string;
  by: Decider;
  /** Milliseconds since 1970. */
  now: number;
}

/** The rows that were changed, as JSON. Bun passes one text to another thread faster than many rows. */
interface Changed {
  rows: string;
}

/** One, so that the calls of a program are asked about in their order. The database has one writer at a time anyway. */
const workers = new OffThread<ChangeJob, Changed>("./store/sqlite/approvals-worker.ts", { maxWorkers: 1 });

/** Makes the change in a worker. Returns the changed rows. Throws FILE_NOT_WRITABLE, and POLICY_DENIED if too much is open. */
export async function changed(job: ChangeJob): Promise<Approval[]> {
  const changed = await workers.run(job, { limitMs: approvalChangeMs });
  const rows = JSON.parse(changed.rows) as Approval[];
  const { change, by, now } = job;
  audited(eventsIn(change, rows), by, now);
  return rows;
}

/** Runs in the worker. Throws FILE_NOT_WRITABLE, and POLICY_DENIED if too much is open. */
export async function makeChange({ change, file, by, now }: ChangeJob): Promise<Changed> {
  const database = await openDatabase(file, { isWriter: true });
  try {
    return { rows: JSON.stringify(transact(database, () => changeApprovals(change, by, now))) };
  } catch (cause) {
    throw logNotWritable(cause);
  } finally {
    if (closing.has(change.type)) leaveNothing(database);
    database.close();
  }
}

/** Changes after which arguments are no longer kept. */
const closing: ReadonlySet<ApprovalChange["type"]> = new Set(["decide", "withdraw", "expire", "prune", "remove"]);

/** Makes the files smaller, and removes from the log what was deleted. */
function leaveNothing(database: Database): void {
  try {
    database.run("PRAGMA busy_timeout = 100");
    database.run(`PRAGMA incremental_vacuum(${approvalPagesGivenBack})`);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  } catch {
    // Another process reads or writes. The next change tries again.
  }
}
