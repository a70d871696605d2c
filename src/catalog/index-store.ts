/**
 * The registry's index in memory: read once, changed when servers are listed, and written back. Tools that the config denies are
 * neither in the index nor in the files. Only a process that has listed the server itself knows them.
 */
import { join } from "node:path";
import type { ServerConfig } from "../config/load.ts";
import { ClaudikinsError } from "../errors.ts";
import { removeFile, statsOf } from "../files.ts";
import { emptyIndex, indexFileName, type RegistryIndex, type RegistryServer } from "../registry/model.ts";
import { hideObserved } from "../registry/observed/store.ts";
import { preparedFileName } from "../registry/search/prepared.ts";
import { removeServer, tryIndex, updateIndex } from "../registry/store.ts";
import { runJob } from "../registry/work/run.ts";
import { visibleTools } from "./config-entry.ts";

/** Below both limits, the index is written on the main thread, which takes a few milliseconds. */
const manyTools = 500;
const largeBytes = 500_000;

const writeLimitMs = 60_000;

export class IndexStore {
  readonly #folder: string;
  /** Called with each server that is read from disk, to complete it. */
  readonly #complete: (server: RegistryServer) => void;
  /** The configured servers, as they are now. */
  readonly #configs: ReadonlyMap<string, ServerConfig>;
  /** Denied tools of the servers that this process has listed. */
  readonly #denied = new Map<string, Pick<RegistryServer, "fingerprint" | "tools">>();
  #index: RegistryIndex | undefined;
  /** Servers by name, and the index that they come from. */
  #byName: { of: RegistryIndex; servers: Map<string, RegistryServer> } | undefined;
  #problem: ClaudikinsError | undefined;
  /** Names of servers whose entry on disk is missing or old. */
  readonly #unwritten = new Set<string>();
  /** The last write. */
  #writing = Promise.resolve();
  readonly #listeners = new Set<(name: string) => void>();

  constructor(folder: string, configs: ReadonlyMap<string, ServerConfig>, complete: (server: RegistryServer) => void) {
    this.#folder = folder;
    this.#configs = configs;
    this.#complete = complete;
  }

  /** A new object after every change. */
  get index(): RegistryIndex {
    if (!this.#index) {
      const { index = emptyIndex, problem } = tryIndex(this.#folder);
      this.#index = index;
      this.#problem = problem;
      this.hideDenied();
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

  /** Includes the tools that the config denies, if this process has listed the server. */
  findWhole(name: string): RegistryServer | undefined {
    const found = this.find(name);
    const denied = this.#denied.get(name);
    if (!found || !denied || denied.tools.length === 0 || denied.fingerprint !== found.fingerprint) return found;
    return { ...found, tools: [...found.tools, ...denied.tools] };
  }

  /** `whole` has all tools that the server listed. */
  rememberDenied(whole: RegistryServer): void {
    const shown = new Set(this.#visible(whole).tools);
    const tools = whole.tools.filter((tool) => !shown.has(tool));
    this.#denied.set(whole.name, { fingerprint: whole.fingerprint, tools });
  }

  /** Calls the listener with each server that is remembered. Returns a function that ends this. */
  onRemembered(listener: (name: string) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Changes the index in memory only: `write` it later. */
  remember(server: RegistryServer): void {
    const others = this.index.servers.filter(({ name }) => name !== server.name);
    this.#index = { version: 1, servers: [...others, server].sort((a, b) => (a.name < b.name ? -1 : 1)) };
    for (const listener of this.#listeners) listener(server.name);
  }

  /** Changes the index in memory only: `write` it later. */
  forget(names: ReadonlySet<string>): void {
    this.#index = { version: 1, servers: this.index.servers.filter(({ name }) => !names.has(name)) };
  }

  /** Call this once the server's files are written or removed, so that the next `write` includes its entry. */
  changed(name: string): void {
    this.#unwritten.add(name);
  }

  /** Writes the entries that changed since the last write, one write after another. Throws FILE_NOT_WRITABLE. */
  write(): Promise<void> {
    const writing = this.#writing.catch(() => {}).then(() => this.#write());
    this.#writing = writing;
    return writing;
  }

  async #write(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const names = [...this.#unwritten];
    const ours = this.index.servers.filter(({ name }) => this.#unwritten.has(name));
    this.#unwritten.clear();
    try {
      if (this.#isSmall) updateIndex(this.#folder, names, ours);
      else {
        const texts = ours.map((server) => JSON.stringify(server));
        await runJob({ work: "index", folder: this.#folder, names, ours: texts }, writeLimitMs);
      }
      this.#problem = undefined;
    } catch (error) {
      for (const name of names) this.#unwritten.add(name);
      throw error;
    }
  }

  /** Whether the main thread may write the index: a large one is written in a worker. */
  get #isSmall(): boolean {
    const tools = this.index.servers.reduce((sum, server) => sum + server.tools.length, 0);
    return tools < manyTools && (statsOf(join(this.#folder, indexFileName))?.size ?? 0) < largeBytes;
  }

  /**
   * Removes from the registry what the config has denied since it was written. The remaining files of such a server are written
   * when it is listed again, which its changed fingerprint leads to.
   */
  hideDenied(): void {
    const before = this.#index?.servers ?? [];
    const servers = before.map((server) => this.#visible(server));
    const changed = servers.filter((server, at) => server !== before[at]);
    if (changed.length === 0) return;
    this.#index = { version: 1, servers };
    try {
      for (const server of changed) removeServer(this.#folder, server);
      hideObserved(this.#folder, servers);
      removeFile(join(this.#folder, preparedFileName));
      updateIndex(
        this.#folder,
        changed.map(({ name }) => name),
        changed,
      );
    } catch (error) {
      // This process hides the tools anyway, and the next process that may write here removes them.
      if (!(error instanceof ClaudikinsError && error.code === "FILE_NOT_WRITABLE")) throw error;
    }
  }

  #visible(server: RegistryServer): RegistryServer {
    return visibleTools(server, this.#configs.get(server.name));
  }
}
