/** The parts that front doors work with: one config, one pool, one sandbox, one catalog, one ledger. */

import { dirname } from "node:path";
import { giveBackMemory } from "../base/give-back-memory.ts";
import { IdleTimer } from "../base/idle-timer.ts";
import type { Log } from "../base/log.ts";
import { hourMs } from "../base/units.ts";
import { usesOwn } from "../config/credentials.ts";
import type { Environment } from "../config/environment.ts";
import { type Config, mistakeLines, type ServerConfig, unfilledText } from "../config/load.ts";
import { approvalLink } from "../config/oidc.ts";
import { type ApprovalQueue, ImmediateQueue } from "../policy/approval-queue.ts";
import { Approvals } from "../policy/approvals/approvals.ts";
import { LaterQueue } from "../policy/approvals/later-queue.ts";
import { StoredQueue } from "../policy/approvals/stored-queue.ts";
import { LabelSessions } from "../policy/flow/label-sessions.ts";
import { WrittenServers } from "../policy/flow/written-servers.ts";
import { UsageQuotas } from "../policy/quotas.ts";
import type { ApprovalNews } from "../programs/approvals/approval-news.ts";
import { CallLog } from "../programs/call-log/call-log.ts";
import type { DriftWatch } from "../programs/drift/watch.ts";
import type { Executions } from "../programs/execution/executions.ts";
import type { TraceRecorder } from "../programs/execution/recording.ts";
import type { OtherBuilds } from "../programs/execution/stored-executions.ts";
import { Ledger } from "../programs/ledger/ledger.ts";
import { tokensKeptOut } from "../programs/ledger/statistics.ts";
import type { RecordingFolder } from "../programs/recordings/recording-folder.ts";
import type { Telemetry, WatchedState } from "../programs/telemetry.ts";
import { newId } from "../programs/trace/id.ts";
import type { SharedWorkspace } from "../programs/workspace/shared-workspace.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import type { CredentialStore } from "../servers/auth/credentials.ts";
import type { ChannelOpener } from "../servers/connection/channel.ts";
import { configOwner } from "../servers/logs/place.ts";
import { Pool, type PoolOptions } from "../servers/pool.ts";
import { bestCommand, ownShellCommand } from "../setup/upgrade/lasting.ts";
import type { Approval } from "../store/approval.ts";
import { openStore } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { isAnywhere } from "../tools/catalog/anywhere.ts";
import { ToolCatalog } from "../tools/catalog/tool-catalog.ts";
import { firstSuspicious } from "../tools/definitions/suspicious.ts";
import type { RegistryServer } from "../tools/model.ts";
import { ConfigReload, type ReloadOptions } from "./config-reload.ts";

export interface AppOptions extends Omit<PoolOptions, "queueFor" | "stored"> {
  /** Whether calls of programs may wait for a decision that is made elsewhere or later. The caller learns what waits. */
  waitsForApprovals?: boolean;
  /** Records executions for `claudikins executions`. It ends with the app. */
  recorder?: TraceRecorder | undefined;
  /** Records the programs of agents into a folder. It ends with the app. */
  recordings?: RecordingFolder | undefined;
  /** Hears of executions and calls. */
  telemetry?: Telemetry | undefined;
  /** Whether a change of a server is judged at once: which saved programs would it break? */
  watchesPrograms?: boolean;
  /** Follows changes of the config file. Without it, the config stays as it is. */
  reload?: ReloadOptions | undefined;
  /** Called at the end with the ids of executions that another process can continue. */
  whenLeft?: ((executions: readonly string[]) => Promise<unknown>) | undefined;
  /** Time without calls until workers end and memory is given back. Default one minute. */
  idleAfterMs?: number;
  /** Continues programs that other builds of claudikins have saved. */
  otherBuilds?: OtherBuilds | undefined;
  /** Opens the channels of one session of an agent. Without it, a session starts all its servers itself. */
  sessionChannels?: ((session: string) => ChannelOpener) | undefined;
  /** Ends with the app, after its connections. */
  ownServers?: AsyncDisposable | undefined;
}

