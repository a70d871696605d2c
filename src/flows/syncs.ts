/** What servers say of their tools → the registry: asked once for all who want to know, and written when it is another. */
import type { CallOptions, Pool } from "../clients/pool.ts";
import type { ListedTool } from "../clients/result.ts";
import { unlessAborted } from "../clients/unless-aborted.ts";
import type { Environment } from "../config/environment.ts";
import type { Config, ServerConfig } from "../config/load.ts";
import { userDataFolder } from "../config/locations.ts";
import { selfCommand } from "../config/self.ts";
import { ClaudikinsError } from "../errors.ts";
import { schemaSize } from "../registry/arguments/plain-schema.ts";
import { noteOrigin, writeBridge } from "../registry/bridge.ts";
import type { RegistryServer } from "../registry/model.ts";
import { assignNames, toFolderName } from "../registry/names.ts";
import { markAsked, type Written, writeServer } from "../registry/store.ts";
import { runJobInTime } from "../registry/work/run.ts";
import { eventLoopTurn } from "../turns.ts";
import { version } from "../version.ts";
import { aboutServer, fingerprintOf } from "./config-entry.ts";
import type { KnownServers } from "./known-servers.ts";
import type { Observer } from "./observer.ts";
import type { ShownServers } from "./shown-servers.ts";

/** What a server says of itself now, as the registry would have it: without the tools that the config denies. */
export interface Asked {
  server: RegistryServer;
  /** With them. */
  whole: RegistryServer;
  /** What was known of it until now, if anything. */
  before: RegistryServer | undefined;
  /** Names of tools that would become the same identifier. */
  collisions: string[][];
}

export interface SyncResult extends Asked {
  files: Written;
}

export interface SyncOptions extends CallOptions {
  /** The index is not written: who asks many servers does that once. */
  indexLater?: boolean;
  /** When the signal comes while the files are being written, they are written to the end. */
  writesWhole?: boolean;
  /** Where nothing has changed, nothing is compared with the disk. */
  ifChanged?: boolean;
}

interface Surroundings {
  config: Config;
  env: Environment;
  pool: () => Pool;
  registry: KnownServers;
  shown: ShownServers;
  observer: Observer;
  /** A server's name in code. */
  jsNameOf: (name: string) => string | undefined;
}

const noFiles: Written = { written: 0, unchanged: 0, removed: 0, kept: [] };

export class Syncs {
  readonly #options: Surroundings;
  readonly #asked = new Set<string>();
  readonly #syncing = new Map<string, { since: number; result: Promise<SyncResult> }>();
  /** Servers that have answered, and whose files are being written. */
  readonly #writing = new Set<string>();
  readonly #last = new Map<string, Promise<SyncResult>>();
  /** Folders that were chosen for servers which are not remembered yet, by server. */
  readonly #chosenFolders = new Map<string, string>();
  #hasBridge = false;

  constructor(options: Surroundings) {
    this.#options = options;
  }

  /** Whether this process itself has asked the server for its tools. */
  asked(name: string): boolean {
    return this.#asked.has(name);
  }

