/**
 * The database of what outlives a process: executions that wait, the calls that they have open, approvals, the audit log, records and
 * counts. One SQLite file for each user, which several processes use at once.
 */
import type { Database } from "bun:sqlite";
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { writtenByNewer } from "../../base/newer.ts";
import { databaseBusyMs } from "../limits.ts";
import { laterTables, missingTablesFor, schemaVersion, type TypeWords, tablesFor } from "../tables.ts";
import { camelOf, done, type Statement, type Values, type Work } from "../work.ts";

export const auditProtection = {
  off: "DROP TRIGGER IF EXISTS audit_is_not_cut",
  on: `CREATE TRIGGER audit_is_not_cut BEFORE DELETE ON audit BEGIN
    SELECT RAISE(ABORT, 'lines of the audit log are only added');
  END`,
};

const words: TypeWords = {
  ID: "TEXT",
  NUMBER: "REAL",
  FLAG: "INTEGER",
  BYTES: "BLOB",
  PLACE: "INTEGER PRIMARY KEY",
  BY_DAY: "",
};

const tables = () =>
  ofSqlite(`${tablesFor(words)}
CREATE TRIGGER audit_is_not_changed BEFORE UPDATE ON audit BEGIN
  SELECT RAISE(ABORT, 'lines of the audit log are only added');
END;
${auditProtection.on};
CREATE TRIGGER audit_end_stays BEFORE DELETE ON audit_end BEGIN
  SELECT RAISE(ABORT, 'lines of the audit log are only added');
END;
CREATE TRIGGER audit_end_grows BEFORE UPDATE ON audit_end WHEN new.place <= old.place BEGIN
  SELECT RAISE(ABORT, 'lines of the audit log are only added');
END;
PRAGMA user_version = ${schemaVersion};`);

function ofSqlite(statements: string): string {
  return statements.replaceAll("claudikins.", "").replaceAll(/\n\) ?;/g, "\n) STRICT;");
}

interface DatabaseOptions {
  /** Without it, the last writes may be lost with the machine's power, and a write need not wait for the disk. */
  isDurable?: boolean;
  /** Whether a write may copy a long write-ahead log into the database, which takes 100 ms and more. Not on a main thread. */
  checkpoints?: boolean;
}

/**
 * Opens the database, and creates it if it is missing. Only its user may read it. Throws FILE_NOT_WRITABLE, and
 * VERSION_TOO_OLD if a newer claudikins has changed its schema.
 */
export async function openDatabase(
  file: string,
  { isDurable = true, checkpoints = true }: DatabaseOptions = {},
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
    // What was deleted must not stay in free pages.
    database.run("PRAGMA secure_delete = ON");
    await begin(database, file);
    if (!checkpoints) database.run("PRAGMA wal_autocheckpoint = 0");
    // A line of the journal must survive a loss of power.
    database.run(`PRAGMA synchronous = ${isDurable ? "FULL" : "NORMAL"}`);
    database.run("PRAGMA foreign_keys = ON");
    makeTables(database);
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
  return versionOf(database) > schemaVersion;
}

function versionOf(database: Database): number {
  return database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}

/** Sets what a file keeps. SQLite does not wait for other processes that do the same in a new database. */
async function begin(database: Database, file: string): Promise<void> {
  for (const deadline = performance.now() + databaseBusyMs; ; ) {
    try {
      // The file shrinks when programs have ended.
      if (statSync(file).size === 0) database.run("PRAGMA auto_vacuum = INCREMENTAL");
      database.run("PRAGMA journal_mode = WAL");
      return;
    } catch (error) {
      if (!raced.includes(systemCodeOf(error)) || performance.now() > deadline) throw error;
      await Bun.sleep(5 + Math.random() * 10);
    }
  }
}

/** Another process changes the file, or has removed what a killed process had left of its first transaction. */
const raced: readonly unknown[] = ["SQLITE_BUSY", "SQLITE_IOERR_DELETE_NOENT"];

function makeTables(database: Database): void {
  if (versionOf(database) === schemaVersion && laterTablesIn(database).length === laterNames.length) return;
  database
    .transaction(() => {
      const version = versionOf(database);
      if (version > schemaVersion) throw writtenByNewer("the database");
      const missing = version === 0 ? tables() : ofSqlite(missingTablesFor(words, laterTablesIn(database)));
      // Another process may have added them meanwhile.
      if (missing !== "") database.run(missing);
    })
    .immediate();
}

const laterNames = Object.keys(laterTables);

function laterTablesIn(database: Database): string[] {
  const named = laterNames.map((name) => `'${name}'`).join(", ");
  const query = database.query<{ name: string }, []>(
    `SELECT name FROM sqlite_master WHERE type = 'table' AND name IN (${named})`,
  );
  return query.all().map(({ name }) => name);
}

/** Does work as one transaction. */
export function transact<T>(database: Database, work: () => Work<T>): T {
  return database.transaction(() => workIn(database, work())).immediate();
}

export function workIn<T>(database: Database, work: Work<T>): T {
  return done(work, (statement) => answerOf(database, statement));
}

function answerOf(database: Database, { text, values, wants }: Statement): unknown {
  // Others see changes in the file, and a transaction is the only writer.
  if (wants === "tell" || wants === "lock") return undefined;
  const query = database.query<unknown, [Bindings]>(translated(text));
  const bound: Bindings = {};
  for (const name in values) bound[name] = bindingOf(values[name]);
  if (wants === "count") return query.run(bound).changes;
  if (!query.columnNames.some((column) => column.includes("_"))) return query.all(bound);
  const rows = query.values(bound) as unknown[][];
  const columns = query.columnNames.map((column) => [camelOf(column), column.startsWith("is_")] as const);
  return rows.map((values) => {
    const row: Record<string, unknown> = {};
    for (const [place, [name, isFlag]] of columns.entries()) row[name] = isFlag ? values[place] === 1 : values[place];
    return row;
  });
}

type Binding = string | number | boolean | null | Uint8Array;
type Bindings = Record<string, Binding>;

function bindingOf(value: Values[string]): Binding {
  return Array.isArray(value) ? JSON.stringify(value) : ((value ?? null) as Binding);
}

/** Statements are few, so all of them are remembered. */
const known = new Map<string, string>();

function translated(text: string): string {
  return known.getOrInsertComputed(text, () =>
    text
      .replaceAll("claudikins.", "")
      .replace(/\b(?:each|texts)\(/g, "json_each(")
      .replace(/ FOR UPDATE(?: SKIP LOCKED)?/g, ""),
  );
}
