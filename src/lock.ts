/** One process at a time: a lock that the kernel takes back when its holder dies, however that happens. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, systemCodeOf } from "./errors.ts";

/** Nobody holds one longer than some requests to a server take. */
const defaultWaitMs = 60_000;

export interface Lock {
  release(): void;
}

/**
 * Undefined while another process, or somebody else in this one, has it. The file is an empty database: SQLite knows how
 * each system locks files. `what` it guards is said in errors. Throws FILE_NOT_WRITABLE.
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
        // Closing alone may be put off for as long as one of its statements is somewhere in memory.
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

/** Whether somebody has it now; nothing is written, not even where it is free. Throws FILE_NOT_WRITABLE. */
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

/** Does the work with the lock. Throws FILE_NOT_WRITABLE, CALL_TIMEOUT when it does not become free, and what `work` throws. */
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

/** Without the path: it may be read by code that runs in the sandbox. */
function notLockable(error: unknown, what: string): ClaudikinsError {
  const why = systemCodeOf(error) ?? "unknown error";
  return new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot lock ${what}: ${why}`, {
    hint: "Check that claudikins can write to its data folder.",
  });
}
