/**
 * The database of what outlives a process: executions that wait, the calls that they have open, approvals, the audit log, records and
 * counts. One SQLite file for each user, which several processes use at once.
 */
import type { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { writtenByNewer } from "../../base/newer.ts";
import { databaseBusyMs } from "../limits.ts";

/**
 * Pages of the write-ahead log before any other thread copies them into the database. The store's own thread does it after
 * 1000 pages, so that others rarely have to.
 */
const checkpointPages = 8_000;

/**
 * Each step leads from one version of the schema to the next. Steps are never changed, only added. `StoredExecution`, `StoredCall` and
 * `Approval` describe the columns.
 */
const steps = [
  `CREATE TABLE executions (
     id TEXT PRIMARY KEY,
     config TEXT,
     state TEXT NOT NULL,
     owner TEXT,
     startedAt INTEGER NOT NULL,
     changedAt INTEGER NOT NULL,
     wakeAt INTEGER,
     isCancelled INTEGER NOT NULL DEFAULT 0,
     isWanted INTEGER NOT NULL DEFAULT 0,
     engine TEXT,
     request TEXT NOT NULL,
     program BLOB,
     unsaved TEXT,
     ok INTEGER,
     outcome TEXT
   ) STRICT;
   CREATE TABLE calls (
     execution TEXT NOT NULL REFERENCES executions (id) ON DELETE CASCADE,
     call INTEGER NOT NULL,
     message TEXT NOT NULL,
     state TEXT NOT NULL,
     repeatable INTEGER NOT NULL DEFAULT 0,
     answer TEXT,
     PRIMARY KEY (execution, call)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE approvals (
     id TEXT PRIMARY KEY,
     config TEXT,
     execution TEXT NOT NULL,
     call INTEGER NOT NULL,
     owner TEXT NOT NULL,
     line INTEGER,
     code TEXT,
     server TEXT NOT NULL,
     tool TEXT NOT NULL,
     args TEXT NOT NULL,
     why TEXT NOT NULL,
     changed TEXT,
     bound TEXT NOT NULL,
     state TEXT NOT NULL,
     scope TEXT,
     askedAt INTEGER NOT NULL,
     expiresAt INTEGER NOT NULL,
     decidedAt INTEGER,
     decidedBy TEXT
   ) STRICT;
   CREATE INDEX openApprovals ON approvals (state, askedAt);
   CREATE INDEX approvalsOfExecution ON approvals (execution, call)`,
  // The arguments have a table of their own, so that lists do not read them, and are dropped once no decision is needed.
  `CREATE TABLE approvalArguments (
     approval TEXT PRIMARY KEY REFERENCES approvals (id) ON DELETE CASCADE,
     args TEXT NOT NULL
   ) STRICT;
   INSERT INTO approvalArguments SELECT id, args FROM approvals WHERE state = 'open';
   ALTER TABLE approvals ADD COLUMN excerpt TEXT NOT NULL DEFAULT '';
   ALTER TABLE approvals ADD COLUMN argsChars INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE approvals ADD COLUMN argsBytes INTEGER NOT NULL DEFAULT 0;
   UPDATE approvals SET excerpt = substr(args, 1, 2000), argsChars = length(args), argsBytes = length(CAST(args AS BLOB));
   ALTER TABLE approvals DROP COLUMN args;
   CREATE TRIGGER argumentsOfOpenOnly AFTER UPDATE OF state ON approvals WHEN new.state <> 'open' BEGIN
     DELETE FROM approvalArguments WHERE approval = new.id;
   END;
   CREATE INDEX dueApprovals ON approvals (state, expiresAt);
   CREATE INDEX approvalsOfConfig ON approvals (config, state, decidedAt)`,
];

/** The trigger that keeps the lines of the audit log. */
export const auditIsNotCut = `CREATE TRIGGER auditIsNotCut BEFORE DELETE ON audit BEGIN
     SELECT RAISE(ABORT, 'lines of the audit log are only added');
   END`;

/**
 * What versions with the same steps may lack, by name: they go on using the database, and continue the programs that they have saved.
 */
const additions = {
  // Each part of an image is a row, so that no write is large.
  pages: `CREATE TABLE pages (
     execution TEXT NOT NULL,
     page INTEGER NOT NULL,
     version INTEGER NOT NULL,
     bytes BLOB NOT NULL,
     PRIMARY KEY (execution, page, version)
   ) STRICT`,
  // An execution is stored with or after its first image. Until then, this names the process that writes it.
  saving: `CREATE TABLE saving (
     execution TEXT PRIMARY KEY,
     owner TEXT NOT NULL
   ) STRICT`,
  // The records of executions. `summary` is for lists.
  records: `CREATE TABLE records (
     id TEXT PRIMARY KEY,
     at INTEGER NOT NULL,
     bytes INTEGER NOT NULL,
     summary TEXT NOT NULL,
     rest TEXT NOT NULL
   ) STRICT`,
  // The ledger: rows of writes have `at`, in seconds, and sums have their day, month or year as `period`.
  counts: `CREATE TABLE counts (
     id INTEGER PRIMARY KEY,
     at INTEGER,
     period TEXT,
     json TEXT NOT NULL
   ) STRICT`,
  // The audit log. `sha256` is the hash of the line, which the next line has too.
  audit: `CREATE TABLE audit (
     place INTEGER PRIMARY KEY AUTOINCREMENT,
     line TEXT NOT NULL,
     sha256 TEXT NOT NULL
   ) STRICT`,
  auditIsNotChanged: `CREATE TRIGGER auditIsNotChanged BEFORE UPDATE ON audit BEGIN
     SELECT RAISE(ABORT, 'lines of the audit log are only added');
   END`,
  auditIsNotCut,
  // How much of each quota was used, in a time span.
  quotaUses: `CREATE TABLE quotaUses (
     key TEXT NOT NULL,
     fromAt INTEGER NOT NULL,
     toAt INTEGER NOT NULL,
     amount INTEGER NOT NULL,
     PRIMARY KEY (key, fromAt)
   ) STRICT`,
  // The doors of approvals that are behind one.
  approvalDoors: `CREATE TABLE approvalDoors (
     approval TEXT PRIMARY KEY REFERENCES approvals (id) ON DELETE CASCADE,
     door TEXT NOT NULL
   ) STRICT`,
  // Why a person is asked, as the agent reads it.
  approvalReasons: `CREATE TABLE approvalReasons (
     approval TEXT PRIMARY KEY REFERENCES approvals (id) ON DELETE CASCADE,
     told TEXT NOT NULL
   ) STRICT`,
  // The people whose programs ask, of approvals that a person's program waits for.
  approvalPeople: `CREATE TABLE approvalPeople (
     approval TEXT PRIMARY KEY REFERENCES approvals (id) ON DELETE CASCADE,
     person TEXT NOT NULL,
     name TEXT NOT NULL
   ) STRICT`,
  // The people who have signed in to serve --http, see people.ts.
  people: `CREATE TABLE people (
     config TEXT NOT NULL,
     id TEXT NOT NULL,
     issuer TEXT NOT NULL,
     subject TEXT NOT NULL,
     name TEXT NOT NULL,
     email TEXT,
     doors TEXT NOT NULL,
     firstAt INTEGER NOT NULL,
     lastAt INTEGER NOT NULL,
     revokedAt INTEGER,
     PRIMARY KEY (config, id)
   ) STRICT, WITHOUT ROWID`,
  // The groups in the token of each person that was issued last. `groups` is JSON.
  newestGroups: `CREATE TABLE newestGroups (
     config TEXT NOT NULL,
     id TEXT NOT NULL,
     issuedAt REAL NOT NULL,
     groups TEXT NOT NULL,
     PRIMARY KEY (config, id)
   ) STRICT, WITHOUT ROWID`,
  newestGroupsByTime: "CREATE INDEX newestGroupsByTime ON newestGroups (issuedAt)",
  // The labels of what was read, see labels.ts.
  labels: `CREATE TABLE labels (
     holder TEXT NOT NULL,
     label TEXT NOT NULL,
     source TEXT NOT NULL,
     at INTEGER NOT NULL,
     PRIMARY KEY (holder, label, source)
   ) STRICT, WITHOUT ROWID`,
  labelsOfExecution: `CREATE TRIGGER labelsOfExecution AFTER DELETE ON executions BEGIN
     DELETE FROM labels WHERE holder = 'execution ' || old.id;
   END`,
  // The files of earlier versions whose contents are here.
  // Rows are large, so that looking at each of 3,000 took 60 ms.
  executionsByStart: "CREATE INDEX executionsByStart ON executions (config, startedAt)",
  openExecutions: "CREATE INDEX openExecutions ON executions (config, owner) WHERE state = 'open'",
  approvalsByDecision: "CREATE INDEX approvalsByDecision ON approvals (decidedAt)",
  takenOver: `CREATE TABLE takenOver (name TEXT PRIMARY KEY) STRICT`,
  pagesOfExecution: `CREATE TRIGGER pagesOfExecution AFTER DELETE ON executions BEGIN
     DELETE FROM pages WHERE execution = old.id;
   END`,
};

/**
 * Opens the database, and creates it if it is missing. Only its user may read it. Throws FILE_NOT_WRITABLE, and
 * VERSION_TOO_OLD if a newer claudikins has changed its schema. `isWriter` is for threads that only write. Without `isDurable`, the last
 * writes may be lost with the machine's power, and a write need not wait for the disk.
 */
export async function openDatabase(
  file: string,
  { isWriter = false, isDurable = true }: { isWriter?: boolean; isDurable?: boolean } = {},
): Promise<Database> {
  const sqlite = await import("bun:sqlite");
  let database: Database | undefined;
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    // SQLite gives its other files the mode of this one.
    closeSync(openSync(file, "a", 0o600));
    if (process.platform !== "win32") chmodSync(file, 0o600);
    database = new sqlite.Database(file, { strict: true, create: true });
    database.run(`PRAGMA busy_timeout = ${databaseBusyMs}`);
    // The file shrinks when programs have ended. An earlier database is rewritten for this, see store-thread.ts.
    if (statSync(file).size === 0) database.run("PRAGMA auto_vacuum = INCREMENTAL");
    // What was deleted must not stay in free pages.
    database.run("PRAGMA secure_delete = ON");
    await useWal(database);
    if (!isWriter) database.run(`PRAGMA wal_autocheckpoint = ${checkpointPages}`);
    // A line of the journal must survive a loss of power.
    database.run(`PRAGMA synchronous = ${isDurable ? "FULL" : "NORMAL"}`);
    database.run("PRAGMA foreign_keys = ON");
    migrate(database);
    return database;
  } catch (error) {
    database?.close();
    if (error instanceof ClaudikinsError) throw error;
    // The message has no path, because code in the sandbox may read it.
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot open the database: ${messageOf(error)}`, {
      hint: "Check that claudikins can write to its data folder.",
      cause: error,
    });
  }
}

/** Whether a newer version has changed the schema. Changes nothing, and waits for a process that has locked the database. */
export async function isNewerDatabase(file: string): Promise<boolean> {
  if (!existsSync(file)) return false;
  const sqlite = await import("bun:sqlite");
  using database = new sqlite.Database(file, { readonly: true });
  database.run(`PRAGMA busy_timeout = ${databaseBusyMs}`);
  return versionOf(database) > steps.length;
}

function versionOf(database: Database): number {
  return database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}

/** SQLite does not wait for other processes that open a new database at the same moment. */
async function useWal(database: Database): Promise<void> {
  for (const deadline = performance.now() + databaseBusyMs; ; ) {
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
  if (versionOf(database) === steps.length && missing(database).length === 0) return;
  database
    .transaction(() => {
      const version = versionOf(database);
      if (version > steps.length) {
        throw writtenByNewer("the database");
      }
      for (const step of steps.slice(version)) database.run(step);
      for (const addition of missing(database)) database.run(addition);
      database.run(`PRAGMA user_version = ${steps.length}`);
    })
    .immediate();
}

function missing(database: Database): string[] {
  const names = new Set(
    database
      .query<{ name: string }, []>("SELECT name FROM sqlite_master")
      .all()
      .map(({ name }) => name),
  );
  return Object.entries(additions).flatMap(([name, addition]) => (names.has(name) ? [] : [addition]));
}
