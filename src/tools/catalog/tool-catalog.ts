/**
 * The tools of the configured servers: stored descriptions, their freshness, and the requests that bring them up to date.
 *
 * A server is *listed* when this process has asked it for its tools (`tools/list`). The answer is *stored* in the registry on
 * disk, where the next process finds it. A stored entry counts only if it was made from the entry that the config has now.
 */

import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { twinsOf } from "../../config/accounts.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { unlessAborted } from "../../servers/abort.ts";
import type { CallOptions, Pool } from "../../servers/pool.ts";
import { stateProblem } from "../../servers/state.ts";
import { firstAnswerMs } from "../limits.ts";
import { definitionChars, type RegistryIndex, type RegistryServer } from "../model.ts";
import { assignNames, type Named, sandboxGlobals } from "../names.ts";
import { removeServer } from "../registry/store.ts";
import { ChangeRefresher } from "./change-refresher.ts";
import { deniesMoreOnly, fingerprintOf, isClosed, rulesOf } from "./config-entry.ts";
import { IndexStore } from "./index-store.ts";
import { Lister, type Listing, type Refreshed, type RefreshOptions } from "./lister.ts";
import { ListingQueue, listedAtOnce } from "./listing-queue.ts";
import { Observer } from "./observer.ts";

/** What catalogs of one config share: the registry on disk, and what was observed of results. */
interface Shared {
  store: IndexStore;
  observer: Observer;
}

interface CatalogOptions {
  config: Config;
  env: Environment;
  pool: Pool;
  log: Log;
  /** The command that starts claudikins, for generated programs. */
  ownCommand: () => [string, ...string[]];
}

/** Whether the tools of a server are known, and how well. */
type Freshness =
  /** This process has asked the server. */
  | "listed"
  /** An earlier process has, and the config has not changed since. */
  | "stored"
  /** Stored from another config entry or by another version, so it does not count. */
  | "outdated"
  | "unknown";

/** Codes of a registry that cannot be written, though the server has answered. */
const unwritten: readonly string[] = ["FILE_NOT_WRITABLE", "VERSION_TOO_OLD"];

export class ToolCatalog implements AsyncDisposable {
  readonly config: Config;
  readonly #options: CatalogOptions;
  readonly #shared: Shared;
  readonly #lister: Lister;
  readonly #refresher = new ChangeRefresher((server) => this.#refreshChanged(server));
  readonly #queue = new ListingQueue((server) => this.#fetchQueued(server));
  readonly #subscriptions = new DisposableStack();
  readonly #fingerprints = new Map<string, string>();
  /** Whether outdated servers are complete. */
  #completeness = new WeakMap<RegistryServer, boolean>();
  /** Characters of definitions. A server that changes becomes a new object. */
  readonly #chars = new WeakMap<RegistryServer, number>();
  #names: readonly Named[] = [];

