/** Asks servers for their tools, and writes the answers into the registry. */

import { setTimeout as sleep } from "node:timers/promises";
import { ClaudikinsError } from "../../base/errors.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import type { Log } from "../../base/log.ts";
import { version } from "../../base/version.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config, ServerConfig } from "../../config/load.ts";
import { userDataFolder } from "../../config/locations.ts";
import type { Label } from "../../config/policy.ts";
import { ownNameOf } from "../../config/tool-edits.ts";
import type { Call } from "../../policy/call.ts";
import { statedLabels } from "../../policy/flow/label-rules.ts";
import type { ServerIdentity } from "../../servers/connection/server-client.ts";
import type { ListingNotes } from "../../servers/lists/server-lists.ts";
import type { Pool } from "../../servers/pool.ts";
import type { ListedTool } from "../../servers/result.ts";
import { schemaSize } from "../arguments/argument-problems.ts";
import type { AcceptedDefinitions } from "../definitions/accepted.ts";
import { maxHintedNames, maxShownNameChars } from "../limits.ts";
import type { RegistryServer } from "../model.ts";
import { assignNames, toFolderName } from "../names.ts";
import { noteOrigin } from "../origin.ts";
import { writeBridge } from "../registry/bridge.ts";
import { markAsked, refuseNewer, type Written, writeServer } from "../registry/store.ts";
import { runJobInTime } from "../work/run.ts";
import { type AboutServer, aboutServer, fingerprintOf, rulesOf, storedTools, visibleTools } from "./config-entry.ts";
import { type EditedTool, editedTools } from "./edited-tools.ts";
import type { IndexStore } from "./index-store.ts";
import type { Observer } from "./observer.ts";
import { listOffers } from "./offers.ts";
import { isInOwnRegistry, registryOf } from "./registries.ts";

/** With more tools, the files of a server are written in a worker. */
const maxFilesInline = 100;

/** The same for more values in the schemas of the tools. */
const maxSchemaValuesInline = 5_000;

/** How long the files of many tools wait at most, in milliseconds, while other servers are asked: reading their answers comes first. */
const filesDelayMs = 5_000;

/** Time for a worker to write the files of a server. Enough for 5,000 tools on a slow disk. */
const filesWriteMs = 120_000;

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
  /** What has changed in the registry's folder. */
  files: Written;
}

/** A listing for which the server itself has answered. */
interface Answered extends Listing {
  /** The own names of all tools that it listed. */
  names: ReadonlySet<string>;
}

interface UpdaterOptions {
  config: Config;
  env: Environment;
  pool: Pool;
  log: Log;
  store: IndexStore;
  observer: Observer;
  definitions: AcceptedDefinitions;
  /** A server's name in code. */
  jsNameOf: (server: string) => string | undefined;
  /** The command that starts claudikins, for generated programs. */
  ownCommand: () => [string, ...string[]];
}

/** The result for an answer that changed no file. */
export const noFiles: Written = { written: 0, removed: 0, kept: [] };

export class RegistryUpdater {
  readonly #options: UpdaterOptions;
  readonly #listed = new Set<string>();
  /** The writing of files of servers that have answered, by server. */
  readonly #writing = new Map<string, Promise<unknown>>();
  /** The requests to servers that are under way. */
  readonly #asking = new Set<Promise<unknown>>();
  /** Folders that were chosen for servers which are not stored yet, by server. */
  readonly #chosenFolders = new Map<string, string>();
  /** The config's edits that do not fit the last answer of each server. */
  readonly #misfits = new Map<string, string[]>();
  /** The registries that already have the bridge module. */
  readonly #hasBridge = new Set<string>();

  constructor(options: UpdaterOptions) {
    this.#options = options;
  }

  /** Whether this process itself has asked the server for its tools. */
  hasListed(server: string): boolean {
    return this.#listed.has(server);
  }

  /** What is missing from the server's tools since its last answer, and why. */
  misfits(server: string): readonly string[] {
    return this.#misfits.get(server) ?? [];
  }

  /** Whether the server has answered, and its files are being written. */
  isWriting(server: string): boolean {
    return this.#writing.has(server);
  }

