/**
 * The registry's index in memory: read once, changed when servers are listed, and written back. Tools that the config denies are
 * neither in the index nor in the files. Only a process that has listed the server itself knows them.
 */
import { join } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import { removeFile, statsOf } from "../../base/files.ts";
import { minToolsOffThread } from "../limits.ts";
import { emptyIndex, indexFileName, type RegistryIndex, type RegistryServer } from "../model.ts";
import { hideObserved } from "../observed/store.ts";
import { removeServer, updateIndex } from "../registry/store.ts";
import { preparedFileName } from "../search/prepared-index.ts";
import { runJob } from "../work/run.ts";
import { hasOtherEdits, visibleTools } from "./config-entry.ts";
import { inRegistry, type Registries, registryOf, storedServers } from "./registries.ts";

/** A larger index is written in a worker. */
const minIndexBytesOffThread = 500_000;

interface DeniedTools extends Pick<RegistryServer, "fingerprint" | "tools"> {
  /** The stored server with these tools, and the one without them that it was made of. */
  whole?: { of: RegistryServer; server: RegistryServer };
}

/** Time for a worker to write the index. */
const indexWriteMs = 60_000;

/** Gets the name of a server that was listed, and what was known of it before. */
type RememberedListener = (name: string, before: RegistryServer | undefined) => void;

export class IndexStore {
  /** The folders and the configured servers, as they are now. */
  readonly #config: Registries;
  /** Called with each server that is read from disk, to complete it. */
  readonly #complete: (server: RegistryServer) => void;
  /** Denied tools of the servers that this process has listed. */
  readonly #denied = new Map<string, DeniedTools>();
  #index: RegistryIndex | undefined;
  /** Servers by name, and the index that they come from. */
  #byName: { of: RegistryIndex; servers: Map<string, RegistryServer> } | undefined;
  #problem: ClaudikinsError | undefined;
  /** Names of servers whose entry on disk is missing or old. */
  readonly #unwritten = new Set<string>();
  /** The last write. */
  #writing = Promise.resolve();
  readonly #listeners = new Set<RememberedListener>();

  constructor(config: Registries, complete: (server: RegistryServer) => void) {
    this.#config = config;
    this.#complete = complete;
  }

  /** The folder of the config itself. */
  get #folder(): string {
    return this.#config.folders.registry;
  }

  /** A new object after every change. */
  get index(): RegistryIndex {
    if (!this.#index) {
      const { servers, problem } = storedServers(this.#config);
      this.#index = servers.length > 0 ? { version: 1, servers } : emptyIndex;
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
    return this.#named(this.index).get(name);
  }

  #named(index: RegistryIndex): Map<string, RegistryServer> {
    if (this.#byName?.of !== index) {
      this.#byName = { of: index, servers: new Map(index.servers.map((server) => [server.name, server])) };
    }
    return this.#byName.servers;
  }

  /** Includes the tools that the config denies, if this process has listed the server. */
  findWhole(name: string): RegistryServer | undefined {
    const found = this.find(name);
    const denied = this.#denied.get(name);
    if (!found || !denied || denied.tools.length === 0 || denied.fingerprint !== found.fingerprint) return found;
    // Kept, because each call asks for it, and a list of tools that stays the same is looked through once.
    if (denied.whole?.of !== found)
      denied.whole = { of: found, server: { ...found, tools: [...found.tools, ...denied.tools] } };
    return denied.whole.server;
  }

  /** `whole` has all tools that the server listed. */
  rememberDenied(whole: RegistryServer): void {
    const shown = new Set(this.#visible(whole).tools);
    const tools = whole.tools.filter((tool) => !shown.has(tool));
    this.#denied.set(whole.name, { fingerprint: whole.fingerprint, tools });
  }

  /** Calls the listener with each server that is remembered. Returns a function that ends this. */
  onRemembered(listener: RememberedListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Changes the index in memory only: `write` it later. */
  remember(server: RegistryServer): void {
    const { index } = this;
    const byName = this.#named(index);
    const before = byName.get(server.name);
    const isKnown = before !== undefined;
    const others = isKnown ? index.servers.filter(({ name }) => name !== server.name) : index.servers;
    const place = others.findIndex(({ name }) => name > server.name);
    this.#index = { version: 1, servers: others.toSpliced(place === -1 ? others.length : place, 0, server) };
    // Rebuilding the map for each of a thousand servers would leave 60 MB of garbage.
    this.#byName = { of: this.#index, servers: byName.set(server.name, server) };
    for (const listener of this.#listeners) listener(server.name, before);
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

  /** Writes the entry of one of the user's own servers beside a project. `stored` has the tools that the user's own config allows. */
  async writeOwn(stored: RegistryServer): Promise<void> {
    await this.#writeEntries(registryOf(this.#config, stored.name), [stored.name], [stored]);
  }

  async #write(): Promise<void> {
    if (this.#unwritten.size === 0) return;
    const names = [...this.#unwritten];
    const ours = this.index.servers.filter(({ name }) => this.#unwritten.has(name));
    this.#unwritten.clear();
    try {
      await this.#writeEntries(this.#folder, names, ours);
      this.#problem = undefined;
    } catch (error) {
      for (const name of names) this.#unwritten.add(name);
      throw error;
    }
  }

  /** A large index is written in a worker. */
  async #writeEntries(folder: string, names: string[], ours: readonly RegistryServer[]): Promise<void> {
    const tools = this.index.servers.reduce((sum, server) => sum + server.tools.length, 0);
    const isSmall =
      tools < minToolsOffThread && (statsOf(join(folder, indexFileName))?.size ?? 0) < minIndexBytesOffThread;
    if (isSmall) return updateIndex(folder, names, ours);
    await runJob({ work: "index", folder, names, ours: ours.map((server) => JSON.stringify(server)) }, indexWriteMs);
  }

  /**
   * Removes tools from the registry that the config has denied since it was written. The other files of such a server are written when it
   * is next listed, because its fingerprint has changed. A server whose tools were stored with other edits is forgotten.
   */
  hideDenied(): void {
    const before = this.#index?.servers ?? [];
    const isForgotten = (server: RegistryServer) => hasOtherEdits(server, this.#config.servers.get(server.name));
    const left = before.map((server) => (isForgotten(server) ? { ...server, tools: [] } : this.#visible(server)));
    const changed = left.filter((server, at) => server !== before[at]);
    if (changed.length === 0) return;
    const forgotten = new Set(before.filter(isForgotten).map(({ name }) => name));
    const isKnown = ({ name }: RegistryServer) => !forgotten.has(name);
    this.#index = { version: 1, servers: left.filter(isKnown) };
    // The user's own registry follows the rules of the user's own config, and not a project's.
    const written = inRegistry(this.#config, this.#folder, changed);
    if (written.length === 0) return;
    try {
      for (const server of written) removeServer(this.#folder, server);
      hideObserved(this.#folder, left);
      removeFile(join(this.#folder, preparedFileName));
      updateIndex(
        this.#folder,
        written.map(({ name }) => name),
        written.filter(isKnown),
      );
    } catch (error) {
      // This process hides the tools anyway, and the next process that may write here removes them.
      if (!(error instanceof ClaudikinsError && error.code === "FILE_NOT_WRITABLE")) throw error;
    }
  }

  #visible(server: RegistryServer): RegistryServer {
    return visibleTools(server, this.#config.servers.get(server.name));
  }
}
