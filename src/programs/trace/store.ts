/** The records of executions in the user's database. Only recent executions are kept. */

import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { dayMs, megabyte } from "../../base/units.ts";
import type { ActivityFilter, ActivityPage } from "../../store/activity.ts";
import type { NewRecord, StoredRecord } from "../../store/records.ts";
import type { Store } from "../../store/store.ts";
import { type ExecutionRecord, endStateOf, type Summary } from "./record.ts";

/** The newest records are kept: at most so many, so old, and so large together. */
export const recordsKept = { count: 10_000, ageMs: 14 * dayMs, bytes: 50 * megabyte };

/**
 * Writes the records together, because each write looks whether there are more than are kept: 0.5 ms for 10,000. Throws FILE_NOT_WRITABLE,
 * VERSION_TOO_OLD.
 */
export async function writeRecords(
  store: Store,
  records: readonly ExecutionRecord[],
  kept = recordsKept,
): Promise<void> {
  await store.records.add(records.map(rowOf), kept, Date.now());
}

function rowOf(record: ExecutionRecord): NewRecord {
  const { host, protocols, code, timeline, moreCalls, logs, error, value, labels, ...summary } = record;
  const rest = JSON.stringify({ host, protocols, code, timeline, moreCalls, logs, error, value, labels });
  const { id, at, config, door = null, person, agent = null, program = null } = record;
  const facts = {
    config,
    door,
    person: person?.id ?? null,
    agent,
    program,
    state: endStateOf(record),
    ...searchedIn(record),
  };
  return { id, at: Math.floor(at), summary: JSON.stringify(summary), rest, facts };
}

type Searched = Pick<
  Summary,
  "id" | "session" | "agent" | "door" | "person" | "folder" | "program" | "comment" | "tools"
>;

/** What a list of executions is searched by: the tools as in `ActivityFacts`, and the lowercase text. */
export function searchedIn(summary: Searched): { tools: string; words: string } {
  const { id, session, agent, door, person, folder, program, comment, tools = [] } = summary;
  const texts = [id, session, program, comment, agent, person?.name, door, folder];
  let lines = "\n";
  for (const { server, tool } of tools) {
    lines += `${server}\t${tool}\n`;
    texts.push(`${server}.${tool}`);
  }
  return { tools: lines, words: texts.filter(Boolean).join("\n").toLowerCase() };
}

/** All readable summaries, newest first. Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
export async function readSummaries(store: Store): Promise<Summary[]> {
  return readable(await store.records.summaries());
}

/** The summaries that fit, in the order of the page. Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
export async function readActivity(store: Store, filter: ActivityFilter, page: ActivityPage): Promise<Summary[]> {
  return readable(await store.records.activity(filter, page));
}

/** The newest runs of each saved program, newest first: at most `count` of each. Throws FILE_NOT_WRITABLE, VERSION_TOO_OLD. */
export async function readRuns(store: Store, config: string | null, count: number): Promise<Summary[]> {
  return readable(await store.records.runs(config, count));
}

function readable(rows: readonly Pick<StoredRecord, "summary">[]): Summary[] {
  return rows.flatMap(({ summary }) => summaryIn(summary) ?? []);
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