  /** Resolves when the files of all servers that have answered by now are written, or could not be. Never rejects. */
  async written(): Promise<void> {
    await Promise.allSettled(this.#writing.values());
  }

  /**
   * Asks one server for its tools and writes its files; its entry of the index is written with the next `write` of the store. If nothing
   * has changed, `isQuiet` and `startsNothing` leave the files as they are. Run one update of a server at a time. Throws what the pool throws, and
   * FILE_NOT_WRITABLE.
   */
  async update(name: string, { startsNothing = false, isQuiet = false } = {}): Promise<Listing> {
    const { store, config, pool } = this.#options;
    const seen = pool.listingOf(name);
    const asking = this.#ask(name, { startsNothing }, seen);
    this.#asking.add(asking);
    const { names, ...listing } = await asking.finally(() => this.#asking.delete(asking));
    const { server, whole, before } = listing;
    store.rememberDenied(whole);
    const registry = registryOf(config, name);
    refuseNewer(registry);
    if ((isQuiet || startsNothing) && before && Bun.deepEquals(server, before)) {
      markAsked(registry, before);
      seen.verified(whole.held, names);
      return { ...listing, server: before };
    }
    store.remember(server);
    seen.verified(whole.held, names);
    this.#chosenFolders.delete(name);
    const writing = this.#write(whole, server, before).finally(() => this.#writing.delete(name));
    this.#writing.set(name, writing);
    return { ...listing, files: await writing };
  }

  /** Writes the files of a server that has answered. */
  async #write(whole: RegistryServer, server: RegistryServer, before: RegistryServer | undefined): Promise<Written> {
    const { store, config } = this.#options;
    const { name } = server;
    const registry = registryOf(config, name);
    const stored = storedTools(whole, config.servers.get(name)!);
    const files = await this.#writeFiles(registry, stored, before);
    this.#writeBridge(name);
    markAsked(registry, server);
    if (isInOwnRegistry(config, name)) await store.writeOwn(stored);
    else store.changed(name);
    return files;
  }

  async #writeFiles(folder: string, server: RegistryServer, before: RegistryServer | undefined): Promise<Written> {
    // The files of tools that are gone are read and removed.
    if (isLittle(server) && (!before || isLittle(before))) return writeServer(folder, server, before);
    const late = sleep(filesDelayMs, undefined, { ref: false });
    await Promise.race([Promise.allSettled(this.#asking), late]);
    return writeInWorker(folder, server, before);
  }

  /** Asks one server for its tools, and changes nothing. Throws what the pool throws. */
  ask(name: string, call: Call = {}): Promise<Listing> {
    return this.#ask(name, call);
  }

  /** Without `seen`, nothing is noted of the definitions. */
  async #ask(name: string, call: Call, seen?: Pick<ListingNotes, "onConnection">): Promise<Answered> {
    const { pool, store, observer, definitions, jsNameOf } = this.#options;
    const notes: string[] = [];
    const listed = await pool.listTools(name, call, {
      onConnection: seen?.onConnection,
      note: (problem) => notes.push(problem),
    });
    await eventLoopTurn();
    this.#listed.add(name);
    const config = this.#options.config.servers.get(name)!;
    const identity = pool.identity(name);
    const { held, labels } =
      (await definitions.check(config, listed, { version: identity?.version, isDry: !seen })) ?? {};
    const about = await aboutServer(
      config,
      listed.map((tool) => tool.name),
    );
    const { once, twice } = eachOnce(listed);
    const { tools: edited, problems } = await editedTools(config, once);
    const doubled = twice.map(
      (tool) => `${name} lists two tools called "${oneLine(tool, maxShownNameChars)}", which count as one`,
    );
    this.#note(name, [...notes, ...problems, ...doubled]);
    const folder = this.#folderFor(name, about.category);
    const isHeld = (tool: string) => held?.tools.some((each) => each.name === tool) ?? false;
    const tools = held ? edited.filter((tool) => !isHeld(ownNameOf(config.edits, tool) ?? tool.name)) : edited;
    const offers = await listOffers(config, pool, call, store.find(name)?.offers);
    const described = { ...about, ...identity, ...(held ? { held } : {}), ...(offers.length > 0 ? { offers } : {}) };
    const stated = labelsOf(listed, labels);
    const { whole, collisions } = registryServer(config, described, jsNameOf(name), tools, folder, stated);
    // Each step of a long list takes some milliseconds, so other work runs between the steps. From here until the server is remembered
    // nothing else may run, because the stored state must not change.
    await eventLoopTurn();
    const before = store.find(name);
    const server = visibleTools(whole, config);
    observer.apply(server);
    const isShown = (tool: string) => server.tools.some((each) => each.name === tool);
    const shownCollisions = collisions.map((names) => names.filter(isShown)).filter((names) => names.length > 1);
    const names = new Set(listed.map((tool) => tool.name));
    return { server, whole, before, names, collisions: shownCollisions, files: noFiles };
  }

  /** Logs what is new. */
  #note(server: string, problems: string[]): void {
    const known = this.misfits(server);
    for (const problem of problems) if (!known.includes(problem)) this.#options.log.warn(problem);
    this.#misfits.set(server, problems);
  }

  /** Two server names may become the same folder name: the second gets a number. */
  #folderFor(name: string, category: string): string {
    const { config, store } = this.#options;
    const chosen = this.#chosenFolders;
    const base = `${category}/${toFolderName(name)}`;
    const beginning = base.toLowerCase();
    const taken = new Set<string>();
    // With a thousand servers, each is compared with all others, so this creates no lists or maps.
    const take = (server: string, folder: string) => {
      const lower = folder.toLowerCase();
      if (!lower.startsWith(beginning) || server === name) return;
      if (registryOf(config, server) === registryOf(config, name)) taken.add(lower);
    };
    for (const server of store.index.servers) if (!chosen.has(server.name)) take(server.name, server.folder);
    for (const [server, folder] of chosen) take(server, folder);
    let folder = base;
    for (let count = 2; taken.has(folder.toLowerCase()); count++) folder = `${base}_${count}`;
    chosen.set(name, folder);
    return folder;
  }

