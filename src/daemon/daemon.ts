/** The daemon: one process for each user and config, which runs the servers of the config for all callers. */

import { renameSync, rmSync, type Stats, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { App } from "../app/app.ts";
import { countMark, outcomeInShell } from "../app/shell-execution.ts";
import { ClaudikinsError, messageOf, toClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import { type Lock, takeLock, waitForLock } from "../base/lock.ts";
import type { Log } from "../base/log.ts";
import { isOlder } from "../base/newer.ts";
import { megabyte } from "../base/units.ts";
import { version } from "../base/version.ts";
import type { Watched } from "../base/watched.ts";
import { defaultServerTimes } from "../config/defaults.ts";
import { type Environment, withAbsolutePath } from "../config/environment.ts";
import type { SavedProgramsPlace } from "../config/saved-programs-place.ts";
import { callOnce } from "../programs/call.ts";
import type { Executions } from "../programs/execution/executions.ts";
import { type ExecutionView, viewOf } from "../programs/execution/stored-executions.ts";
import { outcomeJson } from "../programs/execution/stored-outcome.ts";
import { type ScheduledPlace, Scheduler } from "../programs/saved/scheduler.ts";
import { call } from "../programs/shell-call.ts";
import { onAbort } from "../servers/abort.ts";
import { inheritedNames } from "../servers/process/child-environment.ts";
import { stateProblem, stateText } from "../servers/state.ts";
import { hookIn, hookKey } from "../tools/registry/hooks.ts";
import { noteHolder } from "./daemon-note.ts";
import { DoorApps, viewKey } from "./door-apps.ts";
import {
  adoptionIn,
  answerOf,
  bodyIn,
  callIn,
  cancelledIn,
  type DaemonAnswer,
  type DaemonCallRequest,
  executionIn,
  problem,
  valueAnswer,
} from "./messages.ts";
import { DaemonPage, type LocalPage } from "./page.ts";
import { askToStop, statusOf } from "./peers.ts";
import { besides, type DaemonPaths, makePrivate, refuseForeign } from "./place.ts";
import { entryMark, leavingText, type Status, shellSession } from "./protocol.ts";
import { ServerSockets } from "./shared/server-sockets.ts";
import type { SharedServers } from "./shared/shared-servers.ts";
import { type DaemonRequest, SocketListener } from "./transport/listen.ts";
import { upgradeName } from "./transport/message-connection.ts";

/** Maximum time until an older daemon has freed the socket. It finishes its calls meanwhile. */
const takeOverMs = 5_000;

/** Bytes of earlier daemons' logs that are kept when the next daemon starts. */
const maxDaemonLogBytes = megabyte;

/** Minimum time without calls after which the daemon ends. */
const minIdleMs = 300_000;

/** How often the files and the idle time are checked. */
const daemonLookMs = 3_000;

/** Time after the socket's removal in which late callers are still sent to another daemon. */
const lastMomentMs = 250;

/** Time for the last answers when the daemon ends. */
const lastAnswerMs = 5_000;

interface DaemonOptions {
  place: DaemonPaths;
  sharedServers: SharedServers;
  /** The environment of servers that the daemon starts for callers. */
  environment: CallerEnvironment;
  /** The working directory of servers that name none, unless the caller names one. */
  cwd: string;
  /** Time without calls until the daemon ends. Default 5 minutes. */
  idleMs?: number | undefined;
  /** The config, the saved programs, and the executable if the daemon does not run from source. The daemon ends when one has changed. */
  files: Watched;
  interrupted: AbortSignal;
  log: Log;
  /** Opens the part of the config behind a door, or of a person. It ends with the daemon. */
  openDoor: (view: ExecutionView) => Promise<App>;
  /** Returns the place of the saved programs behind a door. */
  programsBehind: (door: string) => SavedProgramsPlace;
  /** Whether a service manager runs the daemon. It then does not end when it is idle. */
  isService?: boolean | undefined;
  /** Opens the page of `claudikins ui`. Called when a user wants to see the page. */
  openPage?: (() => Promise<LocalPage>) | undefined;
  /** Called once, when the daemon listens. */
  onListening?: () => void;
}

/**
 * The environment of servers that are started for calls over the socket. The daemon may have been started by a program with another
 * PATH, such as a desktop application, so a server starts with the environment of the caller that needs it first.
 */
export class CallerEnvironment {
  readonly #own: Environment;
  #env: Environment;

  /** `own` is the daemon's environment. It is used until a caller sends another one. */
  constructor(own: Environment) {
    this.#own = own;
    this.#env = own;
  }

  readonly now = (): Environment => this.#env;

  /** `env` has the variables that servers get without being asked for. All others are the daemon's own. */
  heard(env: Environment | undefined): void {
    if (!env) return;
    const usual = new Set(inheritedNames(this.#own));
    const others = Object.entries(this.#own).filter(([name]) => !usual.has(name));
    this.#env = withAbsolutePath({ ...Object.fromEntries(others), ...env });
  }
}

/**
 * Runs the daemon at its place. Resolves when it has ended, with `"replaceable"` if another one must run the scheduled programs from now on.
 * Resolves at once with `"another"` if one that is not older is running.
 */
export async function runDaemon(app: App, options: DaemonOptions): Promise<"ended" | "replaceable" | "another"> {
  const { place, interrupted } = options;
  makePrivate(dirname(place.lock));
  for (const path of [place.socket, place.lock, place.log, place.holder]) refuseForeign(path);
  const lock = (await takeLock(place.lock, guarded)) ?? (await takeOver(place));
  if (!lock) return "another";
  if ((statSync(place.log, { throwIfNoEntry: false })?.size ?? 0) > maxDaemonLogBytes) truncateSync(place.log);
  const { origin } = app.config;
  noteHolder(place, { pid: process.pid, config: origin.kind === "demo" ? null : origin.file });
  const daemon = new Daemon(app, lock, options);
  options.onListening?.();
  options.log.info(`version ${version} is listening (process ${process.pid})`);
  return daemon.ended(interrupted);
}

/** The guarded thing, as errors name it. */
const guarded = "the daemon";

async function takeOver({ socket, lock }: DaemonPaths): Promise<Lock | undefined> {
  const running = await statusOf(socket);
  if (!running || !isOlder(running.version, version)) return undefined;
  await askToStop(socket, false);
  return waitForLock(lock, guarded, takeOverMs);
}

class Daemon {
  readonly #app: App;
  /** Released as soon as another daemon may use the socket. */
  readonly #lock: Lock;
  readonly #options: DaemonOptions;
  readonly #listener: SocketListener;
  readonly #sockets: ServerSockets;
  readonly #own: Stats;
  readonly #startedAt = Date.now();
  readonly #watch: NodeJS.Timeout;
  readonly #page: DaemonPage;
  readonly #closing = new AbortController();
  readonly #left = Promise.withResolvers<void>();
  /** Apps of callers with another working directory or session. */
  readonly #others = new Map<string, App>();
  readonly #doors: DoorApps;
  readonly #scheduler: Scheduler;
  /** Whether a program is scheduled. */
  #isScheduled = false;
  /** Whether the daemon leaves because its config or its program has changed. */
  #isOld = false;
  /** Doors and people whose programs cannot be continued, by their keys. */
  readonly #closedDoors = new Set<string>();
  #executions: Executions | undefined;
  /** The place where the daemon listens after it has left its usual place, while its page is open. */
  #aside: DaemonPaths | undefined;
  #running = 0;
  #done = 0;
  #lastCallAt = performance.now();
  #isLeaving = false;
  #isFound = false;

  /** Starts to listen. */
  constructor(app: App, lock: Lock, options: DaemonOptions) {
    this.#app = app;
    this.#lock = lock;
    this.#options = options;
    this.#page = new DaemonPage(options.openPage);
    this.#doors = new DoorApps(options.openDoor);
    this.#scheduler = new Scheduler(this.#scheduledPlaces(), options.log);
    this.#sockets = new ServerSockets({
      servers: app.config.servers,
      sharedServers: options.sharedServers,
      refuseDenied: (server, request) => app.pool.refuseRequest(server, request),
      whyLeaving: (asked) => this.#whyLeaving(asked),
      onUse: () => {
        this.#lastCallAt = performance.now();
        app.idleTimer.restart();
      },
    });
    const { socket } = options.place;
    this.#listener = new SocketListener(socket, (request) => this.#answer(request));
    this.#own = statSync(socket);
    app.idleTimer.restart();
    void app.executions().then((executions) => {
      this.#executions = executions;
    });
    void this.#adopt();
    void this.#schedule();
    this.#watch = setInterval(() => this.#look(), Math.min(daemonLookMs, options.idleMs ?? daemonLookMs));
  }

  /** Checks the files and the idle time. A changed config may lead callers to another socket, so no caller would report the change. */
  #look(): void {
    this.#leaveWhenOld();
    void this.#page.closeUnused();
    if (this.#isLeaving) return;
    void this.#adopt();
    void this.#schedule();
    const isUsed =
      this.#options.isService === true ||
      this.#isScheduled ||
      this.#running > 0 ||
      this.#listener.messageConnections > 0 ||
      this.#allExecutions.some(({ size }) => size > 0) ||
      this.#page.isInUse;
    if (!isUsed && performance.now() - this.#lastCallAt >= this.#idleMs()) this.leave("no calls");
  }

  /** Starts the programs that are due. */
  async #schedule(): Promise<void> {
    this.#isScheduled = await this.#scheduler.isNeeded();
    if (this.#isScheduled) await this.#scheduler.look();
  }

  #scheduledPlaces(): ScheduledPlace[] {
    const app = this.#app;
    const opened = async (app: App) => ({
      executions: await app.executions(),
      parts: this.#appFor(app, undefined, shellSession),
    });
    const behind = app.config.doors.map((door) => ({
      place: this.#options.programsBehind(door),
      open: async () => opened(await this.#doors.of({ door })),
    }));
    return [{ place: app.config.savedPrograms, open: () => opened(app) }, ...behind];
  }

  /** Resolves when the daemon has stopped taking calls and all calls are done, or when `interrupted` aborts them. */
  async ended(interrupted: AbortSignal): Promise<"ended" | "replaceable"> {
    onAbort(interrupted, () => this.leave("it was interrupted", { now: true }));
    await this.#left.promise;
    await this.#scheduler.close();
    // Waits until the last answers are read, with a limit.
    const deadline = performance.now() + lastAnswerMs;
    while (this.#listener.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(10);
    await this.#page.close();
    this.#listener.stop();
    if (this.#aside) for (const path of [this.#aside.socket, this.#aside.lock]) rmSync(path, { force: true });
    await Promise.all([...this.#others.values()].map((app) => app[Symbol.asyncDispose]()));
    await this.#doors[Symbol.asyncDispose]();
    return this.#isOld && this.#isScheduled ? "replaceable" : "ended";
  }

  /** The executions of the whole config and of its doors. */
  get #allExecutions(): Executions[] {
    return [...(this.#executions ? [this.#executions] : []), ...this.#doors.executions];
  }

  /**
   * Frees the socket for another daemon, and ends once all calls are done. With `now`, calls are aborted. An open page stays if
   * `keepsPage`, because its person has changed the config with it, or is looking at it.
   */
  leave(why: string, { now = false, keepsPage = false } = {}): void {
    const { sharedServers } = this.#options;
    if (!keepsPage) void this.#page.close();
    if (now) {
      this.#closing.abort(new ClaudikinsError("CANCELLED", "claudikins is closing"));
      void sharedServers.close();
    }
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    void this.#scheduler.close();
    clearInterval(this.#watch);
    this.#options.log.info(`shutting down: ${why}`);
    if (this.#page.isInUse) this.#moveAside();
    else this.#removeSocket();
    this.#lock.release();
    sharedServers.moveAllOut();
    setTimeout(() => this.#endWhenDone(), lastMomentMs);
  }

  #removeSocket(): void {
    if (this.#ownsSocket()) rmSync(this.#options.place.socket, { force: true });
  }

  /** Whether no other daemon has replaced the socket. */
  #ownsSocket(): boolean {
    const found = statSync(this.#options.place.socket, { throwIfNoEntry: false });
    return found?.ino === this.#own.ino && found.dev === this.#own.dev;
  }

  /** With an open page, the daemon can still be found and stopped while another one takes its place. */
  #moveAside(): void {
    const { place } = this.#options;
    if (!this.#ownsSocket()) return;
    const aside = besides(place, process.pid);
    writeFileSync(aside.lock, "", { mode: 0o600 });
    renameSync(place.socket, aside.socket);
    this.#aside = aside;
  }

  #endWhenDone(): void {
    // Programs that wait are continued by the next daemon.
    const isDone =
      this.#running === 0 &&
      this.#listener.messageConnections === 0 &&
      !this.#allExecutions.some(({ isCalling }) => isCalling);
    if (isDone && this.#page.isInUse) void this.#giveUpExecutions();
    if ((isDone && !this.#page.isInUse) || this.#closing.signal.aborted) this.#left.resolve();
    else setTimeout(() => this.#endWhenDone(), lastMomentMs);
  }

  /** Leaves the executions to the next daemon, while the open page keeps this one from ending. */
  async #giveUpExecutions(): Promise<void> {
    this.#executions = undefined;
    for (const app of [...this.#others.values(), ...this.#doors.apps, this.#app]) {
      await (await app.executions()).endOf(app);
    }
  }

  async #answer(request: DaemonRequest): Promise<DaemonAnswer | undefined> {
    const { route, body, upgrade } = request;
    try {
      switch (route) {
        case "POST /call":
          return this.#refusal(request) ?? (await this.#call(request));
        case "POST /executions":
          return this.#refusal(request) ?? (await this.#execute(request));
        case "POST /run":
          return this.#refusal(request) ?? (await this.#run(request));
        case "POST /cancel":
          return answerOf({ cancelled: await this.#cancel(cancelledIn(bodyIn(body))) });
        case "POST /adopt": {
          const ids = adoptionIn(bodyIn(body));
          await this.#adopt(ids);
          return answerOf({ executions: ids.filter((id) => this.#allExecutions.some((each) => each.has(id))) });
        }
        case "GET /status":
          return answerOf(this.#status());
        case "GET /servers":
          if (!upgrade) throw new ClaudikinsError("USAGE", `GET /servers needs an upgrade to ${upgradeName}`);
          upgrade(this.#sockets.begin);
          return undefined;
        case "POST /ui":
          return this.#refusal(request) ?? (await this.#ui(request));
        case "POST /stop":
          return this.#stop(request);
        default:
          throw new ClaudikinsError(
            "USAGE",
            `Unknown route ${route}: use POST /call, POST /run, POST /cancel, POST /executions, POST /adopt, POST /ui, GET /status or POST /stop`,
          );
      }
    } catch (thrown) {
      const { code, message, hint } = toClaudikinsError(thrown);
      return problem(code, message, hint);
    }
  }

  async #ui(request: DaemonRequest): Promise<DaemonAnswer> {
    const { file } = (bodyIn(request.body) ?? {}) as { file?: unknown };
    const page = await this.#page.opened();
    // It may have begun to end while the page was opened.
    const late = this.#refusal(request);
    if (!late) return answerOf(page.invite({ withFile: file === true }));
    await this.#page.closeUnused();
    return late;
  }

  async #call(request: DaemonRequest): Promise<DaemonAnswer> {
    return this.#busy(async () => {
      const wanted = callIn(bodyIn(request.body));
      const signal = AbortSignal.any([request.signal, this.#closing.signal]);
      const app = await this.#appOf(wanted);
      if ("target" in wanted) return answerOf(await call(wanted, app, { signal, trace: wanted.trace }));
      this.#countFirst(String(wanted.via));
      return valueAnswer(await callOnce(wanted, app, signal, { trace: wanted.trace }));
    });
  }

  /** Runs a program whose caller waits. */
  async #run(request: DaemonRequest): Promise<DaemonAnswer> {
    return this.#busy(async () => {
      const { id, asked, app } = await this.#askedIn(request);
      const signal = AbortSignal.any([request.signal, this.#closing.signal]);
      countMark(app, asked.source);
      const outcome = await outcomeInShell(asked, app, signal, id);
      // The caller's next command may look for the record.
      await app.recorder?.end();
      return answerOf({ ...(await outcomeJson(outcome)), folders: app.config.folders });
    });
  }

  async #cancel(id: string): Promise<boolean> {
    const executions = this.#allExecutions.find((each) => each.has(id));
    return executions ? executions.cancel(id, this.#app) : false;
  }

  /** Does work for a caller that waits. The daemon does not end meanwhile. */
  async #busy(work: () => Promise<DaemonAnswer>): Promise<DaemonAnswer> {
    this.#running += 1;
    using _ = this.#app.idleTimer.running();
    try {
      return await work();
    } finally {
      this.#running -= 1;
      this.#done += 1;
      this.#lastCallAt = performance.now();
    }
  }

  async #execute(request: DaemonRequest): Promise<DaemonAnswer> {
    this.#lastCallAt = performance.now();
    const { asked, app } = await this.#askedIn(request);
    const execution = (await app.executions()).start(asked, app, { isBackground: true });
    await execution.stored();
    return answerOf({ id: execution.id });
  }

  /** The program of a request, and the app of its caller. */
  async #askedIn({ body }: DaemonRequest) {
    const { id, source, program, input, limits, check, trace, ...caller } = executionIn(bodyIn(body));
    const app = await this.#appOf(caller);
    const asked = source === undefined ? await savedRequest(program ?? "", input, app) : { source };
    // Without an agent, each program is a session of its own, as it is without a daemon.
    const within = caller.session === shellSession ? app.sessions.ofConnection() : undefined;
    return { id, app, asked: { ...asked, limits, check, trace, within } };
  }

  /** Continues executions that no process runs: the given ones, and all executions whose ids callers have. */
  async #adopt(asked: readonly string[] = []): Promise<void> {
    try {
      const executions = await this.#app.executions();
      await executions.adopt(this.#app, (cwd) => this.#appFor(this.#app, cwd, shellSession), asked);
      const unfinished = await executions.stored.unfinished(this.#app);
      const views = new Map(unfinished.map((row) => [viewKey(viewOf(row)), viewOf(row)]));
      for (const view of views.values())
        if (view.door !== undefined || view.person) await this.#adoptBehind(view, asked);
    } catch (error) {
      this.#options.log.warn(`Cannot continue executions: ${messageOf(error)}`);
    }
  }

  async #adoptBehind(view: ExecutionView, asked: readonly string[]): Promise<void> {
    const key = viewKey(view);
    if (this.#closedDoors.has(key)) return;
    const app = await this.#doors.of(view).catch((error: unknown) => {
      this.#closedDoors.add(key);
      const where = view.door === undefined ? "of a person" : `behind the door "${view.door}"`;
      this.#options.log.warn(`Cannot continue executions ${where}: ${messageOf(error)}`);
    });
    await (await app?.executions())?.adopt(app!, (cwd) => this.#appFor(app!, cwd, shellSession), asked);
  }

  /** The answer to a request for work that another daemon must do. */
  #refusal({ version: asked }: DaemonRequest): DaemonAnswer | undefined {
    const code = this.#whyLeaving(asked);
    return code && problem(code, leavingText, "Retry with the next daemon.");
  }

  /** Throws DOOR_NOT_FOUND. */
  async #appOf({ door, cwd, session, env }: Pick<DaemonCallRequest, "door" | "cwd" | "session" | "env">): Promise<App> {
    this.#options.environment.heard(env);
    return this.#appFor(door === undefined ? this.#app : await this.#doors.of({ door }), cwd, session);
  }

  /** A server that names no working directory runs in the caller's, and a server that is not shared belongs to the session. */
  #appFor(app: App, folder: string | undefined, session: string): App {
    const { sharedServers, environment, cwd: ours } = this.#options;
    const cwd = folder ?? ours;
    if (cwd === ours && session === shellSession) return app;
    const key = JSON.stringify([viewKey(app.config), cwd, session]);
    const openChannel = sharedServers.channels(environment.now, session);
    const other = this.#others.get(key) ?? app.withOwnPool({ cwd, openChannel });
    this.#others.set(key, other);
    return other;
  }

  /** Why the daemon takes no more calls: it is ending, or the caller has a newer version. Undefined if it takes them. */
  #whyLeaving(asked: string | undefined): "LEAVING" | "OUTDATED" | undefined {
    this.#leaveWhenOld();
    const isOutdated = asked !== undefined && isOlder(version, asked);
    if (isOutdated) this.leave(`version ${asked} was requested`);
    if (!this.#isLeaving) return undefined;
    return isOutdated ? "OUTDATED" : "LEAVING";
  }

  /** Counts the hook that led to the daemon's first call. Later calls are not counted. */
  #countFirst(via: string): void {
    if (this.#isFound || !this.#app.config.hooks) return;
    this.#isFound = true;
    this.#app.ledger.found(hookKey("files", hookIn(via) ?? "none"));
  }

  #leaveWhenOld(): void {
    if (this.#options.files.hasChanged()) {
      this.#isOld = true;
      this.leave("its config or its program changed", { keepsPage: true });
    }
  }

  #stop({ body }: DaemonRequest): DaemonAnswer {
    const { now } = (bodyIn(body) ?? {}) as { now?: unknown };
    const calls = this.#running + this.#sockets.running;
    this.leave("it was asked to stop", { now: now === true });
    return answerOf({ calls });
  }

  #status(): Status {
    const { config, pool } = this.#app;
    const held = this.#options.sharedServers.facts();
    const running = held.map(({ server }) => [server, "ready"]);
    return {
      pid: process.pid,
      version,
      config: config.origin.kind === "demo" ? null : config.origin.file,
      startedAt: this.#startedAt,
      calls: { running: this.#running + this.#sockets.running, done: this.#done + this.#sockets.done },
      servers: Object.fromEntries([...[...pool.states()].map(([name, state]) => [name, stateText(state)]), ...running]),
      problems: this.#problems(new Set(held.map(({ server }) => server))),
      held,
      page: this.#page.isInUse,
    };
  }

  /** The problems of servers. A running server has a problem only if its calls are refused. */
  #problems(running: ReadonlySet<string>): Status["problems"] {
    const problems: Status["problems"] = {};
    for (const { pool } of [...this.#others.values(), this.#app]) {
      for (const [name, state] of pool.states()) {
        const problem = running.has(name) && state.state !== "ready" ? undefined : stateProblem(state);
        if (problem !== undefined) problems[name] = { problem, entry: entryMark(pool.servers.get(name)!) };
      }
    }
    return problems;
  }

  /** The daemon's idle time. It is at least the longest keep-alive time of its servers. */
  #idleMs(): number {
    const { idleMs, sharedServers } = this.#options;
    if (idleMs !== undefined) return idleMs;
    const { pool } = this.#app;
    const running = new Set(sharedServers.facts().map(({ server }) => server));
    for (const [name, { state }] of pool.states()) if (state === "ready") running.add(name);
    const times = [...running]
      .map((name) => pool.servers.get(name)!)
      .map(({ keepAlive, idleTimeoutMs }) => (keepAlive ? Number.POSITIVE_INFINITY : idleTimeoutMs))
      .filter((ms) => ms > defaultServerTimes.idleTimeoutMs);
    return Math.max(minIdleMs, ...times);
  }
}

/** Loaded only for a saved program. Throws PROGRAM_NOT_FOUND and INVALID_ARGUMENTS. */
async function savedRequest(name: string, input: JsonObject, { config }: App) {
  const { requestForNamed } = await import("../programs/saved/run.ts");
  return requestForNamed(name, input, config.savedPrograms);
}
