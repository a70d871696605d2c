/** Asks servers for their tools, and writes what they answer into the registry. */

import { ClaudikinsError } from "../../base/errors.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { version } from "../../base/version.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config, ServerConfig } from "../../config/load.ts";
import { userDataFolder } from "../../config/locations.ts";
import { unlessAborted } from "../../servers/abort.ts";
import type { CallOptions, Pool } from "../../servers/pool.ts";
import type { ListedTool } from "../../servers/result.ts";
import type { ServerIdentity } from "../../servers/server-client.ts";
import { schemaSize } from "../arguments/argument-problems.ts";
import { filesWriteMs, maxFilesInline, maxSchemaValuesInline } from "../limits.ts";
import type { RegistryServer } from "../model.ts";
import { assignNames, toFolderName } from "../names.ts";
import { noteOrigin } from "../origin.ts";
import { writeBridge } from "../registry/bridge.ts";
import { markAsked, refuseNewer, type Written, writeServer } from "../registry/store.ts";
import { runJobInTime } from "../work/run.ts";
import { type AboutServer, aboutServer, fingerprintOf, rulesOf, storedTools, visibleTools } from "./config-entry.ts";
import type { IndexStore } from "./index-store.ts";
import type { Observer } from "./observer.ts";
import { isInOwnRegistry, registryOf } from "./registries.ts";

/** The answer of a server, compared with the stored one. */
export interface Listing {
  /** The server as the registry stores it: without the tools that the config denies. */
  server: RegistryServer;
  /** The server with all its tools. */
  whole: RegistryServer;
  /** What was stored until now, if anything. */
  before: RegistryServer | undefined;
  /** Names of tools that would become the same identifier. */
  collisions: string[][];
}

export interface Refreshed extends Listing {
  files: Written;
}

export interface RefreshOptions extends CallOptions {
  /** Leaves the index unwritten: a caller that asks many servers writes it once. */
  indexLater?: boolean;
  /** Files that are being written when the signal comes are written to the end. */
  writesWhole?: boolean;
  /** Does not compare the files on disk if the server's answer is the stored one. */
  ifChanged?: boolean;
}

interface ListerOptions {
  config: Config;
  env: Environment;
  pool: Pool;
  store: IndexStore;
  observer: Observer;
  /** A server's name in code. */
  jsNameOf: (server: string) => string | undefined;
  /** The command that starts claudikins, for generated programs. */
  ownCommand: () => [string, ...string[]];
}

const noFiles: Written = { written: 0, removed: 0, kept: [] };

export class Lister {
  readonly #options: ListerOptions;
  readonly #listed = new Set<string>();
  readonly #running = new Map<string, { since: number; result: Promise<Refreshed> }>();
  /** Servers that have answered, and whose files are being written. */
  readonly #writing = new Set<string>();
  readonly #last = new Map<string, Promise<Refreshed>>();
  /** Folders that were chosen for servers which are not stored yet, by server. */
  readonly #chosenFolders = new Map<string, string>();
  /** The registries that have the module already. */
  readonly #hasBridge = new Set<string>();

  constructor(options: ListerOptions) {
    this.#options = options;
  }

  /** Whether this process itself has asked the server for its tools. */
  hasListed(server: string): boolean {
    return this.#listed.has(server);
  }

