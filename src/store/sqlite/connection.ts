/**
 * The user's database as a process uses it on its main thread: one connection for reads and for small writes, which waits neither for other
 * processes nor, except for a moment, for the disk. What must be on the disk before something else happens is written by a worker.
 */
import type { Database } from "bun:sqlite";
import { existsSync } from "node:fs";
import { systemCodeOf } from "../../base/errors.ts";
import { statsOf } from "../../base/files.ts";
import { OffThread } from "../../base/off-thread.ts";
import { megabyte } from "../../base/units.ts";
import { databaseBusyMs } from "../limits.ts";
import { ofNothing, type Database as Shared, type Work } from "../work.ts";
import { openDatabase, workIn } from "./database.ts";
import type { CheckpointJob } from "./wal-worker.ts";

/** How often the database is looked at for changes of others, while a listener waits for them. */
export const storeLookMs = 250;

/** Does work as one transaction, once no other process writes. Other work of the thread goes on meanwhile. */
export async function writeTo<T>(database: Database, work: () => Work<T>): Promise<T> {
  const transaction = database.transaction(() => workIn(database, work()));
  for (const deadline = performance.now() + databaseBusyMs; ; await Bun.sleep(5 + Math.random() * 20)) {
    database.run("PRAGMA busy_timeout = 0");
    try {
      return transaction.immediate();
    } catch (error) {
      if (!systemCodeOf(error)?.startsWith("SQLITE_BUSY") || performance.now() > deadline) throw error;
    } finally {
      database.run(`PRAGMA busy_timeout = ${databaseBusyMs}`);
    }
  }
}

/** A write-ahead log of this size is copied into the database by a worker. The store's own thread does it with less, while it works. */
const longLogBytes = 16 * megabyte;

/** The size of the log is looked at after this many writes. A look takes 2 µs. */
const writesBetweenLooks = 20;

/** Time for a worker to copy the log. A worker that is ended leaves nothing half done. */
const checkpointMs = 60_000;

const checkpoints = new OffThread<CheckpointJob, object>("./store/sqlite/wal-worker.ts", { maxWorkers: 1 });

export class Connection implements Shared, AsyncDisposable {
  readonly file: string;
  readonly #listeners = new Set<() => void>();
  #opening: Promise<Database> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #writes = 0;
  #checkpoint: Promise<unknown> | undefined;
  /** The version of the data that the listeners know. */
  #known: number | undefined;

  constructor(file: string) {
    this.file = file;
  }

  /** Whether anything was ever stored. */
  get exists(): boolean {
    return this.#opening !== undefined || existsSync(this.file);
  }

  #opened(): Promise<Database> {
    this.#opening ??= openDatabase(this.file, { isDurable: false, checkpoints: false }).catch((error: unknown) => {
      // The next caller tries again.
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async read<T>(work: () => Work<T>): Promise<T> {
    return this.exists ? workIn(await this.#opened(), work()) : ofNothing(work());
  }

  /** After a loss of power, the last writes may be missing. */
  async write<T>(work: () => Work<T>): Promise<T> {
    const result = await writeTo(await this.#opened(), work);
    this.#checkpointLater();
    return result;
  }

  /** Lets a worker empty the write-ahead log when it is long. Nothing is lost if that fails: the log stays, and a later write tries again. */
  #checkpointLater(): void {
    this.#writes += 1;
    if (this.#writes % writesBetweenLooks !== 0 || (statsOf(`${this.file}-wal`)?.size ?? 0) < longLogBytes) return;
    this.#checkpoint ??= checkpoints
      .run({ file: this.file }, { limitMs: checkpointMs })
      .catch(() => {})
      .finally(() => {
        this.#checkpoint = undefined;
      });
  }

  /** The same, with writes that survive a loss of power: they have a connection of their own. */
  get durable(): Shared {
    return {
      read: (work) => this.read(work),
      write: async (work) => {
        using database = await openDatabase(this.file, { checkpoints: false });
        const result = await writeTo(database, work);
        this.#checkpointLater();
        return result;
      },
    };
  }

  /**
   * Calls the listener when another process, or another thread of this one, has changed the database. It does not keep the process alive.
   * Returns a function that ends this.
   */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    this.#timer ??= setInterval(() => void this.#look(), storeLookMs).unref();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#stopLooking();
    };
  }

  /** A later call opens the database again. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopLooking();
    const opening = this.#opening;
    this.#opening = undefined;
    (await opening?.catch(() => undefined))?.close();
  }

  #stopLooking(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#known = undefined;
  }

  async #look(): Promise<void> {
    try {
      const database = await this.#opened();
      const version = database.query<{ data_version: number }, []>("PRAGMA data_version").get()?.data_version;
      const hasChanged = version !== this.#known;
      this.#known = version;
      if (hasChanged) for (const listener of [...this.#listeners]) listener();
    } catch {
      // The file may be locked for long. The next look tries again.
    }
  }
}
