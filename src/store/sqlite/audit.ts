/** The audit log in the user's database: writing events to it, and reading it. */

import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { logNotWritable } from "../audit/chain.ts";
import type { AuditEvent, Decider } from "../audit/event.ts";
import type { CutEnd, StoredLine } from "../audit/log.ts";
import { AuditTable, addEvents, cutLog } from "./audit-table.ts";
import { writeTo } from "./connection.ts";
import { openDatabase } from "./database.ts";
import { hasEarlierLog, takeOverEarlierLogs } from "./earlier-audit.ts";

/** Opens the database for writing to the log. Throws what `openDatabase` throws. */
export async function openLog(file: string): Promise<Database> {
  const database = await openDatabase(file, { isWriter: true });
  try {
    takeOverEarlierLogs(database, file);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** Adds events to the log. They are on the disk when it resolves. Throws FILE_NOT_WRITABLE. */
export async function record(file: string, events: readonly AuditEvent[], by: Decider, at?: number): Promise<void> {
  await changing(file, (database) => addEvents(database, events, by, at));
}

/** Removes the oldest lines. Undefined if none was. Throws FILE_NOT_WRITABLE. */
export function cut(file: string, before: number, by: Decider, why?: string): Promise<CutEnd | undefined> {
  return changing(file, (database) => cutLog(database, before, by, why));
}

/** Throws FILE_NOT_WRITABLE if nothing could be recorded. */
export async function requireLog(file: string): Promise<void> {
  await changing(file, () => {});
}

async function changing<T>(file: string, work: (database: Database) => T): Promise<T> {
  let database: Database | undefined;
  try {
    database = await openLog(file);
    return await writeTo(database, work);
  } catch (cause) {
    throw logNotWritable(cause);
  } finally {
    database?.close();
  }
}

/** All lines. The database is open until the last one is read. */
export async function* linesOf(file: string, order?: "oldest first" | "newest first"): AsyncGenerator<StoredLine> {
  if (!hasLog(file)) return;
  const database = await openLog(file);
  try {
    yield* new AuditTable(database).lines(order);
  } finally {
    database.close();
  }
}

/** The place of the last line that was ever written. Zero if none was. */
export async function lastPlaceOf(file: string): Promise<number> {
  if (!hasLog(file)) return 0;
  using database = await openLog(file);
  return new AuditTable(database).lastPlace;
}

/** Nothing is created for a question. */
function hasLog(file: string): boolean {
  return existsSync(file) || hasEarlierLog(file);
}
