/**
 * Changes of approvals, which a worker makes: it may have to wait for other processes and for the disk. The audit log has every decision
 * before it counts.
 */
import type { Database } from "bun:sqlite";
import { ClaudikinsError } from "../../base/errors.ts";
import { OffThread } from "../../base/off-thread.ts";
import type { Approval, Asking, Decision } from "../../store/approval.ts";
import { ApprovalStore } from "../../store/approvals.ts";
import { openDatabase } from "../../store/database.ts";
import { argumentsDigest } from "../approval-queue.ts";
import type { AuditEvent, Decider } from "../audit/event.ts";
import { auditing, type Write } from "../audit/log.ts";
import { approvalChangeMs, approvalPagesGivenBack } from "../limits.ts";

export type Change =
  | { type: "ask"; asking: Asking }
  | { type: "decide"; id: string; decision: Decision }
  | { type: "withdraw"; ids: string[] }
  | { type: "expire" }
  /** The process `owner` waits for the row from now on. */
  | { type: "adopt"; id: string; owner: string }
  | { type: "prune" }
  /** Records an event without a row. */
  | { type: "note"; event: AuditEvent };

export interface ChangeJob {
  change: Change;
  /** The database, and the folder of the audit log. */
  file: string;
  log: string;
  by: Decider;
  /** Milliseconds since 1970. */
  now: number;
}

/** The rows that were changed, as JSON. Bun passes one text to another thread faster than many rows. */
interface Changed {
  rows: string;
}

/** One, so that the calls of a program are asked about in their order. The database has one writer at a time anyway. */
const workers = new OffThread<ChangeJob, Changed>("./policy/approvals/worker.ts", { maxWorkers: 1 });

/** Makes the change in a worker. Returns the changed rows. Throws FILE_NOT_WRITABLE, and POLICY_DENIED if too much is open. */
export async function changed(job: ChangeJob): Promise<Approval[]> {
  const { rows } = await workers.run(job, { limitMs: approvalChangeMs });
  return JSON.parse(rows);
}

/** Runs in the worker. */
export async function makeChange(job: ChangeJob): Promise<Changed> {
  return { rows: JSON.stringify(await rowsOf(job)) };
}

async function rowsOf({ change, file, log, by, now }: ChangeJob): Promise<Approval[]> {
  if (change.type === "note") {
    await auditing(log, (write) => write(change.event, by));
    return [];
  }
  const database = await openDatabase(file, { isWriter: true });
  const store = new ApprovalStore(database);
  try {
    return await changedRows(change, store, now, (work) =>
      auditing(log, (write) => store.atomically(() => recorded(work(), by, write))),
    );
  } finally {
    if (closing.has(change.type)) leaveNothing(database);
    store.close();
  }
}

/** Changes after which arguments are no longer kept. */
const closing: ReadonlySet<Change["type"]> = new Set(["decide", "withdraw", "expire", "prune"]);

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

/** Runs the work, and records what it has decided. */
type Recording = (work: () => Approval[]) => Promise<Approval[]>;

async function changedRows(
  change: Exclude<Change, { type: "note" }>,
  store: ApprovalStore,
  now: number,
  recording: Recording,
): Promise<Approval[]> {
  switch (change.type) {
    case "ask": {
      store.prune(now);
      return [store.atomically(() => asked(change.asking, store))];
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
  }
}

function asked(asking: Asking, store: ApprovalStore): Approval {
  const { server, tool, config, args } = asking;
  const full = store.fullness(config, Buffer.byteLength(args));
  if (full === undefined) return store.add(asking);
  throw new ClaudikinsError("POLICY_DENIED", `${server}.${tool} was not called: ${full}`, {
    hint: "Decide about these first: claudikins approvals --all",
  });
}

/** Writes an event for each row, all at once. Returns the rows. */
function recorded(rows: Approval[], by: Decider, write: Write): Approval[] {
  const events = rows.flatMap((row) => {
    const { state, scope } = row;
    return state === "open" ? [] : [{ decision: state, ...aboutRow(row), ...(scope ? { scope } : {}) }];
  });
  if (events.length > 0) write(events, by);
  return rows;
}

function aboutRow({
  id,
  config,
  execution,
  call,
  line,
  server,
  tool,
  argsBytes,
  bound,
}: Approval): Omit<AuditEvent, "decision"> {
  return {
    approval: id,
    ...(config === null ? {} : { config }),
    execution,
    call,
    ...(line === null ? {} : { line }),
    server,
    tool,
    arguments: { sha256: argumentsDigest(bound), bytes: argsBytes },
  };
}
