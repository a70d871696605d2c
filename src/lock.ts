/** One process at a time: a lock that the kernel takes back when its holder dies, however that happens. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, systemCodeOf } from "./errors.ts";

/** Nobody holds one longer than some requests to a server take. */
const defaultWaitMs = 60_000;

/**
 * Does the work while no other process, nor anybody else in this one, has the lock. The file is an empty database:
 * SQLite knows how each system locks files. `what` it guards is said in errors. Throws FILE_NOT_WRITABLE, CALL_TIMEOUT when it does
 * not become free, and what `work` throws.
 */
export async function withLock<T>(
  file: string,
  what: string,
  work: () => T | Promise<T>,
  waitMs = defaultWaitMs,
): Promise<T> {
  const { Database } = await import("bun:sqlite");
  const open = () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    return new Database(file, { create: true });
  };
  const database = tried(open, what);
  const run = (statement: string) => tried(() => database.run(statement), what);
  try {
    run("PRAGMA busy_timeout = 0");
    const deadline = performance.now() + waitMs;
    while (!isTaken(() => database.run("BEGIN EXCLUSIVE"), what)) {
      if (performance.now() > deadline) {
        throw new ClaudikinsError("CALL_TIMEOUT", `Another claudikins works with ${what} and does not end`, {
          hint: "Try again, or end the other one.",
        });
      }
      await Bun.sleep(10 + Math.random() * 20);
    }
    try {
      return await work();
    } finally {
      run("ROLLBACK");
    }
  } finally {
    database.close();
  }
}

function isTaken(begin: () => unknown, what: string): boolean {
  try {
    begin();
    return true;
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY")) return false;
    throw notLockable(error, what);
  }
}

function tried<T>(step: () => T, what: string): T {
  try {
    return step();
  } catch (error) {
    throw notLockable(error, what);
  }
}

/** Without the path: it may be read by code that runs in the sandbox. */
function notLockable(error: unknown, what: string): ClaudikinsError {
  const why = systemCodeOf(error) ?? "no reason given";
  return new ClaudikinsError("FILE_NOT_WRITABLE", `The file of ${what} cannot be locked: ${why}`, {
    hint: "See whether claudikins may write to its data folder.",
  });
}