  /**
   * Asks one server for its tools and writes its files and the index. Concurrent callers share one answer; the signal ends the
   * wait of this one. Throws what the pool throws, and FILE_NOT_WRITABLE.
   */
  async refresh(server: string, signal?: AbortSignal, options?: RefreshOptions): Promise<Refreshed> {
    let running = this.#running.get(server);
    if (!running) {
      const result = this.refreshNext(server, options).finally(() => this.#running.delete(server));
      running = { since: performance.now(), result };
      this.#running.set(server, running);
    }
    const { result } = running;
    try {
      return await unlessAborted(result, signal, `tools/list of ${server}`);
    } catch (error) {
      if (signal?.aborted && options?.writesWhole && this.#writing.has(server)) return result;
      throw error;
    }
  }

  /** How long the server's answer to `refresh` has been awaited by now, in milliseconds; 0 if none is. */
  waitedMs(server: string): number {
    const running = this.#running.get(server);
    return running ? performance.now() - running.since : 0;
  }

  /** Refreshes after the refresh that is running, so that the list that was asked for last is the one that stays. */
  refreshNext(server: string, options?: RefreshOptions): Promise<Refreshed> {
    const before = this.#last.get(server)?.catch(() => {});
    const refresh = before ? before.then(() => this.#refresh(server, options)) : this.#refresh(server, options);
    this.#last.set(server, refresh);
    return refresh;
  }

  async #refresh(
    name: string,
    { indexLater, ifChanged, writesWhole: _, ...options }: RefreshOptions = {},
  ): Promise<Refreshed> {
    const listing = await this.list(name, options);
    const { server, whole, before } = listing;
    const { store, config } = this.#options;
    store.rememberDenied(whole);
    const registry = registryOf(config, name);
    refuseNewer(registry);
    if (ifChanged && before && Bun.deepEquals(server, before)) {
      markAsked(registry, before);
      return { ...listing, server: before, files: noFiles };
    }
    store.remember(server);
    this.#chosenFolders.delete(name);
    this.#writing.add(name);
    const stored = storedTools(whole, config.servers.get(name)!);
    const files = await writeFiles(registry, stored, before).finally(() => this.#writing.delete(name));
    this.#writeBridge(name);
    markAsked(registry, server);
    if (isInOwnRegistry(config, name)) await store.writeOwn(stored);
    else {
      store.changed(name);
      if (!indexLater) await store.write();
    }
    return { ...listing, files };
  }

  /** Asks one server for its tools, and changes nothing. Throws what the pool throws. */
  async list(name: string, options: CallOptions = {}): Promise<Listing> {
    const { pool, store, observer, jsNameOf } = this.#options;
    const tools = await pool.listTools(name, options);
    await eventLoopTurn();
    this.#listed.add(name);
    const config = this.#options.config.servers.get(name)!;
    const about = await aboutServer(
      config,
      tools.map((tool) => tool.name),
    );
    const folder = this.#folderFor(name, about.category);
    const identity = pool.identity(name);
    const { whole, collisions } = registryServer(config, { ...about, ...identity }, jsNameOf(name), tools, folder);
    // A long list takes some milliseconds at each step, so other work gets a turn in between. From here until the server is
    // remembered there is no turn: what is stored now must still be true then.
    await eventLoopTurn();
    const before = store.find(name);
    const server = visibleTools(whole, config);
    observer.apply(server);
    const isShown = (tool: string) => server.tools.some((each) => each.name === tool);
    const shownCollisions = collisions.map((names) => names.filter(isShown)).filter((names) => names.length > 1);
    return { server, whole, before, collisions: shownCollisions };
  }

  /** Two server names may become the same folder name: the second gets a number. */
  #folderFor(name: string, category: string): string {
    const { config, store } = this.#options;
    const isBeside = (server: string) => registryOf(config, server) === registryOf(config, name);
    const known = store.index.servers.map((server) => [server.name, server.folder] as const);
    const folders = new Map([...known, ...this.#chosenFolders].filter(([server]) => isBeside(server)));
    folders.delete(name);
    const taken = new Set([...folders.values()].map((folder) => folder.toLowerCase()));
    const base = `${category}/${toFolderName(name)}`;
    let folder = base;
    for (let count = 2; taken.has(folder.toLowerCase()); count++) folder = `${base}_${count}`;
    this.#chosenFolders.set(name, folder);
    return folder;
  }

  /** Writes the module through which generated files call tools with this config and this executable. */
  #writeBridge(server: string): void {
    const folder = registryOf(this.#options.config, server);
    if (this.#hasBridge.has(folder)) return;
    this.#hasBridge.add(folder);
    const { origin, extended } = this.#options.config;
    const file = origin.kind === "demo" ? null : origin.file;
    const config = extended && isInOwnRegistry(this.#options.config, server) ? extended.file : file;
    writeBridge(folder);
    const { env, ownCommand } = this.#options;
    noteOrigin(userDataFolder(env), folder, { config, command: ownCommand(), version });
  }
}

async function writeFiles(
  folder: string,
  server: RegistryServer,
  before: RegistryServer | undefined,
): Promise<Written> {
  if (isLittle(server)) return writeServer(folder, server, before);
  const json = JSON.stringify(server);
  await eventLoopTurn();
  const job = { work: "files", folder, server: json, before: before && JSON.stringify(before) } as const;
  const written = await runJobInTime(job, filesWriteMs);
  if (written) return written;
  throw new ClaudikinsError(
    "FILE_NOT_WRITABLE",
    `The files of "${server.name}" in ${folder} could not be written in time`,
  );
}

function isLittle({ tools }: RegistryServer): boolean {
  const sizes = tools.map(({ inputSchema, outputSchema = {} }) => schemaSize(inputSchema) + schemaSize(outputSchema));
  return tools.length <= maxFilesInline && sizes.reduce((sum, size) => sum + size, 0) <= maxSchemaValuesInline;
}

function registryServer(
  config: ServerConfig,
  { results, usual, ...about }: AboutServer & Partial<ServerIdentity>,
  serverJsName: string | undefined,
  listed: ListedTool[],
  folder: string,
): { whole: RegistryServer; collisions: string[][] } {
  const rules = rulesOf(config);
  const byName = new Map(listed.map((tool) => [tool.name, tool]));
  const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const { names, collisions } = assignNames(sorted.map((tool) => tool.name));
  const jsNames = new Map(names.map(({ name, jsName }) => [name, jsName]));
  const tools = sorted.map((tool) => {
    const jsName = jsNames.get(tool.name);
    const known = Object.hasOwn(results, tool.name) ? results[tool.name] : undefined;
    return {
      ...tool,
      ...(jsName === undefined ? {} : { jsName }),
      ...(known ? { known } : {}),
      ...(Object.hasOwn(usual, tool.name) ? { usual: true } : {}),
    };
  });
  return {
    whole: {
      name: config.name,
      ...(serverJsName === undefined ? {} : { jsName: serverJsName }),
      ...about,
      folder,
      fingerprint: fingerprintOf(config, serverJsName, rules),
      ...(rules ? { rules } : {}),
      tools,
    },
    collisions: collisions.map((collision) => collision.names),
  };
}
