/**
 * The user's database as a process uses it on its main thread: one connection for reads and for small writes, which waits neither for other
 * processes nor, except for a moment, for the disk. What must be on the disk before something else happens is written by a worker.
 */
import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { systemCodeOf } from "../base/errors.ts";
import { openDatabase } from "./database.ts";
import { hasEarlierFiles, takeOverEarlierFiles } from "./earlier-files.ts";
import { databaseBusyMs } from "./limits.ts";

export class Store implements AsyncDisposable {
  readonly file: string;
  #opening: Promise<Database> | undefined;

  constructor(file: string) {
    this.file = file;
  }

  /** Runs `work`. Undefined if nothing was ever stored. Throws FILE_NOT_WRITABLE and VERSION_TOO_OLD, as all methods. */
  async read<T>(work: (database: Database) => T): Promise<T | undefined> {
    if (!this.#opening && !existsSync(this.file) && !hasEarlierFiles(this.file)) return undefined;
    return work(await this.#opened());
  }

  /** Runs `work` as one transaction, once no other process writes. After a loss of power, the last writes may be missing. */
  async write<T>(work: (database: Database) => T): Promise<T> {
    const database = await this.#opened();
    const transaction = database.transaction(work);
    for (const deadline = performance.now() + databaseBusyMs; ; await Bun.sleep(5 + Math.random() * 20)) {
      database.run("PRAGMA busy_timeout = 0");
      try {
        return transaction.immediate(database);
      } catch (error) {
        if (!systemCodeOf(error)?.startsWith("SQLITE_BUSY") || performance.now() > deadline) throw error;
      } finally {
        database.run(`PRAGMA busy_timeout = ${databaseBusyMs}`);
      }
    }
  }

  /** A later call opens the database again. */
  async [Symbol.asyncDispose](): Promise<void> {
    const opening = this.#opening;
    this.#opening = undefined;
    (await opening?.catch(() => undefined))?.close();
  }

  #opened(): Promise<Database> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      // The next caller tries again.
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #open(): Promise<Database> {
    const database = await openDatabase(this.file, { isDurable: false });
    await takeOverEarlierFiles(database, this.file);
    return database;
  }
}
