/** The records of executions in the user's database. Only recent executions are kept. */

import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { dayMs, megabyte } from "../../base/units.ts";
import type { StoredRecord } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import type { ExecutionRecord, Summary } from "./record.ts";

/** The newest records are kept: at most so many, so old, and so large together. */
export const recordsKept = { count: 200, ageMs: 14 * dayMs, bytes: 50 * megabyte };

/**
 * Writes the records together, because removing what is more than is kept looks at all of them: 0.3 ms. Throws FILE_NOT_WRITABLE,
 * VERSION_TOO_OLD.
 */
export async function writeRecords(
  store: Store,
  records: readonly ExecutionRecord[],
  kept = recordsKept,
): Promise<void> {
  await store.records.add(records.map(rowOf), kept, Date.now());
}

function rowOf(record: ExecutionRecord): StoredRecord {
  const { host, protocols, code, timeline, moreCalls, logs, error, value, labels, ...summary } = record;
  const rest = JSON.stringify({ host, protocols, code, timeline, moreCalls, logs, error, value, labels });
  return { id: record.id, at: Math.floor(record.at), summary: JSON.stringify(summary), rest };
}

/** All readable summaries, newest first. Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
export async function readSummaries(store: Store): Promise<Summary[]> {
  return (await store.records.summaries()).flatMap(({ summary }) => summaryIn(summary) ?? []);
}

/** Undefined for a summary of another version. */
function summaryIn(json: string): Summary | undefined {
  const summary = JSON.parse(json) as Summary;
  return summary.version === 1 ? summary : undefined;
}

/** Undefined if there is no such record. Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
export async function readRecord(store: Store, id: string): Promise<ExecutionRecord | undefined> {
  const row = await store.records.get(id);
  return row && recordOf(row);
}

/** Throws VERSION_TOO_OLD. */
export function recordOf(row: StoredRecord): ExecutionRecord {
  const summary = JSON.parse(row.summary);
  if (isNewer(summary, 1)) throw writtenByNewer("this record");
  return { ...summary, ...JSON.parse(row.rest) };
}

/** Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
export async function removeRecords(store: Store, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await store.records.remove(ids);
}