export interface OwnPoolOptions extends Partial<Pick<PoolOptions, "cwd" | "openChannel">> {
  /** Sessions share the servers that keep no state for them. */
  session?: string | undefined;
}

/** Codes of errors that a person can end while `serve` runs. */
export type LockReason = "CONFIG_NOT_TRUSTED" | "CONFIG_INVALID";

export class App implements AsyncDisposable {
  /** Why the config cannot be used yet, which `locked-app.ts` waits for. Undefined if it is in use. */
  readonly lockedBy: LockReason | undefined = undefined;
  /** The app that works while this one is locked. */
  readonly meanwhile: App | undefined = undefined;
  readonly config: Config;
  readonly pool: Pool;
  readonly sandbox: Sandbox;
  readonly catalog: ToolCatalog;
  /** What outlives this process: records, counts, approvals, executions. */
  readonly store: Store;
  /** What the sessions of agents have read. */
  readonly sessions: LabelSessions;
  /** Counts calls and characters. */
  readonly ledger: Ledger;
  /** Keeps who called what. */
  readonly callLog: CallLog;
  readonly quotas: UsageQuotas;
  /** What waits for a person's decision, here and in other processes. */
  readonly approvals: Approvals;
  readonly log: Log;
  /** Front doors that stay open mark here what runs. When nothing has run for a while, memory is given back. */
  readonly idleTimer: IdleTimer;
  readonly #options: AppOptions;
  /** The app whose sandbox, store, ledger and timer this one borrows. */
  readonly #lender: App | undefined;
  /** The app with the same config, whose catalog and executions this one borrows. Undefined behind a door. */
  readonly #twin: App | undefined;
  /** Apps with our config and connections of their own. */
  readonly #borrowers = new Set<App>();
  readonly #configListeners = new Set<() => void>();
  /** Records executions for `claudikins executions`. */
  readonly recorder: TraceRecorder | undefined;
  /** Undefined if the programs of agents are not recorded into a folder. */
  readonly recordings: RecordingFolder | undefined;
  /** Undefined if nothing is sent. */
  readonly telemetry: Telemetry | undefined;
  readonly #watching: Disposable | undefined;
  /** Applies changes of the config. Undefined if the config stays as it is. */
  readonly reload: ConfigReload | undefined;
  #executions: Promise<Executions> | undefined;
  #workspace: Promise<SharedWorkspace | undefined> | undefined;
  #stored: StoredQueue | undefined;
  #later: LaterQueue | undefined;
  #news: Promise<ApprovalNews> | undefined;
  /** Our own executions, once they were needed. */
  #known: Executions | undefined;
  #drift: Promise<DriftWatch> | undefined;

