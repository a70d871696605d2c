/**
 * Takes over the files in which version 0.1.0 kept records of executions and the ledger. A running process of that version may write
 * further files, which are taken over later.
 */
import type { Database } from "bun:sqlite";
import { existsSync, renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { systemCodeOf } from "../../base/errors.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { namesIn, readIfThere, removeFile, removeIfEmpty } from "../../base/files.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import type { CountRow } from "../counts.ts";
import { CountTable } from "./counts.ts";
import { RecordTable } from "./records.ts";

const recordsFolder = (file: string) => join(dirname(file), "executions");
const ledgerFolder = (file: string) => join(dirname(file), "ledger");

/** Whether there are such files beside the database. */
export function hasEarlierFiles(file: string): boolean {
  return existsSync(recordsFolder(file)) || existsSync(ledgerFolder(file)) || movedLedgers(file).length > 0;
}

/** Other work of the process goes on meanwhile. Throws what the database throws. */
export async function takeOverEarlierFiles(database: Database, file: string): Promise<void> {
  if (existsSync(ledgerFolder(file))) moveAside(ledgerFolder(file));
  if (!existsSync(dirname(file))) return;
  // One that was moved aside before by a process that was killed is taken over too.
  for (const name of movedLedgers(file)) takeOverLedger(database, join(dirname(file), name), name);
  if (existsSync(recordsFolder(file))) await takeOverRecords(database, recordsFolder(file));
}

const movedLedgers = (file: string) => movedFolders(file, "ledger");

/** The names of a folder beside the database after it was moved aside. */
export function movedFolders(file: string, folder: string): string[] {
  const moved = new RegExp(`^${folder}-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`);
  return namesIn(dirname(file)).filter((name) => moved.test(name));
}

/** From now on, processes of the earlier version write to a new folder. */
export function moveAside(folder: string): void {
  try {
    renameSync(folder, `${folder}-${crypto.randomUUID()}`);
  } catch (error) {
    // Another process was faster.
    if (systemCodeOf(error) !== "ENOENT") throw error;
  }
}

/** `name` is remembered, so that nothing is counted twice. Files with unreadable parts stay where they are. */
function takeOverLedger(database: Database, folder: string, name: string): void {
  const files = namesIn(folder)
    .filter((each) => each === "totals.json" || /^\d{4}-\d{2}-\d{2}T\d{2}\.log$/.test(each))
    .map((each) => ({ each, ...contentOf(each, readIfThere(join(folder, each)) ?? "") }));
  // A process was killed between summing these up and removing them.
  const summed = new Set(files.flatMap((file) => file.summed));
  database
    .transaction(() => {
      const { changes } = database.query("INSERT INTO takenOver (name) VALUES (?) ON CONFLICT DO NOTHING").run(name);
      if (changes === 0) return;
      const table = new CountTable(database);
      for (const { each, rows } of files) if (!summed.has(each)) for (const row of rows) table.add(row);
    })
    .immediate();
  for (const { each, isWhole } of files) if (isWhole) removeFile(join(folder, each));
  removeFile(join(folder, ".lock"));
  removeIfEmpty(folder);
}

interface LedgerFile {
  rows: CountRow[];
  /** The files that were summed up in it. */
  summed: string[];
  /** Whether everything in it could be read. */
  isWhole: boolean;
}

/** A file of sums is one JSON object; a file of writes has one in each line. */
function contentOf(name: string, text: string): LedgerFile {
  if (name !== "totals.json") {
    const lines = text.split("\n").filter((line) => line !== "");
    const rows = lines.flatMap((line): CountRow[] => {
      const value = parsedJson(line);
      if (!isObject(value) || !Number.isSafeInteger(value["at"])) return [];
      const { at, ...counts } = value;
      return [{ at: at as number, period: null, json: JSON.stringify(counts) }];
    });
    return { rows, summed: [], isWhole: rows.length === lines.length };
  }
  const { version, summed, periods } = Object(parsedJson(text)) as Record<string, unknown>;
  if (version !== 1 || !Array.isArray(periods)) return { rows: [], summed: [], isWhole: false };
  const rows = periods.map(([period, counts]): CountRow => ({ at: null, period, json: JSON.stringify(counts) }));
  return { rows, summed: Array.isArray(summed) ? summed.map(String) : [], isWhole: true };
}

/** Each file has a summary in its first line, and the rest in the second. Its name is the id. */
async function takeOverRecords(database: Database, folder: string): Promise<void> {
  const table = new RecordTable(database);
  for (const name of namesIn(folder)) {
    const id = /^([0-9a-z]+)\.json$/.exec(name)?.[1];
    if (id === undefined) continue;
    const [summary = "", rest = ""] = (readIfThere(join(folder, name)) ?? "").split("\n");
    const { version, at } = Object(parsedJson(summary)) as Record<string, unknown>;
    if (version !== 1 || typeof at !== "number" || !isObject(parsedJson(rest))) continue;
    table.add({ id, at: Math.floor(at), summary, rest });
    removeFile(join(folder, name));
    await eventLoopTurn();
  }
  removeIfEmpty(folder);
}