  /**
   * Asks one server for its tools and writes its files and the index. Callers at the same time share one answer; the
   * signal ends the wait of this one. Throws what the pool throws, and FILE_NOT_WRITABLE.
   */
  async sync(name: string, signal?: AbortSignal, options?: SyncOptions): Promise<SyncResult> {
    let running = this.#syncing.get(name);
    if (!running) {
      const result = this.inTurn(name, options).finally(() => this.#syncing.delete(name));
      running = { since: performance.now(), result };
      this.#syncing.set(name, running);
    }
    const { result } = running;
    try {
      return await unlessAborted(result, signal, `tools/list of ${name}`);
    } catch (error) {
      if (signal?.aborted && options?.writesWhole && this.#writing.has(name)) return result;
      throw error;
    }
  }

  /** For how long the server's answer has been awaited by now; 0 when none is. */
  askedForMs(name: string): number {
    const running = this.#syncing.get(name);
    return running ? performance.now() - running.since : 0;
  }

  /** One after the other: the list that was asked for later is the one that stays. */
  inTurn(name: string, options?: SyncOptions): Promise<SyncResult> {
    const before = this.#last.get(name)?.catch(() => {});
    const sync = before ? before.then(() => this.#sync(name, options)) : this.#sync(name, options);
    this.#last.set(name, sync);
    return sync;
  }

  async #sync(
    name: string,
    { indexLater, ifChanged, writesWhole: _, ...options }: SyncOptions = {},
  ): Promise<SyncResult> {
    const asked = await this.ask(name, options);
    const { server, whole, before } = asked;
    this.#options.registry.rememberDenied(whole);
    const { registry } = this.#options.config.folders;
    if (ifChanged && before && Bun.deepEquals(server, before)) {
      markAsked(registry, before);
      return { ...asked, server: before, files: noFiles };
    }
    this.#options.registry.remember(server);
    this.#chosenFolders.delete(name);
    this.#writing.add(name);
    const files = await writeFiles(registry, server, before).finally(() => this.#writing.delete(name));
    this.#writeBridge();
    markAsked(registry, server);
    this.#options.registry.changed(name);
    if (!indexLater) await this.#options.registry.write();
    return { ...asked, files };
  }

  /** Asks one server for its tools, and changes nothing by the answer. Throws what the pool throws. */
  async ask(name: string, options: CallOptions = {}): Promise<Asked> {
    const tools = await this.#options.pool().listTools(name, options);
    await eventLoopTurn();
    this.#asked.add(name);
    const config = this.#options.config.servers.get(name)!;
    const about = await aboutServer(config);
    const folder = this.#folderFor(name, about.category);
    const { whole, collisions } = registryServer(config, about, this.#options.jsNameOf(name), tools, folder);
    // A long list takes some milliseconds at each step: others have their turn in between. What is known now is still true
    // when the server is remembered, since nobody has a turn from here until then.
    await eventLoopTurn();
    const before = this.#options.registry.find(name);
    const server = this.#options.shown.of(whole);
    this.#options.observer.apply(server);
    const isShown = (tool: string) => server.tools.some((each) => each.name === tool);
    const shownCollisions = collisions.map((names) => names.filter(isShown)).filter((names) => names.length > 1);
    return { server, whole, before, collisions: shownCollisions };
  }

  /** Two servers may have names that make the same folder; the second gets a number. */
  #folderFor(name: string, category: string): string {
    const folders = new Map(this.#options.registry.index.servers.map((server) => [server.name, server.folder]));
    for (const [server, chosen] of this.#chosenFolders) folders.set(server, chosen);
    folders.delete(name);
    const taken = new Set([...folders.values()].map((folder) => folder.toLowerCase()));
    const base = `${category}/${toFolderName(name)}`;
    let folder = base;
    for (let count = 2; taken.has(folder.toLowerCase()); count++) folder = `${base}_${count}`;
    this.#chosenFolders.set(name, folder);
    return folder;
  }

  /** So that the files can be called by themselves, by this config and this very program. */
  #writeBridge(): void {
    if (this.#hasBridge) return;
    this.#hasBridge = true;
    const { origin, folders } = this.#options.config;
    const config = origin.kind === "demo" ? null : origin.file;
    writeBridge(folders.registry);
    noteOrigin(userDataFolder(this.#options.env), folders.registry, { config, command: selfCommand(), version });
  }
}

/** With more tools, or larger schemas, the files are written in a worker thread. */
const maxFiles = 100;
const maxSchemaValues = 5_000;

/** For 5,000 tools on a slow disk. */
const writeLimitMs = 120_000;

async function writeFiles(
  folder: string,
  server: RegistryServer,
  before: RegistryServer | undefined,
): Promise<Written> {
  if (isLittle(server)) return writeServer(folder, server, before);
  const json = JSON.stringify(server);
  await eventLoopTurn();
  const job = { work: "files", folder, server: json, before: before && JSON.stringify(before) } as const;
  const written = await runJobInTime(job, writeLimitMs);
  if (written) return written;
  throw new ClaudikinsError(
    "FILE_NOT_WRITABLE",
    `The files of "${server.name}" in ${folder} could not be written in time`,
  );
}

function isLittle({ tools }: RegistryServer): boolean {
  const sizes = tools.map(({ inputSchema, outputSchema = {} }) => schemaSize(inputSchema) + schemaSize(outputSchema));
  return tools.length <= maxFiles && sizes.reduce((sum, size) => sum + size, 0) <= maxSchemaValues;
}

function registryServer(
  config: ServerConfig,
  about: { category: string; description: string },
  serverJsName: string | undefined,
  listed: ListedTool[],
  folder: string,
): { whole: RegistryServer; collisions: string[][] } {
  const byName = new Map(listed.map((tool) => [tool.name, tool]));
  const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const { names, collisions } = assignNames(sorted.map((tool) => tool.name));
  const jsNames = new Map(names.map(({ name, jsName }) => [name, jsName]));
  const tools = sorted.map((tool) => {
    const jsName = jsNames.get(tool.name);
    return { ...tool, ...(jsName === undefined ? {} : { jsName }) };
  });
  return {
    whole: {
      name: config.name,
      ...(serverJsName === undefined ? {} : { jsName: serverJsName }),
      ...about,
      folder,
      fingerprint: fingerprintOf(config, serverJsName),
      tools,
    },
    collisions: collisions.map((collision) => collision.names),
  };
}
