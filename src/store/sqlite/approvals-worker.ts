/** The worker that changes approvals: it may have to wait for other processes and for the disk. */
import type { Database } from "bun:sqlite";
import { answerJobs } from "../../base/off-thread.ts";
import type { ApprovalChange } from "../approval.ts";
import { changeApprovals } from "../approval-table.ts";
import { logNotWritable } from "../audit/chain.ts";
import type { Decider } from "../audit/event.ts";
import { openDatabase, transact } from "./database.ts";

/** Free pages of the database that are given back at once. */
const approvalPagesGivenBack = 4_000;

export interface ChangeJob {
  change: ApprovalChange;
  /** The database. */
  file: string;
  by: Decider;
  /** Milliseconds since 1970. */
  now: number;
}

/** The rows that were changed, as JSON. Bun passes one text to another thread faster than many rows. */
export interface Changed {
  rows: string;
}

/** Throws FILE_NOT_WRITABLE, and POLICY_DENIED if too much is open. */
async function makeChange({ change, file, by, now }: ChangeJob): Promise<Changed> {
  const database = await openDatabase(file);
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

declare const self: Worker;

answerJobs(self, makeChange);
