/** What every flow works with: one config, one pool, one sandbox, and what the registry knows of the servers' tools. */
import { createHash } from "node:crypto";
import { type CallOptions, Pool, type PoolOptions } from "../clients/pool.ts";
import type { ListedTool } from "../clients/result.ts";
import { unlessAborted } from "../clients/unless-aborted.ts";
import type { Environment } from "../config/environment.ts";
import type { Config, ServerConfig } from "../config/load.ts";
import { userDataFolder } from "../config/locations.ts";
import { selfCommand } from "../config/self.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { noteOrigin, writeBridge } from "../registry/bridge.ts";
import { emptyIndex, type RegistryIndex, type RegistryServer } from "../registry/model.ts";
import { assignNames, type Named, sandboxGlobals, toFolderName } from "../registry/names.ts";
import { markAsked, readIndex, removeServer, type Written, writeIndex, writeServer } from "../registry/store.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { version } from "../version.ts";
import { Refresher } from "./refresher.ts";

/** The folder of servers whose config names no category, and that the catalog does not know. */
const defaultCategory = "other";

export interface SyncResult {
  server: RegistryServer;
  files: Written;
  /** Names of tools that would become the same identifier. */
  collisions: string[][];
}

export class Toolbox implements AsyncDisposable {
  readonly config: Config;
  readonly pool: Pool;
  readonly sandbox: Sandbox;
  /** The configured servers' names in code. */
  readonly names: readonly Named[];
  #index: RegistryIndex | undefined;
  #indexProblem: ClaudikinsError | undefined;
  readonly #asked = new Set<string>();
  readonly #fingerprints = new Map<string, string>();
  readonly #syncing = new Map<string, { since: number; result: Promise<SyncResult> }>();
  readonly #lastSync = new Map<string, Promise<SyncResult>>();
  readonly #log: Log;
  readonly #env: Environment;
  readonly #refresher = new Refresher((name) => this.#refresh(name));

  constructor(config: Config, sandbox: Sandbox, options: PoolOptions) {
    this.config = config;
    this.sandbox = sandbox;
    this.names = assignNames([...config.servers.keys()], sandboxGlobals).names;
    this.#log = options.log;
    this.#env = options.env;
    this.pool = new Pool(config.servers, options);
    this.pool.onListChanged((server, what) => {
      if (what === "tools") this.#refresher.changed(server);
    });
  }

  /** The registry as it is on disk; empty before the first `gen`, and where it is damaged (see `indexProblem`). */
  get index(): RegistryIndex {
    this.#index ??= this.#read();
    return this.#index;
  }

  /** Why the registry on disk could not be read. Code runs without it; who lives by it should say so. */
  get indexProblem(): ClaudikinsError | undefined {
    void this.index;
    return this.#indexProblem;
  }

  /** What is known of a configured server, if it was generated from the very entry that the config has now. */
  known(name: string): RegistryServer | undefined {
    const found = this.index.servers.find((server) => server.name === name);
    return found && found.fingerprint === this.#fingerprint(name) ? found : undefined;
  }

  /** Whether this process itself has asked the server for its tools. */
  asked(name: string): boolean {
    return this.#asked.has(name);
  }

  /** Configured servers that the registry does not know, or knows from another entry. */
  unknownServers(): string[] {
    return [...this.config.servers.keys()].filter((name) => !this.known(name));
  }

  /** Whether the server has just said that its tools changed, and is asked for them. */
  isChanging(name: string): boolean {
    return this.#refresher.isRunning(name);
  }

  /** Resolves when they are known. */
  settled(name: string, signal: AbortSignal): Promise<void> {
    return unlessAborted(this.#refresher.settled(name), signal, `tools/list of ${name}`);
  }

  /**
   * Asks one server for its tools and writes its files and the index. Callers at the same time share one answer; the
   * signal ends the wait of this one. Throws what the pool throws, and FILE_NOT_WRITABLE.
   */
  async sync(name: string, signal?: AbortSignal): Promise<SyncResult> {
    let running = this.#syncing.get(name);
    if (!running) {
      const result = this.#syncInTurn(name).finally(() => this.#syncing.delete(name));
      running = { since: performance.now(), result };
      this.#syncing.set(name, running);
    }
    return unlessAborted(running.result, signal, `tools/list of ${name}`);
  }

  /** For how long the server's answer has been awaited by now; 0 when none is. */
  askedForMs(name: string): number {
    const running = this.#syncing.get(name);
    return running ? performance.now() - running.since : 0;
  }

  /** `sync` for those who want to know the tools, and to whom it is all the same whether they can be written down. */
  async learn(name: string, signal?: AbortSignal): Promise<RegistryServer> {
    try {
      return (await this.sync(name, signal)).server;
    } catch (error) {
      const known = this.known(name);
      if (known && error instanceof ClaudikinsError && error.code === "FILE_NOT_WRITABLE") return known;
      throw error;
    }
  }

  /** After the server has said that its tools have changed. */
  async #refresh(name: string): Promise<void> {
    try {
      const { server } = await this.#syncInTurn(name, { startsNothing: true });
      this.#log.info(`${name} has other tools: ${server.tools.length} now`);
    } catch (error) {
      this.#log.debug(`${name}: its tools may have changed, and are not known: ${messageOf(error)}`);
    }
  }

