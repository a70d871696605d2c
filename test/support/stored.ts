/** The user's database, as processes of a test leave it. */
import type { Counts } from "../../src/programs/ledger/counts.ts";
import { addCounts, readCounts } from "../../src/programs/ledger/store.ts";
import type { ExecutionRecord, Summary } from "../../src/programs/trace/record.ts";
import { readRecord, readSummaries, writeRecords } from "../../src/programs/trace/store.ts";
import type { AuditEvent, Decider } from "../../src/store/audit/event.ts";
import { openStore } from "../../src/store/open.ts";
import type { Store } from "../../src/store/store.ts";

/** A home, or the variables of an environment. */
type Home = string | Record<string, string | undefined>;

/** Opens the database for one piece of work. */
export async function inStore<T>(home: Home, work: (store: Store) => Promise<T>): Promise<T> {
  await using store = openStore(typeof home === "string" ? { HOME: home } : home);
  return await work(store);
}

export function storedSummaries(home: Home): Promise<Summary[]> {
  return inStore(home, readSummaries);
}

export function storedRecords(home: Home): Promise<ExecutionRecord[]> {
  return inStore(home, async (store) => {
    const records: ExecutionRecord[] = [];
    for (const { id } of await readSummaries(store)) records.push((await readRecord(store, id))!);
    return records;
  });
}

export function storeRecord(home: Home, record: ExecutionRecord): Promise<void> {
  return inStore(home, (store) => writeRecords(store, [record]));
}

export function storeCounts(home: Home, counts: Counts, at: Date): Promise<void> {
  return inStore(home, (store) => addCounts(store, counts, at));
}

/** Adds an event to the audit log. */
export function storeEvent(home: Home, event: AuditEvent, by: Decider, at?: number): Promise<void> {
  return inStore(home, (store) => store.audit.add([event], by, at));
}

/** The counts by period. */
export async function storedCounts(home: Home): Promise<Map<string, Counts>> {
  return (await inStore(home, (store) => readCounts(store))).periods;
}

interface KeptExecution {
  config?: string | null;
  request?: object;
  startedAt?: number;
  /** Whether it has a program that waits. */
  isSaved?: boolean;
  /** It has ended with this. */
  outcome?: object;
}

/** Stores an execution that no process runs. */
export function storeExecution(
  home: Home,
  id: string,
  { config = null, request = {}, startedAt = 1, isSaved = false, outcome }: KeptExecution = {},
): Promise<void> {
  return inStore(home, async (store) => {
    const writer = store.executions.writer();
    const owner = "none";
    const about = { config, startedAt, request: JSON.stringify(request), isWanted: false, owner };
    await writer.do("add", id, { ...about, roomBytes: Number.POSITIVE_INFINITY });
    const image = { program: new Uint8Array([1]), unsaved: undefined, wakeAt: undefined, engine: "" };
    if (isSaved) await writer.do("save", id, { owner, ...image, version: 1, pages: undefined, open: [] });
    const ended = { outcome: JSON.stringify(outcome), value: undefined, isOk: true };
    if (outcome) await writer.do("ended", id, ended);
    await writer.close();
  });
}
