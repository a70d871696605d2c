/** One process at a time: a lock that the kernel takes back when its holder dies, however that happens. */
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, systemCodeOf } from "../../errors.ts";

/** Nobody holds one longer than some requests to an authorization server take. */
const defaultWaitMs = 60_000;

/**
 * Does the work while no other process, nor anybody else in this one, has the lock. The file is an empty database:
 * SQLite knows how each system locks files. Throws FILE_NOT_WRITABLE, CALL_TIMEOUT when it does not become free, and
 * what `work` throws.
 */
export async function withLock<T>(file: string, work: () => T | Promise<T>, waitMs = defaultWaitMs): Promise<T> {
  const { Database } = await import("bun:sqlite");
  const open = () => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    return new Database(file, { create: true });
  };
  const database = tried(open);
  const run = (statement: string) => tried(() => database.run(statement));
  try {
    run("PRAGMA busy_timeout = 0");
    const deadline = performance.now() + waitMs;
    while (!isTaken(() => database.run("BEGIN EXCLUSIVE"))) {
      if (performance.now() > deadline) {
        throw new ClaudikinsError("CALL_TIMEOUT", "Another claudikins works with the sign-ins and does not end", {
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

function isTaken(begin: () => unknown): boolean {
  try {
    begin();
    return true;
  } catch (error) {
    if (String((error as { code?: unknown }).code).startsWith("SQLITE_BUSY")) return false;
    throw notLockable(error);
  }
}

function tried<T>(what: () => T): T {
  try {
    return what();
  } catch (error) {
    throw notLockable(error);
  }
}

/** Without the path: it may be read by code that runs in the sandbox. */
function notLockable(error: unknown): ClaudikinsError {
  const why = systemCodeOf(error) ?? "no reason given";
  return new ClaudikinsError("FILE_NOT_WRITABLE", `The file of the sign-ins cannot be locked: ${why}`, {
    hint: "See whether claudikins may write to its data folder.",
  });
}
