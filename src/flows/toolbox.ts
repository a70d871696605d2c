/** What every flow works with: one config, one pool, one sandbox, and what the registry knows of the servers' tools. */
import { type CallOptions, Pool, type PoolOptions } from "../clients/pool.ts";
import { unlessAborted } from "../clients/unless-aborted.ts";
import type { Config, ServerConfig } from "../config/load.ts";
import { ledgerFolder } from "../config/locations.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import { Ledger } from "../ledger/ledger.ts";
import type { Log } from "../log.ts";
import type { RegistryIndex, RegistryServer } from "../registry/model.ts";
import { assignNames, type Named, sandboxGlobals } from "../registry/names.ts";
import { removeServer } from "../registry/store.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { Asking, askedAtOnce } from "./asking.ts";
import { fingerprintOf } from "./config-entry.ts";
import type { ConfigReload } from "./config-reload.ts";
import { KnownServers } from "./known-servers.ts";
import { Observer } from "./observer.ts";
import type { ExecutionRecorder } from "./recording.ts";
import { Refresher } from "./refresher.ts";
import { ShownServers } from "./shown-servers.ts";
import { type Asked, type SyncOptions, type SyncResult, Syncs } from "./syncs.ts";

export class Toolbox implements AsyncDisposable {
  /** Whether the config is not trusted yet: see `locked-toolbox.ts`. */
  readonly isLocked: boolean = false;
  readonly config: Config;
  readonly pool: Pool;
  readonly sandbox: Sandbox;
  /** The configured servers' names in code. */
  names: readonly Named[];
  #jsNames: ReadonlyMap<string, string | undefined>;
  readonly #registry: KnownServers;
  readonly #shown: ShownServers;
  /** What was seen of tools' results. */
  readonly observer: Observer;
  /** What was called, and how much of it came back. */
  readonly ledger: Ledger;
  /** To be given before anything runs: who keeps what executions did. It is ended with us. */
  #recorder: ExecutionRecorder | undefined;
  readonly #fingerprints = new Map<string, string>();
  readonly #syncs: Syncs;
  readonly #options: PoolOptions;
  readonly log: Log;
  /** Whose registry, observations and sandbox it works with, where they are not its own. */
  readonly #lender: Toolbox | undefined;
  readonly #toolListeners = new Set<(server: string) => void>();
  readonly #configListeners = new Set<() => void>();
  /** Those that work with our config over connections of their own. */
  readonly #borrowers = new Set<Toolbox>();
  #reload: ConfigReload | undefined;
  readonly #stopListening: () => void;
  readonly #refresher = new Refresher((name) => this.#refresh(name));
  readonly #asking = new Asking((name) => this.#learnNow(name));

  constructor(config: Config, sandbox: Sandbox, options: PoolOptions, lender?: Toolbox) {
    this.config = config;
    this.sandbox = sandbox;
    this.#options = options;
    this.#lender = lender;
    if (lender) lender.#borrowers.add(this);
    [this.names, this.#jsNames] = namesOf(config);
    this.#shown = lender ? lender.#shown : new ShownServers(config.servers);
    this.log = options.log;
    const { registry } = config.folders;
    this.observer =
      lender?.observer ??
      new Observer({
        folder: registry,
        isOn: config.observe,
        servers: () => this.#registry.index.servers,
        log: options.log,
      });
    const counted = config.stats ? ledgerFolder(options.env) : undefined;
    this.ledger = lender?.ledger ?? new Ledger({ folder: counted, log: options.log });
    this.#registry = lender
      ? lender.#registry
      : new KnownServers(registry, this.#shown, (server) => this.observer.apply(server));
    this.#stopListening = this.#registry.onRemembered((server) => {
      for (const listener of this.#toolListeners) listener(server);
    });
    this.pool = new Pool(config.servers, options);
    this.#syncs = new Syncs({
      config,
      env: options.env,
      pool: () => this.pool,
      registry: this.#registry,
      shown: this.#shown,
      observer: this.observer,
      jsNameOf: (name) => this.#jsNameOf(name),
    });
    this.pool.onListChanged((server, what) => {
      if (what === "tools") this.#refresher.changed(server);
    });
    // Its tools are taken from the registry, and may be others by now.
    this.pool.onUnlistedCall((server) => void this.#refresh(server));
  }

