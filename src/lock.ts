/** A lock between processes. The kernel releases it when its holder dies, for whatever reason. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, systemCodeOf } from "./errors.ts";

/** Longer than any holder needs, which is the time of a few requests to a server. */
const defaultWaitMs = 60_000;

export interface Lock {
  release(): void;
}

/**
 * Undefined if another holder, in this process or another one, has the lock. The file is an empty SQLite database, because
 * SQLite knows how each system locks files. `what` names the guarded thing in errors. Throws FILE_NOT_WRITABLE.
 */
export async function takeLock(file: string, what: string): Promise<Lock | undefined> {
  const { Database } = await import("bun:sqlite");
  let database: InstanceType<typeof Database> | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    database = new Database(file, { create: true });
    database.run("PRAGMA busy_timeout = 0");
    database.run("BEGIN EXCLUSIVE");
    const held = database;
    return {
      release() {
        // SQLite may delay closing until all statements are collected.
        held.run("ROLLBACK");
        held.close();
      },
    };
  } catch (error) {
    database?.close();
    if (isBusy(error)) return undefined;
    throw notLockable(error, what);
  }
}

/** Whether the lock is held. Writes nothing. Throws FILE_NOT_WRITABLE. */
export async function isHeld(file: string, what: string): Promise<boolean> {
  const { Database } = await import("bun:sqlite");
  let database: InstanceType<typeof Database> | undefined;
  try {
    database = new Database(file, { readonly: true });
    database.run("PRAGMA busy_timeout = 0");
    database.query("SELECT count(*) FROM sqlite_master").get();
    return false;
  } catch (error) {
    if (isBusy(error)) return true;
    throw notLockable(error, what);
  } finally {
    database?.close();
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
  waitMs = defaultWaitMs,
): Promise<T> {
  const deadline = performance.now() + waitMs;
  let lock = await takeLock(file, what);
  for (; !lock; lock = await takeLock(file, what)) {
    if (performance.now() > deadline) {
      throw new ClaudikinsError("CALL_TIMEOUT", `Another claudikins has locked ${what} for too long`, {
        hint: "Try again, or stop the other one.",
      });
    }
    await Bun.sleep(10 + Math.random() * 20);
  }
  try {
    return await work();
  } finally {
    lock.release();
  }
}

function isBusy(error: unknown): boolean {
  return String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY");
}

/** The message has no path, because code in the sandbox may read it. */
function notLockable(error: unknown, what: string): ClaudikinsError {
  const why = systemCodeOf(error) ?? "unknown error";
  return new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot lock ${what}: ${why}`, {
    hint: "Check that claudikins can write to its data folder.",
  });
}