  /** Writes the module through which generated files call tools with this config and this executable. */
  #writeBridge(server: string): void {
    const folder = registryOf(this.#options.config, server);
    if (this.#hasBridge.has(folder)) return;
    this.#hasBridge.add(folder);
    const { origin, extended, door } = this.#options.config;
    const file = origin.kind === "demo" ? null : origin.file;
    const config = extended && isInOwnRegistry(this.#options.config, server) ? extended.file : file;
    writeBridge(folder);
    const { env, ownCommand } = this.#options;
    noteOrigin(userDataFolder(env), folder, { config, door, command: ownCommand(), version });
  }
}

/** One tool of each name. Of two different definitions the last counts. Claims about effects count only if all definitions agree. */
function eachOnce(listed: readonly ListedTool[]): { once: ListedTool[]; twice: string[] } {
  const byName = new Map<string, ListedTool>();
  const twice = new Set<string>();
  for (const tool of listed) {
    const before = byName.get(tool.name);
    const { annotations, ...rest } = tool;
    byName.set(tool.name, !before || Bun.deepEquals(before.annotations, annotations) ? tool : rest);
    if (before && twice.size < maxHintedNames) twice.add(tool.name);
  }
  return { once: [...byName.values()], twice: [...twice] };
}

/** The labels that the rules give to any entry of each tool in the list, and the labels of its accepted definition. */
function labelsOf(
  listed: readonly ListedTool[],
  accepted: ReadonlyMap<string, readonly Label[]> | undefined,
): Map<string, readonly Label[]> {
  const all = new Map<string, readonly Label[]>();
  for (const tool of listed) {
    const { name } = tool;
    const known = all.get(name) ?? accepted?.get(name) ?? [];
    all.set(name, [...new Set([...known, ...statedLabels(name, tool)])]);
  }
  return all;
}

async function writeInWorker(
  folder: string,
  server: RegistryServer,
  before: RegistryServer | undefined,
): Promise<Written> {
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
  { results, usual, ...about }: AboutServer & Partial<ServerIdentity> & Pick<RegistryServer, "held" | "offers">,
  serverJsName: string | undefined,
  listed: EditedTool[],
  folder: string,
  stated: ReadonlyMap<string, readonly Label[]>,
): { whole: RegistryServer; collisions: string[][] } {
  const rules = rulesOf(config);
  const byName = new Map(listed.map((tool) => [tool.name, tool]));
  const sorted = [...byName.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  const { names, collisions } = assignNames(sorted.map((tool) => tool.name));
  const jsNames = new Map(names.map(({ name, jsName }) => [name, jsName]));
  const tools = sorted.map((tool) => {
    const jsName = jsNames.get(tool.name);
    const ownName = ownNameOf(config.edits, tool) ?? tool.name;
    const known = Object.hasOwn(results, ownName) ? results[ownName] : undefined;
    const labels = stated.get(ownName) ?? [];
    return {
      ...tool,
      ...(labels.length > 0 ? { labels } : {}),
      ...(jsName === undefined ? {} : { jsName }),
      ...(known ? { known } : {}),
      ...(Object.hasOwn(usual, ownName) ? { usual: true } : {}),
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
