/** The tools of the configured servers, as they are stored, and the requests that bring them up to date. */

import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { Environment } from "../../config/environment.ts";
import type { Config } from "../../config/load.ts";
import { unlessAborted } from "../../servers/abort.ts";
import { type JoinOptions, Listings, listedAtOnce } from "../../servers/lists/listings.ts";
import type { Pool } from "../../servers/pool.ts";
import { stateProblem } from "../../servers/state.ts";
import { firstAnswerMs } from "../limits.ts";
import type { RegistryServer } from "../model.ts";
import { removeServer } from "../registry/store.ts";
import { fingerprintOf, rulesOf } from "./config-entry.ts";
import { type Listing, noFiles, RegistryUpdater } from "./registry-updater.ts";
import { type SharedTools, StoredTools } from "./stored-tools.ts";

export interface ToolsOptions {
  /**
   * `stored`: tools that an earlier process listed are accepted, so only an unknown server is asked. `listed`: this process must have
   * listed them. `now`, the default: the server is asked, or a listing in progress is joined. Except with `now`, the call waits for a
   * server that has announced a change; if that takes too long, it returns the tools from before the change.
   */
  freshAs?: "stored" | "listed" | "now";
  /** Maximum wait in milliseconds. Default: until the server has answered or failed. */
  waitMs?: number | undefined;
  /** Ends the wait. The answer is stored anyway, and other callers may wait for it. */
  signal?: AbortSignal | undefined;
}

export interface ListOptions {
  signal?: AbortSignal | undefined;
  /** Changes nothing, and asks the server for this caller alone. */
  isDry?: boolean;
  /** The caller asks many servers and writes the index once. Files that are being written when the signal comes are written to the end. */
  isOneOfMany?: boolean;
}

interface CatalogOptions {
  config: Config;
  env: Environment;
  /** The working directory of servers that name none. */
  cwd: string;
  pool: Pool;
  log: Log;
  /** The command that starts claudikins, for generated programs. */
  ownCommand: () => [string, ...string[]];
}

/** Error codes for a registry that cannot be written although the server has answered. */
const unwritten: readonly string[] = ["FILE_NOT_WRITABLE", "VERSION_TOO_OLD"];

/** The catalog and the connections through which it asks servers. */
export interface CatalogParts {
  catalog: ToolCatalog;
  pool: Pool;
}

export class ToolCatalog extends StoredTools implements AsyncDisposable {
  readonly #options: CatalogOptions;
  readonly #updater: RegistryUpdater;
  readonly #listings = new Listings<Listing>();
  #ignoresChanges = false;
  readonly #subscriptions = new DisposableStack();

  /** With `shared`, the catalog asks servers through its own pool, and borrows everything else from another catalog. */
  constructor(options: CatalogOptions, shared?: SharedTools) {
    super(options, shared);
    this.#options = options;
    const { store, observer, definitions } = this.shared;
    const { config, env, pool, log, ownCommand } = options;
    const jsNameOf = (server: string) => this.jsNameOf(server);
    this.#updater = new RegistryUpdater({ config, env, pool, log, store, observer, definitions, jsNameOf, ownCommand });
    pool.onListChanged((server, what) => {
      if (what === "tools") this.#listLater(server);
    });
    // A call of a tool that the server no longer lists: the registry is older than the server.
    pool.onUnlistedCall((server) => {
      const how = { isNew: true, startsNothing: true };
      this.#listings.join(server, () => this.#updateConnected(server), how).catch(() => {});
    });
  }

