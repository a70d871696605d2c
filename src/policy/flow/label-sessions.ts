/**
 * The sessions of a process and the data that they have read. The database keeps the labels with executions, files, and clients of `serve
 * --http`.
 */
import { dirname, sep } from "node:path";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { sha256 } from "../../base/sha256.ts";
import { dayMs } from "../../base/units.ts";
import { executionHolder, type LabelChange } from "../../store/labels.ts";
import type { Store } from "../../store/store.ts";
import { type Read, type ReadKeeper, SessionReads } from "./session-reads.ts";

/** Sessions of clients of `serve --http` in memory. Others are read from the database when they come back. */
const maxKnownSessions = 10_000;

/** Time between two checks whether other processes have written labelled files. */
const labelLookMs = 1_000;

/** Days that labels of clients are kept after they were last written. The labels of executions and files go with them. */
const labelKeptDays = 30;

const clientPrefix = "client ";

/** The holder of a file's labels. For a path with a separator at its end, the prefix of all holders in the folder. */
export function fileHolder(path: string): string {
  return `file ${path}`;
}

/** Prefixes of the holders of labels other than executions. */
const holders = {
  file: fileHolder,
  server: (config: string, server: string) => `server ${sha256(`${config} ${server}`)}`,
  client: (key: string) => `${clientPrefix}${sha256(key)}`,
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

  /** The session of a connection, or of a program at a shell. */
  ofConnection(): SessionReads {
    return new SessionReads(this.#keeper());
  }

  /** The session of a client of `serve --http`, even if another process has served it before. */
  ofClient(key: string): Promise<SessionReads> {
    const known = this.#clients.get(key);
    if (known) return known;
    const [oldest] = this.#clients.keys();
    if (oldest !== undefined && this.#clients.size >= maxKnownSessions) this.#clients.delete(oldest);
    const holder = holders.client(key);
    const opened = this.#of([holder]).then((reads) => {
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
    return this.#of([executionHolder(id)]);
  }

  /** Forgets an execution that was not stored. */
  async forgetExecution(id: string): Promise<void> {
    await this.#change({ remove: [executionHolder(id)] });
  }

  /** The labels of a file, of everything in it if it is a folder, and of the folders that it is in, up to `top`. */
  async ofFile(path: string, top = path): Promise<Read[]> {
    if (!(await this.#hasFiles())) return [];
    const wanted = [holders.file(path)];
    for (let folder = path; folder.length > top.length; folder = dirname(folder))
      wanted.push(holders.file(dirname(folder)));
    return this.#of(wanted, holders.file(path + sep));
  }

  /** Whether any file has labels. */
  async #hasFiles(): Promise<boolean> {
    const now = performance.now();
    if (!this.#files.any && now - this.#files.lookedAt > labelLookMs) {
      this.#files = { any: await this.#store.labels.hasBelow(holders.file("")), lookedAt: now };
    }
    return this.#files.any;
  }

  /** Call this when a session has written a file. With `replaces`, nothing of its old content is left. */
  async wroteFile(path: string, session: SessionReads, { replaces }: { replaces: boolean }): Promise<void> {
    const reads = session.all;
    if (reads.length === 0 && !(replaces && (await this.ofFile(path)).length > 0)) return;
    this.#files.any = true;
    const holder = holders.file(path);
    await this.#change({
      ...(replaces ? { remove: [holder] } : {}),
      add: { holders: [holder], labels: reads, at: Date.now() },
    });
  }

  /** The reads that were written into a server from other sources. */
  ofServer(config: string, server: string): Promise<Read[]> {
    return this.#of([holders.server(config, server)]);
  }

  async wroteServer(config: string, server: string, labels: readonly Read[]): Promise<void> {
    await this.#change({ add: { holders: [holders.server(config, server)], labels, at: Date.now() } });
  }

  #keeper(own?: string): ReadKeeper {
    return {
      keep: (labels) => {
        if (own === undefined) return undefined;
        const at = Date.now();
        const prune = { prefix: clientPrefix, before: at - labelKeptDays * dayMs };
        return this.#change({ prune, add: { holders: [own], labels, at } });
      },
      keepFor: (execution, labels) =>
        this.#change({ add: { holders: [executionHolder(execution)], labels, at: Date.now() } }),
    };
  }

  async #of(names: readonly string[], prefix?: string): Promise<Read[]> {
    return (await this.#store.labels.of({ holders: names, ...(prefix === undefined ? {} : { prefix }) })) as Read[];
  }

  /** If the database cannot be written, only this process knows the labels. */
  async #change(change: LabelChange): Promise<void> {
    try {
      await this.#store.labels.change(change);
    } catch (error) {
      this.#log.warn(`Cannot store what a session has read: ${messageOf(error)}`);
    }
  }
}
