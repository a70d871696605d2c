/** The parts that front doors work with: one config, one pool, one sandbox, one catalog, one ledger. */
import { ToolCatalog } from "../catalog/tool-catalog.ts";
import { Pool, type PoolOptions } from "../clients/pool.ts";
import type { Config, ServerConfig } from "../config/load.ts";
import { ledgerFolder } from "../config/locations.ts";
import type { ExecutionRecorder } from "../execution/recording.ts";
import { Ledger } from "../ledger/ledger.ts";
import type { Log } from "../log.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { ConfigReload } from "./config-reload.ts";

export class Toolbox implements AsyncDisposable {
  /** Whether the config is not trusted yet: see `locked-toolbox.ts`. */
  readonly isLocked: boolean = false;
  readonly config: Config;
  readonly pool: Pool;
  readonly sandbox: Sandbox;
  readonly catalog: ToolCatalog;
  /** Counts calls and characters. */
  readonly ledger: Ledger;
  readonly log: Log;
  readonly #options: PoolOptions;
  /** The toolbox whose sandbox, stored tools and ledger this one borrows. */
  readonly #lender: Toolbox | undefined;
  /** Toolboxes with our config and connections of their own. */
  readonly #borrowers = new Set<Toolbox>();
  readonly #configListeners = new Set<() => void>();
  /** Records executions for `claudikins trace`. Set it before anything runs; it ends with the toolbox. */
  recorder: ExecutionRecorder | undefined;
  /** Looks whether the config file has changed. Undefined if the config stays as it is. Set it before anything runs. */
  reload: ConfigReload | undefined;

  constructor(config: Config, sandbox: Sandbox, options: PoolOptions, lender?: Toolbox) {
    this.config = config;
    this.sandbox = sandbox;
    this.log = options.log;
    this.#options = options;
    this.#lender = lender;
    if (lender) lender.#borrowers.add(this);
    this.recorder = lender?.recorder;
    this.reload = lender?.reload;
    this.pool = new Pool(config.servers, options);
    const { env, log } = options;
    this.catalog = lender?.catalog.withPool(this.pool) ?? new ToolCatalog({ config, env, pool: this.pool, log });
    this.ledger = lender?.ledger ?? new Ledger({ folder: config.stats ? ledgerFolder(env) : undefined, log });
  }

  /** A toolbox with connections of its own, for a session whose host answers what servers ask. It borrows everything else. */
  withOwnPool(options: Partial<Pick<PoolOptions, "cwd" | "openChannel">> = {}): Toolbox {
    return new Toolbox(this.config, this.sandbox, { ...this.#options, openChannel: undefined, ...options }, this);
  }

  /**
   * Uses the servers and limits of another config from now on. Returns the names of servers that were added, removed or changed;
   * the others keep their connections. Folders, modes and what is recorded stay those of the start.
   */
  take(config: Config): string[] {
    const before = new Map(this.config.servers);
    const names = new Set([...before.keys(), ...config.servers.keys()]);
    const changed = [...names].filter((name) => !isSameEntry(before.get(name), config.servers.get(name)));
    const others = new Set(changed);
    const { limits, check, surfaceTokens } = config;
    Object.assign(this.config, { limits, check, surfaceTokens });
    // The same map, since every part that works with the config holds it.
    this.config.servers.clear();
    for (const [name, server] of config.servers) {
      this.config.servers.set(name, others.has(name) ? server : before.get(name)!);
    }
    for (const each of [this, ...this.#borrowers]) each.#taken(changed);
    return changed;
  }

  #taken(changed: readonly string[]): void {
    this.catalog.configChanged();
    if (changed.length === 0) return;
    this.pool.replaced(changed);
    for (const listener of this.#configListeners) listener();
  }

  /** Called when the config has other servers, for as long as the toolbox is open. */
  onConfig(listener: () => void): void {
    this.#configListeners.add(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const isOwner = this.#lender === undefined;
    if (this.#lender) this.#lender.#borrowers.delete(this);
    if (isOwner) this.reload?.[Symbol.dispose]();
    const cataloged = this.catalog[Symbol.asyncDispose]();
    if (isOwner) this.sandbox[Symbol.dispose]();
    await cataloged;
    await Promise.all([this.pool.close(), isOwner && this.recorder?.end()]);
    if (isOwner) await Promise.all([this.catalog.observer.flush(), this.ledger.end(), this.#options.logs?.end()]);
  }
}

/** Whether two entries are the same, with the values that were filled in for variables. */
function isSameEntry(one: ServerConfig | undefined, other: ServerConfig | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