  /** A catalog of the same config that asks servers through another pool. */
  withPool(pool: Pool): ToolCatalog {
    return new ToolCatalog({ ...this.#options, pool }, this.shared);
  }

  /**
   * The tools of a server, as fresh as the caller needs them, including denied ones. The answer is stored if the registry can be written.
   * Concurrent callers share one request. Throws what the pool throws, and CANCELLED.
   */
  async tools(server: string, { freshAs = "now", waitMs, signal }: ToolsOptions = {}): Promise<RegistryServer> {
    const isEnough = freshAs === "stored" || (freshAs === "listed" && this.freshness(server) === "listed");
    const known = isEnough ? this.#stored(server) : undefined;
    const { whole } = known ?? (await this.#listed(server, { waitMs, signal }));
    if (freshAs === "now") return whole;
    await this.#changesListed([server], waitMs, signal);
    return this.findWithDenied(server) ?? whole;
  }

  /**
   * Asks a server for its tools, stores them, and returns what has changed. Concurrent callers share one request. Throws what the pool
   * throws, CANCELLED and FILE_NOT_WRITABLE.
   */
  async list(server: string, { signal, isDry, isOneOfMany }: ListOptions = {}): Promise<Listing> {
    if (isDry) return this.#updater.ask(server, { signal });
    const listing = this.#listings.join(server, () => this.#update(server, isOneOfMany));
    try {
      return await unlessAborted(listing, signal, `tools/list of ${server}`);
    } catch (error) {
      if (signal?.aborted && isOneOfMany && this.#updater.isWriting(server)) return listing;
      throw error;
    }
  }

  /**
   * Asks a server for its tools, and compares their definitions with the accepted ones before the next call. A listing that has begun
   * already does not count: the server may have changed since. Throws what `tools` throws.
   */
  async verify(server: string, signal: AbortSignal | undefined): Promise<void> {
    const despite = (error: unknown) => {
      // In that case nothing was compared, and no call may be made.
      if (error instanceof ClaudikinsError && error.code === "VERSION_TOO_OLD") throw error;
      return this.#storedDespite(error, server);
    };
    const update = () => this.#updateQuietly(server);
    await this.#listings.join(server, update, { isNew: this.#listings.isUnderWay(server), signal }).catch(despite);
  }

  /** The config's edits that do not fit the last list that this process received from the server. */
  misfits(server: string): readonly string[] {
    return this.#updater.misfits(server);
  }

  /** Takes over what another catalog has listed and written to the same registry. */
  takeListed(server: RegistryServer): void {
    this.shared.store.remember(server);
  }

  /** Takes over what the catalog of the config without this door has listed. The door has other rules, and the definitions are the same. */
  takeListedWithoutDoor(server: RegistryServer): void {
    const config = this.config.servers.get(server.name);
    if (!config) return;
    const rules = rulesOf(config);
    const fingerprint = fingerprintOf(config, this.jsNameOf(server.name), rules);
    this.takeListed({ ...server, fingerprint, ...(rules && { rules }) });
  }

  /** Lists a connected server in the background, unless this process has listed it already. */
  listInBackground(server: string): void {
    if (!this.#updater.hasListed(server)) this.#listLater(server);
  }

  /**
   * Asks all servers that are not known, and waits until servers that announced a change have been listed again. A slow or broken server is
   * waited for at most 10 s after it was asked. Returns why servers are still not known, by name. Outdated servers that have all accepted
   * tools, with the config's edits, are asked in the background, or like the others with `waitForOutdated`. With `only`, no other servers
   * are asked. The server of saved programs is always waited for, because it is in this process.
   */
  async listMissing(
    signal: AbortSignal,
    { waitForOutdated = false, only }: { waitForOutdated?: boolean; only?: readonly string[] | undefined } = {},
  ): Promise<Map<string, string>> {
    const missing = this.missingServers().filter((server) => only?.includes(server) ?? true);
    const isSaved = (server: string) => {
      const { isSavedPrograms, isModel } = this.config.servers.get(server) ?? {};
      return isSavedPrograms === true || isModel === true;
    };
    const canWait = (server: string) =>
      this.freshness(server) === "outdated" &&
      !isSaved(server) &&
      !this.hasOtherEdits(server) &&
      !this.isReviewed(server);
    const later = waitForOutdated ? [] : missing.filter(canWait);
    // Runs after the answer, because the answer must not wait for processes to start.
    if (later.length > 0) {
      setImmediate(() => {
        for (const server of later) {
          this.#listings.join(server, () => this.#updateInTurn(server), { inTurn: true }).catch(() => {});
        }
      });
    }
    const asked = missing.filter((server) => !later.includes(server));
    const [problems] = await Promise.all([
      Promise.all(asked.map(async (server) => [server, await this.#problemOfListing(server, signal)] as const)),
      this.#changesListed([...this.config.servers.keys()], firstAnswerMs, signal),
    ]);
    return new Map(problems.flatMap(([server, problem]) => (problem === undefined ? [] : [[server, problem]])));
  }

  /** Resolves when the server is not being asked, and its files are written or could not be. Never rejects. */
  listingEnded(server: string): Promise<void> {
    return this.#listings.ended(server);
  }

  /** Called with each server that has listed its tools, whether they changed or not, for as long as the catalog is open. */
  onChange(listener: (server: string, before: RegistryServer | undefined) => void): void {
    this.#subscriptions.defer(this.shared.store.onRemembered(listener));
  }

  /** From now on a server that announces a change is not listed again: its config is not written yet. */
  ignoreChanges(): void {
    this.#ignoresChanges = true;
  }

  /** Writes the listed tools to the index. Throws FILE_NOT_WRITABLE. */
  writeIndex(): Promise<void> {
    return this.shared.store.write();
  }

  /** Forgets the stored servers that the config no longer has, and removes their files. Returns their names. */
  async prune(): Promise<string[]> {
    this.observer.forgetWhenOff();
    const removed = this.forgetRemoved();
    for (const server of removed) {
      removeServer(this.config.folders.registry, server);
      this.shared.store.changed(server.name);
    }
    await this.writeIndex();
    return removed.map(({ name }) => name);
  }

  /** Stops asking servers, and writes pending changes. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#subscriptions.dispose();
    this.#listings[Symbol.dispose]();
    await this.#updater.written();
    await this.#writeRest();
  }

  protected override hasListed(server: string): boolean {
    return this.#updater.hasListed(server);
  }

  /** Lists a server again that announced a change. */
  #listLater(server: string): void {
    if (!this.#ignoresChanges) this.#listings.changed(server, () => this.#updateConnected(server));
  }

  /** Waits until the servers that announced a change have been listed again. Never rejects. */
  async #changesListed(
    servers: readonly string[],
    waitMs: number | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const changing = servers.filter((server) => this.#listings.isChanging(server));
    if (changing.length === 0) return;
    const late = waitMs === undefined ? [] : [AbortSignal.timeout(waitMs)];
    const over = AbortSignal.any([...late, ...(signal ? [signal] : [])]);
    const listed = Promise.all(changing.map((server) => this.#listings.changesListed(server)));
    await unlessAborted(listed, over, "waiting for changed tools").catch(() => {});
  }

  /** Asks a server when it is its turn among many. Returns why there is no answer, if so. */
  async #problemOfListing(server: string, signal: AbortSignal): Promise<string | undefined> {
    try {
      // A caller that joins others gets only the rest of their time, so that a silent server delays only one of many searches.
      const wait = { inTurn: true, waitMs: firstAnswerMs, signal };
      const listed = this.#listings.join(server, () => this.#updateInTurn(server), wait);
      await this.#untilKnown(server, listed);
      return undefined;
    } catch (error) {
      const problem = stateProblem(this.#options.pool.state(server));
      if (problem !== undefined) return problem;
      const isCancelled = error instanceof ClaudikinsError && error.code === "CANCELLED";
      if (!isCancelled || signal.aborted || !this.#listings.isUnderWay(server)) {
        const [line = ""] = messageOf(error).split("\n");
        return error instanceof ClaudikinsError && error.hint !== undefined ? `${line}. ${error.hint}` : line;
      }
      const seconds = Math.round(this.#listings.askedMs(server) / 1_000);
      if (seconds === 0) return "not asked yet: other servers come first; search again";
      return `no answer for ${seconds} s. It may still answer; to check: claudikins list --check`;
    }
  }

  /** The tools of a server as soon as they can be found. Throws what the listing throws. */
  async #listed(server: string, wait: JoinOptions): Promise<Listing> {
    const listed = this.#listings
      .join(server, () => this.#update(server), wait)
      .catch((error: unknown) => this.#storedDespite(error, server));
    await this.#untilKnown(server, listed);
    return this.#stored(server) ?? listed;
  }

  /** Resolves once the tools of the server can be found. Its files may still be written. Throws what the listing throws. */
  async #untilKnown(server: string, listed: Promise<unknown>): Promise<void> {
    const { promise: known, resolve } = Promise.withResolvers<void>();
    const stop = this.shared.store.onRemembered((name) => {
      if (name === server) resolve();
    });
    await Promise.race([listed, known]).finally(stop);
  }

  async #update(server: string, isOneOfMany = false): Promise<Listing> {
    const listing = await this.#updater.update(server);
    if (!isOneOfMany) await this.writeIndex();
    return listing;
  }

  /** Writes nothing if nothing has changed. */
  async #updateQuietly(server: string): Promise<Listing> {
    const listing = await this.#updater.update(server, { isQuiet: true });
    if (listing.server !== listing.before) await this.writeIndex();
    return listing;
  }

  /** Updates one of many servers. */
  async #updateInTurn(server: string): Promise<Listing> {
    const { pool, config } = this.#options;
    // Another session that shares the stored tools may have been quicker.
    const known = this.isMissing(server) ? undefined : this.#stored(server);
    if (known) return known;
    const wasIdle = pool.state(server).state === "idle";
    const areMany = this.#listings.size > listedAtOnce;
    const listing = await this.#updater.update(server).catch((error: unknown) => this.#storedDespite(error, server));
    // If many are listed, the last ones write the index for all.
    if (this.#listings.size <= listedAtOnce) await this.#writeRest();
    // If many are listed, they do not keep running: the first call starts a server again.
    if (areMany && wasIdle && !config.servers.get(server)?.keepAlive) await pool.release(server);
    return listing;
  }

  /** Updates a server if it is connected, as after a change. */
  async #updateConnected(name: string): Promise<Listing> {
    const { log } = this.#options;
    try {
      const listing = await this.#updater.update(name, { startsNothing: true });
      await this.writeIndex();
      const { server, before } = listing;
      if (server !== before) log.info(`${name} has changed: ${server.tools.length} tools now`);
      return listing;
    } catch (error) {
      log.debug(`${name}: cannot refresh its tools: ${messageOf(error)}`);
      throw error;
    }
  }

  /** Returns the tools of a server that has answered if only the registry could not be written. Throws every other error. */
  #storedDespite(error: unknown, name: string): Listing {
    const isUnwritten = error instanceof ClaudikinsError && unwritten.includes(error.code);
    const stored = isUnwritten ? this.#stored(name) : undefined;
    if (!stored) throw error;
    return stored;
  }

  /** The tools of a server that are known already, as a listing that changes nothing. */
  #stored(name: string): Listing | undefined {
    const [server, whole] = [this.find(name), this.findWithDenied(name)];
    return server && whole && { server, whole, before: server, collisions: [], files: noFiles };
  }

  async #writeRest(): Promise<void> {
    try {
      await this.writeIndex();
    } catch (error) {
      this.#options.log.debug(`cannot refresh the index: ${messageOf(error)}`);
    }
  }
}