  /** With `shared`, the catalog asks servers through its own pool, and everything else belongs to the catalog that lends it. */
  constructor(options: CatalogOptions, shared?: Shared) {
    this.config = options.config;
    this.#options = options;
    this.#shared = shared ?? this.#makeShared();
    this.#nameServers();
    const { store, observer } = this.#shared;
    const { config, env, pool, ownCommand } = options;
    const jsNameOf = (server: string) => this.jsNameOf(server);
    this.#lister = new Lister({ config, env, pool, store, observer, jsNameOf, ownCommand });
    pool.onListChanged((server, what) => {
      if (what === "tools") this.#refresher.changed(server);
    });
    // A call of a tool that the server no longer lists: the registry is older than the server.
    pool.onUnlistedCall((server) => void this.#refreshChanged(server));
  }

  /** A catalog of the same config that asks servers through another pool. */
  withPool(pool: Pool): ToolCatalog {
    return new ToolCatalog({ ...this.#options, pool }, this.#shared);
  }

  /** The shapes of results that were seen. */
  get observer(): Observer {
    return this.#shared.observer;
  }

  /** The configured servers with their names in code, in the order of the config. */
  get names(): readonly Named[] {
    return this.#names;
  }

  /** A server's name in code. Undefined if it has none. */
  jsNameOf(server: string): string | undefined {
    return this.#names.find(({ name }) => name === server)?.jsName;
  }

  /** The stored index; empty before the first `gen`, and if its file is damaged. A new object after every change. */
  get index(): RegistryIndex {
    return this.#shared.store.index;
  }

  /** Why the index on disk could not be read. Programs run without it; what depends on it should report this. */
  get indexProblem(): ClaudikinsError | undefined {
    return this.#shared.store.problem;
  }

  /** The stored server, without the tools that the config denies. Undefined if it is missing, or may have other tools by now. */
  find(server: string): RegistryServer | undefined {
    const found = this.#shared.store.find(server);
    return found && this.#isComplete(found) ? found : undefined;
  }

  /** The names of the server's tools, as far as they are known. */
  toolNames(server: string): string[] {
    return this.find(server)?.tools.map(({ name }) => name) ?? [];
  }

  /**
   * The same with the tools that the config denies, if this process has listed the server: they are written down nowhere.
   * For errors that explain why a name cannot be called.
   */
  findWithDenied(server: string): RegistryServer | undefined {
    const found = this.#shared.store.findWhole(server);
    return found && this.#isComplete(found) ? found : undefined;
  }

  /** The stored servers that are not outdated, in the order of the config, without denied tools. */
  get knownServers(): RegistryServer[] {
    return [...this.config.servers.keys()].flatMap((server) => this.find(server) ?? []);
  }

  /** Everything stored of the configured servers, outdated entries included, without denied tools. */
  get visibleServers(): RegistryServer[] {
    return this.index.servers.filter(({ name }) => this.config.servers.has(name));
  }

  /** Characters of the definitions of all known tools. */
  get definitionChars(): number {
    return this.knownServers.reduce((sum, server) => {
      const chars = this.#chars.get(server) ?? definitionChars(server.tools);
      this.#chars.set(server, chars);
      return sum + chars;
    }, 0);
  }

  /** A server is also outdated if the config denies more than when its files were written. */
  freshness(server: string): Freshness {
    const found = this.#shared.store.find(server);
    if (!found) return "unknown";
    if (!this.#isCurrent(found)) return "outdated";
    return this.#lister.hasListed(server) ? "listed" : "stored";
  }

  /** Configured servers that are not stored or outdated, without closed ones. */
  missingServers(): string[] {
    return this.openServers().filter((server) => this.#isMissing(server));
  }

  /** Configured servers that may be started, in the order of the config. */
  openServers(): string[] {
    return [...this.config.servers.keys()].filter((server) => !this.isClosed(server));
  }

  /** Whether the config denies everything of the server. Such a server is never started. */
  isClosed(server: string): boolean {
    return isClosed(this.config.servers.get(server));
  }

  /** Whether the server may have tools that the config denies. */
  mayHide(server: string): boolean {
    const policy = this.config.servers.get(server)?.policy;
    return policy !== undefined && policy.allow.length + policy.deny.length > 0;
  }

  /**
   * Asks a server for its tools and stores them, as far as the registry can be written. The result includes denied tools.
   * Concurrent callers share one request, and the signal ends only the wait of this one. Throws what the pool throws.
   */
  async fetch(server: string, signal?: AbortSignal, options?: RefreshOptions): Promise<RegistryServer> {
    try {
      return (await this.refresh(server, signal, options)).whole;
    } catch (error) {
      const known = this.findWithDenied(server);
      const isUnwritten = error instanceof ClaudikinsError && unwritten.includes(error.code);
      if (known && isUnwritten) return known;
      throw error;
    }
  }

  /** Like `fetch`, and returns what changed. Also throws FILE_NOT_WRITABLE. */
  refresh(server: string, signal?: AbortSignal, options?: RefreshOptions): Promise<Refreshed> {
    return this.#lister.refresh(server, signal, options);
  }

  /** Asks a server for its tools and changes nothing. Throws what the pool throws. */
  preview(server: string, options?: CallOptions): Promise<Listing> {
    return this.#lister.list(server, options);
  }

  /** Refreshes a connected server in the background, unless this process has listed it already. */
  refreshInBackground(server: string): void {
    if (!this.#lister.hasListed(server)) this.#refresher.changed(server);
  }

  /**
   * Asks all servers that are not known, and waits until those that announced a change have been listed again. A slow or broken
   * server is waited for at most 10 s after it was asked. Returns why servers are still not known, by name.
   * Outdated servers are asked in the background, or with `waitForOutdated` like the others. With `only`, the others are left alone.
   */
  async fetchMissing(
    signal: AbortSignal,
    { waitForOutdated = false, only }: { waitForOutdated?: boolean; only?: readonly string[] | undefined } = {},
  ): Promise<Map<string, string>> {
    const missing = this.missingServers().filter((server) => only?.includes(server) ?? true);
    const later = waitForOutdated ? [] : missing.filter((server) => this.freshness(server) === "outdated");
    // After the answer, which does not wait for processes to start either.
    if (later.length > 0) {
      setImmediate(() => {
        for (const server of later) void this.#queue.add(server).catch(() => {});
      });
    }
    const asked = missing.filter((server) => !later.includes(server));
    const [problems] = await Promise.all([
      Promise.all(asked.map(async (server) => [server, await this.#fetchInTurn(server, signal)] as const)),
      this.changesListed([...this.config.servers.keys()], signal),
    ]);
    return new Map(problems.flatMap(([server, problem]) => (problem === undefined ? [] : [[server, problem]])));
  }

  /** Asks a server at once and waits at most 10 s for its first answer. Never rejects. */
  async fetchPatiently(server: string, signal: AbortSignal | undefined): Promise<void> {
    const patience = patienceOf(firstAnswerMs - this.#lister.waitedMs(server), signal);
    await this.fetch(server, patience).catch(() => {});
  }

  /**
   * Asks the servers that were never listed, one after the other. A server that starts for this alone is ended again. The problems of
   * servers are left to those who need them.
   */
  async learn(signal: AbortSignal): Promise<void> {
    const { pool, config } = this.#options;
    for (const server of this.missingServers()) {
      const wasIdle = pool.state(server).state === "idle";
      await this.#fetchInTurn(server, signal);
      if (signal.aborted) return;
      if (wasIdle && !config.servers.get(server)?.keepAlive) await pool.release(server);
    }
  }

  /** Waits until the servers that announced a change have been listed again, at most 10 s. */
  async changesListed(servers: readonly string[], signal: AbortSignal | undefined): Promise<void> {
    const changing = servers.filter((server) => this.#refresher.isRunning(server));
    if (changing.length === 0) return;
    const patience = patienceOf(firstAnswerMs, signal);
    await Promise.all(
      changing.map((server) =>
        unlessAborted(this.#refresher.settled(server), patience, listingOf(server)).catch(() => {}),
      ),
    );
  }

  /** Called with each server that has told its tools, whether they changed or not, for as long as the catalog is open. */
  onChange(listener: (server: string) => void): void {
    this.#subscriptions.defer(this.#shared.store.onRemembered(listener));
  }

  /** Call this after servers of the config were added, removed or changed. */
  configChanged(): void {
    this.#fingerprints.clear();
    this.#completeness = new WeakMap();
    this.#shared.store.hideDenied();
    this.#nameServers();
  }

  /** From now on a server that announces a change is not listed again: its config is not written yet. */
  ignoreChanges(): void {
    this.#refresher[Symbol.dispose]();
  }

  /** Writes to the index what servers have told. Throws FILE_NOT_WRITABLE. */
  writeIndex(): Promise<void> {
    return this.#shared.store.write();
  }

  /** Forgets the stored servers that the config no longer has, and returns them. Their files stay. */
  forgetRemoved(): RegistryServer[] {
    const removed = this.index.servers.filter(({ name }) => !this.config.servers.has(name));
    if (removed.length > 0) this.#shared.store.forget(new Set(removed.map(({ name }) => name)));
    return removed;
  }

  /** Forgets the stored servers that the config no longer has, and removes their files. Returns their names. */
  async prune(): Promise<string[]> {
    this.observer.forgetWhenOff();
    const removed = this.forgetRemoved();
    for (const server of removed) {
      removeServer(this.config.folders.registry, server);
      this.#shared.store.changed(server.name);
    }
    await this.writeIndex();
    return removed.map(({ name }) => name);
  }

  /** Stops asking, and writes what is not written yet. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriptions.dispose();
    this.#refresher[Symbol.dispose]();
    this.#queue[Symbol.dispose]();
    await this.#writeRest();
  }

  #makeShared(): Shared {
    const { config, log } = this.#options;
    // Shapes of the user's own results must not reach files of a project.
    const isOwn = (server: string) => config.servers.get(server)?.own !== undefined;
    const observer = new Observer({
      config,
      isOn: config.observe,
      servers: () => store.index.servers,
      twinsOf: (server) => twinsOf(server, config.servers).filter((twin) => isOwn(twin) === isOwn(server)),
      log,
    });
    const store = new IndexStore(config, (server) => observer.apply(server));
    return { store, observer };
  }

  #nameServers(): void {
    this.#names = assignNames([...this.config.servers.keys()], sandboxGlobals).names;
  }

  /** Whether the server must be asked before its files are up to date. */
  #isMissing(server: string): boolean {
    const freshness = this.freshness(server);
    return freshness === "unknown" || freshness === "outdated";
  }

  /** Whether all tools that the config allows are stored. */
  #isComplete(server: RegistryServer): boolean {
    if (this.#isCurrent(server)) return true;
    const config = this.config.servers.get(server.name);
    const known = this.#completeness.get(server);
    const isComplete = known ?? (!!config && deniesMoreOnly(server, config, this.jsNameOf(server.name)));
    this.#completeness.set(server, isComplete);
    return isComplete;
  }

  #isCurrent({ name, fingerprint }: RegistryServer): boolean {
    const config = this.config.servers.get(name);
    if (!config) return false;
    let current = this.#fingerprints.get(name);
    if (current === undefined) {
      current = fingerprintOf(config, this.jsNameOf(name), rulesOf(config));
      this.#fingerprints.set(name, current);
    }
    return fingerprint === current;
  }

  /** Asks a server when it is its turn among many. Returns why there is no answer, if so. */
  async #fetchInTurn(server: string, signal: AbortSignal): Promise<string | undefined> {
    // A caller that comes while others wait gets the rest of their time: a silent server holds up one of many searches.
    const late = patienceOf(firstAnswerMs - Math.max(this.#queue.waitedMs(server), this.#lister.waitedMs(server)));
    try {
      await unlessAborted(this.#queue.add(server), AbortSignal.any([late, signal]), listingOf(server));
      return undefined;
    } catch (error) {
      const problem = stateProblem(this.#options.pool.state(server));
      if (problem !== undefined) return problem;
      if (!late.aborted) {
        const [line = ""] = messageOf(error).split("\n");
        return error instanceof ClaudikinsError && error.hint !== undefined ? `${line}. ${error.hint}` : line;
      }
      const seconds = Math.round(this.#lister.waitedMs(server) / 1_000);
      if (seconds === 0) return "not asked yet: other servers come first; search again";
      return `no answer for ${seconds} s. It may still answer; to check: claudikins list --check`;
    }
  }

  async #fetchQueued(server: string): Promise<void> {
    // A program may have been quicker.
    if (!this.#isMissing(server)) return;
    const { pool, config } = this.#options;
    const wasIdle = pool.state(server).state === "idle";
    const areMany = this.#queue.size > listedAtOnce;
    await this.fetch(server, undefined, { indexLater: true });
    // If many are listed, the last ones write the index for all.
    if (this.#queue.size <= listedAtOnce) await this.#writeRest();
    // If many are listed, they do not keep running: the first call starts a server again.
    if (areMany && wasIdle && !config.servers.get(server)?.keepAlive) await pool.release(server);
  }

  async #refreshChanged(name: string): Promise<void> {
    const { log } = this.#options;
    try {
      const { server, before } = await this.#lister.refreshNext(name, { startsNothing: true, ifChanged: true });
      if (server !== before) log.info(`${name} has changed: ${server.tools.length} tools now`);
    } catch (error) {
      log.debug(`${name}: cannot refresh its tools: ${messageOf(error)}`);
    }
  }

  async #writeRest(): Promise<void> {
    try {
      await this.writeIndex();
    } catch (error) {
      this.#options.log.debug(`cannot refresh the index: ${messageOf(error)}`);
    }
  }
}

function patienceOf(ms: number, signal?: AbortSignal): AbortSignal {
  const late = AbortSignal.timeout(Math.max(0, ms));
  return signal ? AbortSignal.any([late, signal]) : late;
}

const listingOf = (server: string) => `tools/list of ${server}`;
