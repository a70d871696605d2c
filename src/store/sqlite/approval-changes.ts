/**
 * Changes of approvals, which a worker makes: it may have to wait for other processes and for the disk. A decision counts together with its
 * line in the audit log.
 */
import type { Database } from "bun:sqlite";
import { OffThread } from "../../base/off-thread.ts";
import type { Approval } from "../approval.ts";
import type { ApprovalChange } from "../approvals.ts";
import { eventsOf } from "../audit/approval-events.ts";
import type { AuditEvent, Decider } from "../audit/event.ts";
import { audited } from "../audit/heard.ts";
import { requireRoom } from "../open-approvals.ts";
import { ApprovalStore } from "./approvals.ts";
import { openLog } from "./audit.ts";
import { addEvents } from "./audit-table.ts";

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
  audited(change.type === "note" ? [change.event] : eventsOf(rows), by, now);
  return rows;
}

/** Runs in the worker. */
export async function makeChange(job: ChangeJob): Promise<Changed> {
  return { rows: JSON.stringify(await rowsOf(job)) };
}

async function rowsOf({ change, file, by, now }: ChangeJob): Promise<Approval[]> {
  const database = await openLog(file);
  const store = new ApprovalStore(database);
  const add = (events: AuditEvent[]) => addEvents(database, events, by);
  try {
    return changedRows(change, store, now, add);
  } finally {
    if (closing.has(change.type)) leaveNothing(database);
    store.close();
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

/** Each decision and its line in the audit log are one transaction. */
function changedRows(
  change: ApprovalChange,
  store: ApprovalStore,
  now: number,
  add: (events: AuditEvent[]) => void,
): Approval[] {
  const recording = (decide: () => Approval[]) =>
    store.atomically(() => {
      const rows = decide();
      add(eventsOf(rows));
      return rows;
    });
  switch (change.type) {
    case "ask": {
      store.prune(now);
      return [store.atomically(() => asked(change, store))];
    }
    case "decide":
      return recording(() => store.decide(change.id, change.decision, now));
    case "withdraw":
      return recording(() => change.ids.flatMap((id) => store.withdraw(id, now) ?? []));
    case "expire":
      return recording(() => store.expire(now));
    case "adopt":
      store.adopt(change.id, change.owner);
      return [];
    case "prune":
      store.prune(now);
      return [];
    case "remove":
      store.atomically(() => store.remove(change.ids));
      return [];
    case "note":
      store.atomically(() => add([change.event]));
      return [];
  }
}

function asked({ asking, tool }: Extract<ApprovalChange, { type: "ask" }>, store: ApprovalStore): Approval {
  const { config, args } = asking;
  requireRoom(store.openSums(config), Buffer.byteLength(args), tool);
  return store.add(asking);
}
