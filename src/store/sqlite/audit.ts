/** The audit log in the user's database: writing events to it, and reading it. */

import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { logNotWritable } from "../audit/chain.ts";
import type { AuditEvent, Decider } from "../audit/event.ts";
import { AuditTable, addEvents } from "./audit-table.ts";
import { openDatabase } from "./database.ts";
import { hasEarlierLog, takeOverEarlierLogs } from "./earlier-audit.ts";
import { writeTo } from "./store.ts";

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
export async function record(
  file: string,
  events: AuditEvent | readonly AuditEvent[],
  by: Decider,
  at?: number,
): Promise<void> {
  await changing(file, (database) => addEvents(database, [events].flat(), by, at));
}

/** Throws FILE_NOT_WRITABLE if nothing could be recorded. For work that other programs do, and that is recorded when they have ended. */
export async function requireLog(file: string): Promise<void> {
  await changing(file, () => {});
}

async function changing(file: string, work: (database: Database) => void): Promise<void> {
  let database: Database | undefined;
  try {
    database = await openLog(file);
    await writeTo(database, work);
  } catch (cause) {
    throw logNotWritable(cause);
  } finally {
    database?.close();
  }
}

/** Reads the log with `read`. Undefined if nothing was ever recorded. Throws FILE_NOT_WRITABLE if it cannot be opened. */
export async function reading<T>(file: string, read: (table: AuditTable) => T): Promise<T | undefined> {
  if (!existsSync(file) && !hasEarlierLog(file)) return undefined;
  const database = await openLog(file);
  try {
    return read(new AuditTable(database));
  } finally {
    database.close();
  }
}