  /** With connections of its own, for somebody whom servers may ask; everything else is ours, and stays ours at its end. */
  withOwnPool(options: Partial<Pick<PoolOptions, "cwd" | "lines">> = {}): Toolbox {
    return new Toolbox(this.config, this.sandbox, { ...this.#options, lines: undefined, ...options }, this);
  }

  /** Looks whether the config file has changed; undefined where the config stays as it is. To be given before anything runs. */
  get reload(): ConfigReload | undefined {
    return this.#reload ?? this.#lender?.reload;
  }

  set reload(reload: ConfigReload | undefined) {
    this.#reload = reload;
  }

  /**
   * Works with these servers and limits from now on: names of servers that are new, gone or others. Servers whose entry is the
   * same go on as they are. Folders, modes and what is recorded stay those of the start.
   */
  take(config: Config): string[] {
    const before = new Map(this.config.servers);
    const names = new Set([...before.keys(), ...config.servers.keys()]);
    const changed = [...names].filter((name) => !isSameEntry(before.get(name), config.servers.get(name)));
    const others = new Set(changed);
    const { limits, check, surfaceTokens } = config;
    Object.assign(this.config, { limits, check, surfaceTokens });
    // The same map, since whoever works with the config has it.
    this.config.servers.clear();
    for (const [name, server] of config.servers) {
      this.config.servers.set(name, others.has(name) ? server : before.get(name)!);
    }
    this.#shown.forget();
    for (const each of [this, ...this.#borrowers]) each.#taken(changed);
    return changed;
  }

  #taken(changed: readonly string[]): void {
    [this.names, this.#jsNames] = namesOf(this.config);
    this.#fingerprints.clear();
    if (changed.length === 0) return;
    this.pool.replaced(changed);
    for (const listener of this.#configListeners) listener();
  }

  /** Tells, as long as the toolbox is open, that the config has other servers. */
  onConfig(listener: () => void): void {
    this.#configListeners.add(listener);
  }

  get recorder(): ExecutionRecorder | undefined {
    return this.#recorder ?? this.#lender?.recorder;
  }

  set recorder(recorder: ExecutionRecorder | undefined) {
    this.#recorder = recorder;
  }

  /** The registry as it is on disk; empty before the first `gen`, and where it is damaged (see `indexProblem`). */
  get index(): RegistryIndex {
    return this.#registry.index;
  }

  /** Why the registry on disk could not be read. Code runs without it; who lives by it should say so. */
  get indexProblem(): ClaudikinsError | undefined {
    return this.#registry.problem;
  }

  /**
   * What is known of a configured server, if it was generated from the very entry that the config has now. Tools that the
   * config denies are left out, as everywhere where tools are shown.
   */
  known(name: string): RegistryServer | undefined {
    const found = this.#registry.find(name);
    return found && found.fingerprint === this.#fingerprint(name) ? this.#shown.of(found) : undefined;
  }

  /**
   * The same with the tools that the config denies, where this process has asked the server: they are written down nowhere.
   * For errors that say of a name why it cannot be called.
   */
  knownWhole(name: string): RegistryServer | undefined {
    const found = this.#registry.findWhole(name);
    return found && found.fingerprint === this.#fingerprint(name) ? found : undefined;
  }

  /** Whether the server may have tools that the config denies. */
  mayHide(name: string): boolean {
    const policy = this.config.servers.get(name)?.policy;
    return policy !== undefined && policy.allow.length + policy.deny.length > 0;
  }

  /** The configured servers that the registry has anything of, with the tools that may be shown. */
  get shownServers(): RegistryServer[] {
    return this.index.servers
      .filter(({ name }) => this.config.servers.has(name))
      .map((server) => this.#shown.of(server));
  }

  /** Whether something is known of the server that may be old: it was generated from another entry, or by another version. */
  isOutdated(name: string): boolean {
    return this.#registry.find(name) !== undefined && !this.known(name);
  }

  /** Whether this process itself has asked the server for its tools. */
  asked(name: string): boolean {
    return this.#syncs.asked(name);
  }

  /** Configured servers that the registry does not know, or knows from another entry; without those that are closed. */
  unknownServers(): string[] {
    return [...this.config.servers.keys()].filter((name) => !this.known(name) && !this.isClosed(name));
  }

  /** Whether the config denies everything of the server: it is not asked for what nobody may use. */
  isClosed(name: string): boolean {
    return this.#shown.isClosed(name);
  }

  /** Tells, as long as the toolbox is open, which server has told its tools, whether they are others or not. */
  onTools(listener: (server: string) => void): void {
    this.#toolListeners.add(listener);
  }

  /** Asks a connected server for its tools where this process has not done so; nobody waits. */
  lookAt(name: string): void {
    if (!this.asked(name)) this.#refresher.changed(name);
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
  sync(name: string, signal?: AbortSignal, options?: SyncOptions): Promise<SyncResult> {
    return this.#syncs.sync(name, signal, options);
  }

  /** For how long the server's answer has been awaited by now; 0 when none is. */
  askedForMs(name: string): number {
    return this.#syncs.askedForMs(name);
  }

  /** Asks one server for its tools, and changes nothing by the answer. Throws what the pool throws. */
  ask(name: string, options?: CallOptions): Promise<Asked> {
    return this.#syncs.ask(name, options);
  }

  /** `sync` for callers that tolerate a failed write. Gives the server with the tools that the config denies. */
  async learn(name: string, signal?: AbortSignal, options?: SyncOptions): Promise<RegistryServer> {
    try {
      return (await this.sync(name, signal, options)).whole;
    } catch (error) {
      const known = this.knownWhole(name);
      if (known && error instanceof ClaudikinsError && error.code === "FILE_NOT_WRITABLE") return known;
      throw error;
    }
  }

  /**
   * `learn` when it is the server's turn among others. Where very many are asked, they do not stay: the first call starts
   * one again. Who gives up waiting ends it for nobody.
   */
  async learnInTurn(name: string, signal?: AbortSignal): Promise<void> {
    return unlessAborted(this.#asking.ask(name), signal, `tools/list of ${name}`);
  }

  /** For how long somebody has waited for `learnInTurn` by now; 0 when nobody does. */
  turnAwaitedMs(name: string): number {
    return this.#asking.waitedMs(name);
  }

  async #learnNow(name: string): Promise<void> {
    // Code may have been quicker.
    if (this.known(name)) return;
    const wasIdle = this.pool.state(name).state === "idle";
    const areMany = this.#asking.size > askedAtOnce;
    await this.learn(name, undefined, { indexLater: true });
    // Of many, the last ones write it for all.
    if (this.#asking.size <= askedAtOnce) await this.#writeWhatIsLeft();
    if (areMany && wasIdle && !this.config.servers.get(name)?.keepAlive) await this.pool.release(name);
  }

  /** For a config that is not written yet: a server that says that its tools have changed writes nothing into the registry. */
  ignoreChanges(): void {
    this.#refresher[Symbol.dispose]();
  }

  /** When its tools have changed, or may have. */
  async #refresh(name: string): Promise<void> {
    try {
      const { server, before } = await this.#syncs.inTurn(name, { startsNothing: true, ifChanged: true });
      if (server !== before) this.log.info(`the tools of ${name} have changed: ${server.tools.length} now`);
    } catch (error) {
      this.log.debug(`${name}: cannot refresh its tools: ${messageOf(error)}`);
    }
  }

  /** Writes into the index what servers have said of themselves. Throws FILE_NOT_WRITABLE. */
  writeIndex(): Promise<void> {
    return this.#registry.write();
  }

  /** What the registry has of servers that are not in the config any more: from now on as if it had nothing. */
  forgetGone(): RegistryServer[] {
    const gone = this.index.servers.filter((server) => !this.config.servers.has(server.name));
    if (gone.length > 0) this.#registry.forget(new Set(gone.map(({ name }) => name)));
    return gone;
  }

  /** Removes what the registry has of servers that are not in the config any more; their names. */
  async prune(): Promise<string[]> {
    this.observer.forgetWhenOff();
    const gone = this.forgetGone();
    for (const server of gone) {
      removeServer(this.config.folders.registry, server);
      this.#registry.changed(server.name);
    }
    await this.writeIndex();
    return gone.map((server) => server.name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#lender) this.#lender.#borrowers.delete(this);
    this.#reload?.[Symbol.dispose]();
    this.#stopListening();
    this.#refresher[Symbol.dispose]();
    this.#asking[Symbol.dispose]();
    if (!this.#lender) this.sandbox[Symbol.dispose]();
    await this.#writeWhatIsLeft();
    await Promise.all([this.pool.close(), this.#recorder?.end()]);
    if (!this.#lender) await Promise.all([this.observer.flush(), this.ledger.end(), this.#options.logs?.end()]);
  }

  async #writeWhatIsLeft(): Promise<void> {
    try {
      await this.writeIndex();
    } catch (error) {
      this.log.debug(`cannot refresh the index: ${messageOf(error)}`);
    }
  }

  /** Asked for with every call. */
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
    return this.#jsNames.get(name);
  }
}

function namesOf({ servers }: Config): [readonly Named[], ReadonlyMap<string, string | undefined>] {
  const { names } = assignNames([...servers.keys()], sandboxGlobals);
  return [names, new Map(names.map(({ name, jsName }) => [name, jsName]))];
}

/** Variables that are filled in count as well. */
function isSameEntry(one: ServerConfig | undefined, other: ServerConfig | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
