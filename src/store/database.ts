/**
 * The database of what outlives a process: executions that wait, the calls that they have open, and approvals. One SQLite file for
 * each user, which several processes use at once.
 */
import type { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, messageOf } from "../errors.ts";
import { writtenByNewer } from "../newer.ts";

/** Time that a process waits for another one that writes. */
const busyMs = 10_000;

/** Each step leads from one version of the schema to the next. Steps are never changed, only added. */
const steps = [
  `CREATE TABLE executions (
     id TEXT PRIMARY KEY,
     -- The config file; null for the demo.
     config TEXT,
     -- open or ended.
     state TEXT NOT NULL,
     -- The process that runs the execution: the name of its lock, see owner.ts. Null if none does.
     owner TEXT,
     startedAt INTEGER NOT NULL,
     changedAt INTEGER NOT NULL,
     -- When the execution goes on, if it waits for nothing but a timer.
     wakeAt INTEGER,
     -- Set by a process that wants the owner to cancel the execution.
     isCancelled INTEGER NOT NULL DEFAULT 0,
     -- Whether somebody has its id, and may ask for the outcome.
     isWanted INTEGER NOT NULL DEFAULT 0,
     -- The build that saved the program, see engineMark.
     engine TEXT,
     -- JSON: what it takes to run the execution, and to list it.
     request TEXT NOT NULL,
     -- The serialized program: memory, timers, logs, displays, receipt so far. Null if the execution cannot be continued.
     program BLOB,
     -- Why there is no program.
     unsaved TEXT,
     -- Whether it succeeded. Null while it is open.
     ok INTEGER,
     -- JSON: how it ended.
     outcome TEXT
   ) STRICT;
   CREATE TABLE calls (
     execution TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
     call INTEGER NOT NULL,
     -- JSON: the call as the program made it.
     message TEXT NOT NULL,
     -- made, sent or answered. A call is sent only after this says so.
     state TEXT NOT NULL,
     -- Whether it may be sent again. Known when it is sent.
     repeatable INTEGER NOT NULL DEFAULT 0,
     -- JSON: the answer.
     answer TEXT,
     PRIMARY KEY (execution, call)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE approvals (
     id TEXT PRIMARY KEY,
     -- The config file; null for the demo.
     config TEXT,
     -- The execution that waits for it, and the number of its call.
     execution TEXT NOT NULL,
     call INTEGER NOT NULL,
     -- The process that waits for it: the name of its lock, see owner.ts.
     owner TEXT NOT NULL,
     -- The line of the code that makes the call: its number and its text.
     line INTEGER,
     code TEXT,
     server TEXT NOT NULL,
     tool TEXT NOT NULL,
     -- JSON: the arguments, whole, without the secrets of the config.
     args TEXT NOT NULL,
     -- Why a person is asked, as the end of "You are asked because …".
     why TEXT NOT NULL,
     -- JSON: the parts of the tool that have changed since an earlier permission, or null.
     changed TEXT,
     -- JSON: digests of everything that the approval is bound to, by names that a person understands.
     bound TEXT NOT NULL,
     -- open, approved, denied, expired or withdrawn.
     state TEXT NOT NULL,
     -- Whether an approval counts for further calls of the tool: once or session.
     scope TEXT,
     askedAt INTEGER NOT NULL,
     expiresAt INTEGER NOT NULL,
     decidedAt INTEGER,
     -- Where it was decided: agent, terminal, page or command.
     decidedBy TEXT
   ) STRICT;
   CREATE INDEX openApprovals ON approvals (state, askedAt);
   CREATE INDEX approvalsOfExecution ON approvals (execution, call)`,
];

/**
 * Opens the database, and creates it if it is missing. Only its user may read it. Throws FILE_NOT_WRITABLE, and
 * VERSION_TOO_OLD if a newer claudikins has changed its schema.
 */
export async function openDatabase(file: string): Promise<Database> {
  const sqlite = await import("bun:sqlite");
  let database: Database | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // SQLite gives its other files the mode of this one.
    closeSync(openSync(file, "a", 0o600));
    if (process.platform !== "win32") chmodSync(file, 0o600);
    database = new sqlite.Database(file, { strict: true, create: true });
    database.run(`PRAGMA busy_timeout = ${busyMs}`);
    await useWal(database);
    // A line of the journal must survive a loss of power.
    database.run("PRAGMA synchronous = FULL");
    database.run("PRAGMA foreign_keys = ON");
    migrate(database);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof ClaudikinsError) throw error;
    // The message has no path, because code in the sandbox may read it.
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot open the store of executions: ${messageOf(error)}`, {
      hint: "Check that claudikins can write to its data folder.",
      cause: error,
    });
  }
}

/** Whether a newer version has changed the schema. Changes nothing. */
export async function isNewerDatabase(file: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  const sqlite = await import("bun:sqlite");
  using database = new sqlite.Database(file, { readonly: true });
  return versionOf(database) > steps.length;
}

function versionOf(database: Database): number {
  return database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}

/** SQLite does not wait for other processes that open a new database at the same moment. */
async function useWal(database: Database): Promise<void> {
  for (const deadline = performance.now() + busyMs; ; ) {
    try {
      database.run("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      const isBusy = (error as { code?: unknown }).code === "SQLITE_BUSY";
      if (!isBusy || performance.now() > deadline) throw error;
      await Bun.sleep(5 + Math.random() * 10);
    }
  }
}

function migrate(database: Database): void {
  if (versionOf(database) === steps.length) return;
  database
    .transaction(() => {
      const version = versionOf(database);
      if (version > steps.length) {
        throw writtenByNewer("the store of executions");
      }
      for (const step of steps.slice(version)) database.run(step);
      database.run(`PRAGMA user_version = ${steps.length}`);
    })
    .immediate();
}
