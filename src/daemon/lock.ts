/** Who may listen: a lock that the kernel takes back when its holder dies, however that happens. */
import { Database } from "bun:sqlite";
import { ClaudikinsError, messageOf } from "../errors.ts";

export interface Lock {
  release(): void;
}

/** Undefined while another process has it. The file is an empty database. Throws FILE_NOT_WRITABLE. */
export function takeLock(file: string): Lock | undefined {
  let database: Database | undefined;
  try {
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
  } catch (cause) {
    database?.close();
    if (String((cause as { code?: unknown }).code).startsWith("SQLITE_BUSY")) return undefined;
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot lock ${file}: ${messageOf(cause)}`, { cause });
  }
}
