/**
 * The registry's index as this process knows it: read once, changed with what servers tell, and written down. Tools that the
 * config denies are neither in it nor in the registry's files; which ones there are only the process knows that has asked.
 */
import { join } from "node:path";
import { ClaudikinsError } from "../errors.ts";
import { removeFile, statsOf } from "../files.ts";
import { emptyIndex, indexFileName, type RegistryIndex, type RegistryServer } from "../registry/model.ts";
import { hideObserved } from "../registry/observed/store.ts";
import { preparedFileName } from "../registry/search/prepared.ts";
import { readIndex, removeServer, updateIndex } from "../registry/store.ts";
import { runJob } from "../registry/work/run.ts";
import type { VisibleTools } from "./visible-tools.ts";

/** An index with fewer tools, in a smaller file, is read and written in some milliseconds. */
const manyTools = 500;
const largeBytes = 500_000;

const writeLimitMs = 60_000;

export class IndexStore {
  readonly #folder: string;
  /** Called with each server that is read from the index. */
  readonly #complete: (server: RegistryServer) => void;
  readonly #shown: VisibleTools;
  /** The tools that the config denies, as the servers have told this process. */
  readonly #denied = new Map<string, Pick<RegistryServer, "fingerprint" | "tools">>();
  #index: RegistryIndex | undefined;
  /** The servers of `of`, which is the index they were taken from. */
  #byName: { of: RegistryIndex; servers: Map<string, RegistryServer> } | undefined;
  #problem: ClaudikinsError | undefined;
  /** Names of those whose entry is not written down, or no longer the one that is. */
  readonly #unwritten = new Set<string>();
  /** The last write in a worker thread. */
  #writing: Promise<unknown> | undefined;
  readonly #listeners = new Set<(name: string) => void>();

  constructor(folder: string, shown: VisibleTools, complete: (server: RegistryServer) => void) {
    this.#folder = folder;
    this.#shown = shown;
    this.#complete = complete;
  }

  /** Another object after every change. */
  get index(): RegistryIndex {
    if (!this.#index) {
      this.#index = this.onDisk();
      this.#hideDenied(this.#index.servers);
      for (const server of this.#index.servers) this.#complete(server);
    }
    return this.#index;
  }

  /** Why the file could not be read. */
  get problem(): ClaudikinsError | undefined {
    void this.index;
    return this.#problem;
  }

  find(name: string): RegistryServer | undefined {
    const { index } = this;
    if (this.#byName?.of !== index) {
      this.#byName = { of: index, servers: new Map(index.servers.map((server) => [server.name, server])) };
    }
    return this.#byName.servers.get(name);
  }

  /** The same with the tools that the config denies, where this process has asked the server. */
  findWhole(name: string): RegistryServer | undefined {
    const found = this.find(name);
    const denied = this.#denied.get(name);
    if (!found || !denied || denied.tools.length === 0 || denied.fingerprint !== found.fingerprint) return found;
    return { ...found, tools: [...found.tools, ...denied.tools] };
  }

  /** `whole` is what the server has told this process. */
  rememberDenied(whole: RegistryServer): void {
    const shown = new Set(this.#shown.of(whole).tools);
    const tools = whole.tools.filter((tool) => !shown.has(tool));
    this.#denied.set(whole.name, { fingerprint: whole.fingerprint, tools });
  }

  /** Tells whenever something else is known of a server. What it gives ends that. */
  onRemembered(listener: (name: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** In memory; `write` comes later. */
  remember(server: RegistryServer): void {
    const others = this.index.servers.filter(({ name }) => name !== server.name);
    this.#index = { version: 1, servers: [...others, server].sort((a, b) => (a.name < b.name ? -1 : 1)) };
    for (const listener of this.#listeners) listener(server.name);
  }

  /** In memory; `write` comes later. */
  forget(names: ReadonlySet<string>): void {
    this.#index = { version: 1, servers: this.index.servers.filter(({ name }) => !names.has(name)) };
  }

  /** The server's files say what is remembered of it, or are gone as it is: the index may say so, too. */
  changed(name: string): void {
    this.#unwritten.add(name);
  }

  /**
   * Writes what has changed since the last time. A large index is written in a worker thread, one write after the other.
   * Throws FILE_NOT_WRITABLE.
   */
  async write(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const names = [...this.#unwritten];
    const ours = this.index.servers.filter(({ name }) => this.#unwritten.has(name));
    this.#unwritten.clear();
    try {
      if (this.#isSmall && this.#writing === undefined) updateIndex(this.#folder, names, ours);
      else await this.#writeInWorker(names, ours);
      this.#problem = undefined;
    } catch (error) {
      for (const name of names) this.#unwritten.add(name);
      throw error;
    }
  }

  get #isSmall(): boolean {
    const tools = this.index.servers.reduce((sum, server) => sum + server.tools.length, 0);
    return tools < manyTools && (statsOf(join(this.#folder, indexFileName))?.size ?? 0) < largeBytes;
  }

  async #writeInWorker(names: string[], ours: RegistryServer[]): Promise<void> {
    const job = {
      work: "index",
      folder: this.#folder,
      names,
      ours: ours.map((server) => JSON.stringify(server)),
    } as const;
    const writing = (this.#writing ?? Promise.resolve()).catch(() => {}).then(() => runJob(job, writeLimitMs));
    this.#writing = writing;
    try {
      await writing;
    } finally {
      if (this.#writing === writing) this.#writing = undefined;
    }
  }

  /**
   * Takes out of the registry what the config has denied since it was written. Files are written anew when the server is asked,
   * which its changed policy leads to.
   */
  #hideDenied(servers: readonly RegistryServer[]): void {
    const old = servers.filter((server) => this.#shown.of(server) !== server);
    if (old.length === 0) return;
    this.#index = { version: 1, servers: servers.map((server) => this.#shown.of(server)) };
    try {
      for (const server of old) removeServer(this.#folder, server);
      hideObserved(this.#folder, this.#index.servers);
      removeFile(join(this.#folder, preparedFileName));
      const names = old.map(({ name }) => name);
      updateIndex(
        this.#folder,
        names,
        old.map((server) => this.#shown.of(server)),
      );
    } catch (error) {
      // Nobody is shown them from here, and the next process that may write there removes them.
      if (!(error instanceof ClaudikinsError && error.code === "FILE_NOT_WRITABLE")) throw error;
    }
  }

  /** As the file is now; empty before the first `gen`, and where it is damaged. */
  onDisk(): RegistryIndex {
    try {
      return readIndex(this.#folder) ?? emptyIndex;
    } catch (error) {
      if (!(error instanceof ClaudikinsError && error.code === "REGISTRY_INVALID")) throw error;
      this.#problem = error;
      return emptyIndex;
    }
  }
}
