/** The sessions of a process and what they have read. It is kept in the database with executions, files, and clients of `serve --http`. */
import { dirname, sep } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { sha256 } from "../../base/sha256.ts";
import { dayMs } from "../../base/units.ts";
import type { StoredLabel } from "../../store/labels.ts";
import { LabelTable } from "../../store/sqlite/labels.ts";
import type { Store } from "../../store/sqlite/store.ts";
import { labelKeptDays, labelLookMs, maxKnownSessions } from "../limits.ts";
import { type Read, type ReadKeeper, SessionReads } from "./session-reads.ts";

/** Names of what labels are kept for. */
const holders = {
  execution: (id: string) => `execution ${id}`,
  file: (path: string) => `file ${path}`,
  client: (key: string) => `client ${sha256(key)}`,
};

export class LabelSessions {
  readonly #store: Store;
  readonly #log: Log;
  /** Whether files have labels, and when that was looked up. */
  #files = { any: false, lookedAt: Number.NEGATIVE_INFINITY };
  readonly #clients = new Map<string, Promise<SessionReads>>();

  constructor({ store, log }: { store: Store; log: Log }) {
    this.#store = store;
    this.#log = log;
  }

  /** The session of a connection. */
  ofConnection(): SessionReads {
    return new SessionReads(this.#keeper());
  }

  /** The session of a client of `serve --http`, also if another process has served it. */
  ofClient(key: string): Promise<SessionReads> {
    const known = this.#clients.get(key);
    if (known) return known;
    const [oldest] = this.#clients.keys();
    if (oldest !== undefined && this.#clients.size >= maxKnownSessions) this.#clients.delete(oldest);
    const holder = holders.client(key);
    const opened = this.#read((table) => table.of(holder)).then((reads) => {
      const session = new SessionReads(this.#keeper(holder));
      session.restore(reads);
      return session;
    });
    this.#clients.set(key, opened);
    // The next request tries again.
    opened.catch(() => this.#clients.delete(key));
    return opened;
  }

  /** The data that an execution had read when it was stored. */
  ofExecution(id: string): Promise<Read[]> {
    return this.#read((table) => table.of(holders.execution(id)));
  }

  /** Forgets an execution that was not stored. */
  async forgetExecution(id: string): Promise<void> {
    await this.#write((table) => table.remove(holders.execution(id)));
  }

  /** The labels of a file, of everything in it if it is a folder, and of the folders that it is in, up to `top`. */
  async ofFile(path: string, top = path): Promise<Read[]> {
    if (!(await this.#hasFiles())) return [];
    return this.#read((table) => {
      const found = [...table.of(holders.file(path)), ...table.below(holders.file(path + sep))];
      for (let folder = path; folder.length > top.length; folder = dirname(folder))
        found.push(...table.of(holders.file(dirname(folder))));
      return found;
    });
  }

  /** Whether any file has labels. */
  async #hasFiles(): Promise<boolean> {
    const now = performance.now();
    if (!this.#files.any && now - this.#files.lookedAt > labelLookMs) {
      const found = await this.#store.read((database) => new LabelTable(database).hasBelow("file "));
      this.#files = { any: found === true, lookedAt: now };
    }
    return this.#files.any;
  }

  /** A session has written a file. `replaces`: nothing is left of what it had. */
  async wroteFile(path: string, session: SessionReads, { replaces }: { replaces: boolean }): Promise<void> {
    const reads = session.all;
    if (reads.length === 0 && !(replaces && (await this.ofFile(path)).length > 0)) return;
    this.#files.any = true;
    await this.#write((table) => {
      if (replaces) table.remove(holders.file(path));
      table.add(holders.file(path), reads, Date.now());
    });
  }

  #keeper(own?: string): ReadKeeper {
    return {
      keep: (reads, executions) =>
        this.#write((table) => {
          const now = Date.now();
          if (own !== undefined) table.prune("client ", now - labelKeptDays * dayMs);
          const names = [...executions.map(holders.execution), ...(own === undefined ? [] : [own])];
          for (const name of names) table.add(name, reads, now);
        }),
    };
  }

  async #read(work: (table: LabelTable) => StoredLabel[]): Promise<Read[]> {
    return ((await this.#store.read((database) => work(new LabelTable(database)))) ?? []) as Read[];
  }

  /** If the database cannot be written, only this process knows the labels. */
  async #write(work: (table: LabelTable) => void): Promise<void> {
    try {
      await this.#store.write((database) => work(new LabelTable(database)));
    } catch (error) {
      this.#log.warn(`Cannot store what a session has read: ${messageOf(error)}`);
    }
  }
}
