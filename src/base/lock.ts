/** A lock between processes. The kernel releases it when its holder dies for any reason. */
import type { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, systemCodeOf } from "./errors.ts";
import { lockWaitMs } from "./limits.ts";

export interface Lock {
  release(): void;
}

/**
 * Undefined if another holder, in this process or another one, has the lock. The file is an empty SQLite database, because
 * SQLite knows how each system locks files. `what` names the guarded thing in errors. Throws FILE_NOT_WRITABLE.
 */
export function takeLock(file: string, what: string): Promise<Lock | undefined> {
  return unlessLocked(file, what, { create: true }, (database) => {
    database.run("BEGIN EXCLUSIVE");
    return {
      release() {
        // SQLite may delay closing until all statements are collected.
        database.run("ROLLBACK");
        database.close();
      },
    };
  });
}

/** Whether a process has the lock. Writes nothing. Throws FILE_NOT_WRITABLE. */
export async function isHeld(file: string, what: string): Promise<boolean> {
  const free = await unlessLocked(file, what, { readonly: true }, (database) => {
    database.query("SELECT count(*) FROM sqlite_master").get();
    database.close();
    return true;
  });
  return free === undefined;
}

/** Runs `use` with the database. Undefined if it is locked. */
async function unlessLocked<T>(
  file: string,
  what: string,
  options: { create: true } | { readonly: true },
  use: (database: Database) => T,
): Promise<T | undefined> {
  const sqlite = await import("bun:sqlite");
  let database: Database | undefined;
  try {
    if ("create" in options) mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    database = new sqlite.Database(file, options);
    database.run("PRAGMA busy_timeout = 0");
    return use(database);
  } catch (error) {
    database?.close();
    const code = systemCodeOf(error) ?? "unknown error";
    if (code.startsWith("SQLITE_BUSY")) return undefined;
    // The message has no path, because code in the sandbox may read it.
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot lock ${what}: ${code}`, {
      hint: "Check that claudikins can write to its data folder.",
    });
  }
}

/** Takes the lock when it becomes free. Undefined if that takes longer than `waitMs`. Throws FILE_NOT_WRITABLE. */
export async function waitForLock(file: string, what: string, waitMs: number): Promise<Lock | undefined> {
  for (const deadline = performance.now() + waitMs; ; await Bun.sleep(10 + Math.random() * 20)) {
    const lock = await takeLock(file, what);
    if (lock || performance.now() > deadline) return lock;
  }
}

/**
 * Runs `work` while holding the lock. Throws FILE_NOT_WRITABLE, CALL_TIMEOUT if the lock does not become free, and errors
 * of `work`.
 */
export async function withLock<T>(
  file: string,
  what: string,
  work: () => T | Promise<T>,
  waitMs = lockWaitMs,
): Promise<T> {
  const lock = await waitForLock(file, what, waitMs);
  if (!lock) {
    throw new ClaudikinsError("CALL_TIMEOUT", `Another claudikins has locked ${what} for too long`, {
      hint: "Try again, or stop the other one.",
    });
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}
