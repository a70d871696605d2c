/**
 * Records of executions on disk, one file each, so that processes do not disturb each other. The first line is the summary
 * for lists, the second line has the rest. Only recent executions are kept.
 */
import { mkdir, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { firstLineOf, isAbandoned, namesIn, readIfThere, removeFile, statsOf } from "../../base/files.ts";
import { parsedJson } from "../../base/json-object.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { dayMs } from "../../base/units.ts";
import { isId, timeOf } from "./id.ts";
import type { ExecutionRecord, Summary } from "./record.ts";

/** Limits of what is kept. The next write removes the rest. */
interface Keeping {
  count: number;
  ageMs: number;
  bytes: number;
}

export const defaultKeeping: Keeping = { count: 200, ageMs: 14 * dayMs, bytes: 50_000_000 };

const suffix = ".json";

const fileOf = (folder: string, id: string) => join(folder, `${id}${suffix}`);

/** Throws the system's errors. */
export async function writeRecord(folder: string, record: ExecutionRecord, keeping = defaultKeeping): Promise<void> {
  const { host, protocols, code, timeline, moreCalls, logs, error, value, ...summary } = record;
  const rest = { host, protocols, code, timeline, moreCalls, logs, error, value };
  const file = fileOf(folder, record.id);
  const temporary = `${file}.${process.pid}.0.tmp`;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    await writeFile(temporary, `${JSON.stringify(summary)}\n${JSON.stringify(rest)}\n`, { mode: 0o600 });
    await rename(temporary, file);
  } catch (cause) {
    await rm(temporary, { force: true });
    throw cause;
  }
  prune(folder, Date.now(), keeping);
}

/** Throws FILE_NOT_FOUND, FILE_NOT_WRITABLE. */
export function prune(folder: string, now: number, { count, ageMs, bytes }: Keeping): void {
  const names = namesIn(folder);
  for (const name of names) if (isAbandoned(name)) removeFile(join(folder, name));
  let size = 0;
  for (const [place, id] of idsIn(names).entries()) {
    size += statsOf(fileOf(folder, id))?.size ?? 0;
    if (place >= count || timeOf(id) < now - ageMs || (size > bytes && place > 0)) removeFile(fileOf(folder, id));
  }
}

/** Newest first. */
function idsIn(names: string[]): string[] {
  return names
    .map((name) => (name.endsWith(suffix) ? name.slice(0, -suffix.length) : ""))
    .filter(isId)
    .sort()
    .reverse();
}

/** All readable summaries, newest first. Those in `known` are not read again. Throws FILE_NOT_FOUND if the folder cannot be read. */
export function readSummaries(folder: string, known: ReadonlyMap<string, Summary> = new Map()): Summary[] {
  return idsIn(namesIn(folder)).flatMap((id) => known.get(id) ?? summaryIn(fileOf(folder, id)) ?? []);
}

/** Undefined if the file is gone, damaged or of another version. */
function summaryIn(file: string): Summary | undefined {
  try {
    return summaryOf(firstLineOf(file) ?? "");
  } catch {
    return undefined;
  }
}

function summaryOf(line: string): Summary {
  const summary = JSON.parse(line);
  if (summary.version !== 1) throw new Error("of another version");
  return summary;
}

/** Undefined if there is no readable record. Throws FILE_NOT_FOUND, VERSION_TOO_OLD. */
export function readRecord(folder: string, id: string): ExecutionRecord | undefined {
  const [first = "", second = ""] = (readIfThere(fileOf(folder, id)) ?? "").split("\n");
  if (isNewer(parsedJson(first), 1)) throw writtenByNewer("this record");
  try {
    return { ...summaryOf(first), ...JSON.parse(second) };
  } catch {
    return undefined;
  }
}

/** Throws FILE_NOT_WRITABLE. */
export function removeRecords(folder: string, ids: string[]): void {
  for (const id of ids) removeFile(fileOf(folder, id));
}