  /** One after the other: the list that was asked for later is the one that stays. */
  #syncInTurn(name: string, options?: CallOptions): Promise<SyncResult> {
    const before = this.#lastSync.get(name)?.catch(() => {});
    const sync = before ? before.then(() => this.#sync(name, options)) : this.#sync(name, options);
    this.#lastSync.set(name, sync);
    return sync;
  }

  async #sync(name: string, options: CallOptions = {}): Promise<SyncResult> {
    const tools = await this.pool.listTools(name, options);
    this.#asked.add(name);
    const config = this.config.servers.get(name)!;
    const category = await categoryOf(config);
    const folder = this.#folderFor(name, category);
    const { server, collisions } = registryServer(config, category, this.#jsNameOf(name), tools, folder);
    const before = this.index.servers.find((known) => known.name === name);
    this.#remember(server);
    const files = writeServer(this.config.folders.registry, server, before);
    this.#writeBridge();
    markAsked(this.config.folders.registry, server);
    // Another process may have written the index since we read it: only our server's part is ours to change.
    const onDisk = this.#read();
    writeIndex(this.config.folders.registry, [...onDisk.servers.filter((other) => other.name !== name), server]);
    return { server, files, collisions };
  }

  /** So that the files can be called by themselves, by this config and this very program. */
  #writeBridge(): void {
    const { origin, folders } = this.config;
    const config = origin.kind === "demo" ? null : origin.file;
    writeBridge(folders.registry);
    noteOrigin(userDataFolder(this.#env), folders.registry, { config, command: selfCommand(), version });
  }

  /** Removes what the registry has of servers that are not in the config any more; their names. */
  prune(): string[] {
    const gone = this.index.servers.filter((server) => !this.config.servers.has(server.name));
    if (gone.length === 0) return [];
    for (const server of gone) removeServer(this.config.folders.registry, server);
    this.#index = { version: 1, servers: this.index.servers.filter((server) => !gone.includes(server)) };
    writeIndex(this.config.folders.registry, this.#index.servers);
    return gone.map((server) => server.name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#refresher[Symbol.dispose]();
    this.sandbox[Symbol.dispose]();
    await this.pool.close();
  }

  #read(): RegistryIndex {
    try {
      return readIndex(this.config.folders.registry) ?? emptyIndex;
    } catch (error) {
      if (!(error instanceof ClaudikinsError && error.code === "REGISTRY_INVALID")) throw error;
      this.#indexProblem = error;
      return emptyIndex;
    }
  }

  /** Asked for with every call; the config does not change. */
  #fingerprint(name: string): string | undefined {
    const config = this.config.servers.get(name);
    if (!config) return undefined;
    let fingerprint = this.#fingerprints.get(name);
    if (fingerprint === undefined) {
      fingerprint = fingerprintOf(config, this.#jsNameOf(name));
      this.#fingerprints.set(name, fingerprint);
    }
    return fingerprint;
  }

  #jsNameOf(name: string): string | undefined {
    return this.names.find((named) => named.name === name)?.jsName;
  }

  #remember(server: RegistryServer): void {
    const others = this.index.servers.filter((known) => known.name !== server.name);
    this.#index = { version: 1, servers: [...others, server].sort((a, b) => (a.name < b.name ? -1 : 1)) };
  }

  /** Two servers may have names that make the same folder; the second gets a number. */
  #folderFor(name: string, category: string): string {
    const base = `${category}/${toFolderName(name)}`;
    const taken = new Set(
      this.index.servers.filter((server) => server.name !== name).map((server) => server.folder.toLowerCase()),
    );
    let folder = base;
    for (let count = 2; taken.has(folder.toLowerCase()); count++) folder = `${base}_${count}`;
    return folder;
  }
}

/** What the config says; where it says nothing, what the catalog says of the server. It is loaded only for that. */
async function categoryOf(config: ServerConfig): Promise<string> {
  if (config.category !== undefined) return config.category;
  const { recognise } = await import("../registry/catalog.ts");
  return recognise(config)?.category ?? defaultCategory;
}

function registryServer(
  config: ServerConfig,
  category: string,
  serverJsName: string | undefined,
  listed: ListedTool[],
  folder: string,
): { server: RegistryServer; collisions: string[][] } {
  const byName = new Map(listed.map((tool) => [tool.name, tool]));
  const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const { names, collisions } = assignNames(sorted.map((tool) => tool.name));
  const jsNames = new Map(names.map(({ name, jsName }) => [name, jsName]));
  const tools = sorted.map((tool) => {
    const jsName = jsNames.get(tool.name);
    return { ...tool, ...(jsName === undefined ? {} : { jsName }) };
  });
  return {
    server: {
      name: config.name,
      ...(serverJsName === undefined ? {} : { jsName: serverJsName }),
      category,
      description: config.description ?? "",
      folder,
      fingerprint: fingerprintOf(config, serverJsName),
      tools,
    },
    collisions: collisions.map((collision) => collision.names),
  };
}

/**
 * Says whether two entries would give the same tools under the same names. Of variables and headers only the names count;
 * the catalog's category depends on the entry and our version, which are in it.
 */
function fingerprintOf(config: ServerConfig, jsName: string | undefined): string {
  const names = [jsName ?? null, config.category ?? null, config.description ?? null];
  const way =
    config.url === undefined
      ? [config.command, config.args, config.cwd ?? null, Object.keys(config.env).sort()]
      : [config.transport, config.url, Object.keys(config.headers).sort()];
  return createHash("sha256")
    .update(JSON.stringify([version, ...way, ...names]))
    .digest("hex")
    .slice(0, 16);
}