  constructor(config: Config, sandbox: Sandbox, options: AppOptions, lender?: App) {
    this.config = config;
    this.sandbox = sandbox;
    this.log = options.log;
    this.#options = options;
    this.#lender = lender;
    const twin = lender?.config === config ? lender : undefined;
    this.#twin = twin;
    if (twin) twin.#borrowers.add(this);
    const { env, log, recorder, recordings, reload, telemetry } = options;
    this.recorder = recorder;
    this.recordings = recordings;
    this.telemetry = telemetry;
    this.reload = twin ? twin.reload : reload && new ConfigReload(this, reload);
    this.store = lender?.store ?? openStore(env);
    this.sessions = lender?.sessions ?? new LabelSessions({ store: this.store, log });
    this.approvals = lender?.approvals ?? new Approvals({ store: this.store });
    if (!lender) this.approvals.onRow((row) => this.#tellOf(row));
    this.quotas =
      twin?.quotas ??
      new UsageQuotas({
        owners: () => config.quotas,
        servers: config.servers,
        config: configOwner(config.origin) ?? "demo",
        store: this.store,
        parent: lender?.quotas,
      });
    this.pool = new Pool(config.servers, {
      ...options,
      sealing: () => this.config.sealing,
      quotas: this.quotas,
      openChannel: (server, channelOptions) => this.#openChannel(server, channelOptions),
      isAnywhere: async (server, rootsOf) => !this.#isPlaced && isAnywhere(server, rootsOf),
      queueFor: this.#queueFor(),
      stored: (server) => this.catalog.find(server),
      reads: this.sessions.ofConnection(),
      written: new WrittenServers(this.sessions, configOwner(config.origin) ?? "demo"),
      catalogLabels: async (server) => (await import("../tools/server-catalog.ts")).recognise(server)?.labels,
      suspiciousTool: () => firstSuspicious(this.catalog.index.servers),
      place: { door: config.door ?? "", person: config.person?.name ?? "" },
      definitions: {
        held: (server) => this.catalog.held(server),
        isLocked: (server) => config.servers.get(server)?.definitions?.mode === "lock",
        isReviewed: (server, mark) => this.catalog.isReviewed(server, mark),
        verify: (server, signal) => this.catalog.verify(server, signal),
      },
    });
    this.catalog =
      twin?.catalog.withPool(this.pool) ??
      new ToolCatalog({ config, env, cwd: options.cwd, pool: this.pool, log, ownCommand: () => bestCommand(env) });
    if (!lender) this.#logNotes();
    if (options.watchesPrograms && !lender) this.catalog.onChange((server, before) => this.#listed(server, before));
    this.idleTimer = lender?.idleTimer ?? new IdleTimer(() => void this.#rest(), options.idleAfterMs);
    this.ledger = lender?.ledger ?? new Ledger({ store: config.stats ? this.store : undefined, log });
    this.callLog =
      lender?.callLog ??
      new CallLog({
        store: config.callLog.keepDays > 0 ? this.store : undefined,
        config: configOwner(config.origin),
        keepDays: config.callLog.keepDays,
        send: telemetry?.logged,
        log,
      });
    this.#watching = telemetry?.watch(this.#state());
  }

  /** Judges the saved programs. A server that is listed for the first time has not changed, and most configs have no saved programs. */
  #listed(server: string, before: RegistryServer | undefined): void {
    const { documents, mark } = this.config.savedPrograms;
    if (!before || !documents.areKnown || documents.read(mark) === undefined) return;
    this.#drift ??= import("../programs/drift/watch.ts").then((loaded) => new loaded.DriftWatch(this, this.log));
    void this.#drift.then((watch) => watch.listed(server, before));
  }

  /** Our part of the state that telemetry reports: the lender reports what we borrow. */
  #state(): WatchedState {
    const { approvals, config, pool, ledger } = this;
    const isOwner = this.#lender === undefined;
    const total = isOwner && ledger.isOn ? ledger.total() : undefined;
    const executions = () => (this.#twin ? undefined : this.#known?.states);
    return {
      door: config.door,
      executions: () => executions() ?? { running: 0, waiting: 0, queued: 0 },
      servers: () => pool.loads(),
      approvals: isOwner ? async () => (this.store.exists ? (await approvals.open()).length : 0) : undefined,
      tokensKeptOut: total && (() => tokensKeptOut(total())),
    };
  }

  /** The credentials of the person that it works for. */
  get own(): CredentialStore | undefined {
    return this.#options.own;
  }

  get env(): Environment {
    return this.#options.env;
  }

  /**
   * Whether its servers depend on the folder, so that none may be started in the home folder and shared: the servers of a project's config run in
   * the project, and agents have roots of their own.
   */
  get #isPlaced(): boolean {
    const { origin } = this.config;
    const { cwd, sessionChannels } = this.#options;
    return sessionChannels !== undefined || (origin.kind === "project" && dirname(origin.file) === cwd);
  }

  /** The working directory of servers that name none. */
  get cwd(): string {
    return this.#options.cwd;
  }

  /** The command with which the user starts claudikins in a shell. */
  get shellCommand(): string {
    return ownShellCommand(this.#options.env);
  }

  /** The executions of this process and of the store. */
  executions(): Promise<Executions> {
    this.#executions ??= this.#twin?.executions() ?? this.#newExecutions();
    return this.#executions;
  }

  async #newExecutions(): Promise<Executions> {
    const { Executions } = await import("../programs/execution/executions.ts");
    const { log, otherBuilds } = this.#options;
    const { origin, door, person } = this.config;
    this.#known = new Executions({
      store: this.store,
      config: origin.kind === "demo" ? null : origin.file,
      door,
      person: person?.id,
      log,
      otherBuilds,
    });
    return this.#known;
  }

  /** The workspace, if the store has it for all replicas. Nobody shares the workspace of the demo. */
  sharedWorkspace(): Promise<SharedWorkspace | undefined> {
    this.#workspace ??= this.#twin?.sharedWorkspace() ?? this.#openWorkspace();
    return this.#workspace;
  }

  async #openWorkspace(): Promise<SharedWorkspace | undefined> {
    const { files } = this.store;
    if (!files || this.config.origin.kind === "demo") return undefined;
    const { SharedWorkspace } = await import("../programs/workspace/shared-workspace.ts");
    return new SharedWorkspace(files, this.config, this.log);
  }

  /** The servers of the saved programs and of the model are in this process, with our servers. */
  readonly #openChannel: ChannelOpener = async (server, options) => {
    if (server.isModel) {
      const { modelChannel } = await import("../task-runner/model-server.ts");
      return modelChannel(this);
    }
    if (!server.isSavedPrograms) {
      // Nobody else may get a channel with the credentials of a person.
      const shared = usesOwn(server) ? undefined : this.#options.openChannel;
      const open = shared ?? (await import("../servers/connection/open-channel.ts")).openDirectChannel;
      return open(server, { ...options, workspace: this.config.folders.workspace });
    }
    const { savedProgramsChannel } = await import("../programs/saved/server.ts");
    const place = this.config.savedPrograms;
    return savedProgramsChannel({ place, parts: this, executions: () => this.executions() });
  };

  /** Returns the queue of a question about a call: a call of a program may wait in the database. */
  #queueFor(): PoolOptions["queueFor"] {
    const { config, approvals } = this;
    const { person, waitsForApprovals = false } = this.#options;
    const stored = new StoredQueue({
      approvals,
      config: configOwner(config.origin),
      door: config.door,
      person: config.person,
      expiresAfterMs: () => config.approvals.expireHours * hourMs,
      place: person ? "terminal" : "agent",
      redact: (server, args) => this.pool.redacted(server, args),
    });
    const immediate = new ImmediateQueue(stored.record);
    this.#stored = stored;
    return (made) => (made && waitsForApprovals && config.approvals.wait ? stored : immediate);
  }

  /** Tells the address of the config that a call waits. */
  #tellOf(row: Approval): void {
    if (!this.config.approvals.notify && !this.#news) return;
    this.#news ??= import("../programs/approvals/approval-news.ts").then(({ ApprovalNews }) => {
      const settings = () => ({ notice: this.config.approvals.notify, link: approvalLink(this.config) });
      return new ApprovalNews({ env: this.env, log: this.log, settings });
    });
    void this.#news.then((news) => news.changed(row));
  }

  /** The queue of an agent's single calls. Undefined if they may not wait. */
  get laterQueue(): ApprovalQueue | undefined {
    if (!this.#options.waitsForApprovals || !this.config.approvals.wait) return undefined;
    this.#later ??= new LaterQueue(this.#stored!, newId(Date.now()));
    return this.#later;
  }

  get isLocked(): boolean {
    return this.lockedBy !== undefined;
  }

  /**
   * Begins a request: applies a changed config, and returns the app to work with. A locked app opens another. Throws an error with the code
   * of `lockedBy`.
   */
  async ready(_signal: AbortSignal): Promise<App> {
    await this.reload?.refresh();
    return this;
  }

  /** What the user must do before the servers of this config work, if others work meanwhile. */
  get waitsFor(): string | undefined {
    return undefined;
  }

  /** An app with connections of its own, for a session whose host answers what servers ask. It borrows everything else. */
  withOwnPool({ session, ...options }: OwnPoolOptions = {}): App {
    const openChannel = session === undefined ? undefined : this.#options.sessionChannels?.(session);
    return new App(this.config, this.sandbox, { ...this.#options, openChannel, ...options }, this);
  }

  /**
   * An app for the part of our config that is behind a door, or that a person has. It borrows everything but the connections, the catalog
   * and the executions.
   */
  behindDoor(config: Config, { reload, own, identity }: Pick<AppOptions, "reload" | "own" | "identity"> = {}): App {
    const { sessionChannels, openChannel } = this.#options;
    const { door, person } = config;
    const view = [door === undefined ? [] : `door ${door}`, person ? `person ${person.id}` : []].flat().join(" ");
    const ownChannel = sessionChannels?.(view) ?? openChannel;
    return new App(config, this.sandbox, { ...this.#options, openChannel: ownChannel, reload, own, identity }, this);
  }

  /**
   * Uses the servers and limits of another config from now on. Returns the names of servers that were added, removed or changed;
   * the others keep their connections. Folders, modes and what is recorded stay as at the start.
   */
  take(config: Config): string[] {
    const before = new Map(this.config.servers);
    const names = new Set([...before.keys(), ...config.servers.keys()]);
    const changed = [...names].filter((name) => !isSameEntry(before.get(name), config.servers.get(name)));
    const others = new Set(changed);
    const {
      disabled,
      doors,
      oidc,
      sealing,
      limits,
      quotas,
      executions,
      approvals,
      check,
      surfaceTokens,
      surfaceLearns,
    } = config;
    const surface = { check, surfaceTokens, surfaceLearns };
    const settings = { disabled, doors, oidc, sealing, limits, quotas, executions, approvals, ...surface };
    Object.assign(this.config, settings);
    // The same map, since every part that works with the config holds it.
    this.config.servers.clear();
    for (const [name, server] of config.servers) {
      this.config.servers.set(name, others.has(name) ? server : before.get(name)!);
    }
    for (const each of [this, ...this.#borrowers]) each.#taken(changed);
    return changed;
  }

  #logNotes(): void {
    const unfilled = [...this.config.servers.values()].flatMap((server) => unfilledText(server) ?? []);
    for (const line of [...mistakeLines(this.config), ...unfilled]) this.log.warn(line);
  }

  /** Everything that is given up here is made again for the next call. */
  async #rest(): Promise<void> {
    await this.sandbox.releaseWorkers();
    await giveBackMemory(() => this.idleTimer.isRunning);
  }

  #taken(changed: readonly string[]): void {
    this.catalog.configChanged();
    if (changed.length === 0) return;
    if (!this.#lender) this.#logNotes();
    this.pool.replaced(changed);
    for (const listener of this.#configListeners) listener();
  }

  /** Called when the config has other servers, for as long as the app is open. */
  onConfig(listener: () => void): void {
    this.#configListeners.add(listener);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const isOwner = this.#lender === undefined;
    await this.#later?.[Symbol.asyncDispose]();
    (await this.#drift)?.[Symbol.dispose]();
    const executions = await this.#executions;
    this.#watching?.[Symbol.dispose]();
    await (this.#twin ? executions?.endOf(this) : executions?.[Symbol.asyncDispose]());
    if (isOwner) await this.recordings?.[Symbol.asyncDispose]();
    if (this.#twin) this.#twin.#borrowers.delete(this);
    if (!this.#twin) this.reload?.[Symbol.dispose]();
    if (isOwner) this.idleTimer[Symbol.dispose]();
    const cataloged = this.catalog[Symbol.asyncDispose]();
    if (isOwner) this.sandbox[Symbol.dispose]();
    await cataloged;
    await Promise.all([this.pool.close(), isOwner && this.recorder?.end()]);
    if (isOwner) await this.#options.ownServers?.[Symbol.asyncDispose]();
    (await this.#news)?.[Symbol.dispose]();
    if (isOwner) await this.approvals[Symbol.asyncDispose]();
    if (!this.#twin) await this.catalog.observer.flush();
    if (isOwner) await Promise.all([this.ledger.end(), this.callLog.end(), this.#options.logs?.end()]);
    if (isOwner) await this.store[Symbol.asyncDispose]();
    if (!this.#twin && executions && executions.left.length > 0) await this.#options.whenLeft?.(executions.left);
  }
}

/** Whether two entries are the same, with the values that were filled in for variables. */
function isSameEntry(one: ServerConfig | undefined, other: ServerConfig | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
