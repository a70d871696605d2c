/** The daemon: one process for each user and config, which runs the servers of the config for all callers. */

import { renameSync, rmSync, type Stats, statSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { App } from "../app/app.ts";
import { countMark, outcomeInShell } from "../app/shell-execution.ts";
import { ClaudikinsError, toClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import { type Lock, takeLock, waitForLock } from "../base/lock.ts";
import { isOlder } from "../base/newer.ts";
import { megabyte } from "../base/units.ts";
import { version } from "../base/version.ts";
import type { Watched } from "../base/watched.ts";
import { defaultServerTimes } from "../config/defaults.ts";
import { callOnce } from "../programs/call.ts";
import { DryRun } from "../programs/dry-run/dry-run.ts";
import { Events } from "../programs/events/events.ts";
import { outcomeJson } from "../programs/execution/stored-outcome.ts";
import { Scheduler } from "../programs/saved/scheduler.ts";
import { call } from "../programs/shell-call.ts";
import { pageAgent } from "../programs/trace/record.ts";
import { onAbort } from "../servers/abort.ts";
import { stateProblem, stateText } from "../servers/state.ts";
import { hookIn, hookKey } from "../tools/registry/hooks.ts";
import { CallerApps, type CallerAppsOptions } from "./caller-apps.ts";
import { noteHolder } from "./daemon-note.ts";
import {
  adoptionIn,
  answerOf,
  bodyIn,
  callIn,
  cancelledIn,
  type DaemonAnswer,
  executionIn,
  problem,
  restartIn,
  valueAnswer,
} from "./messages.ts";
import { DaemonPage, type LocalPage } from "./page.ts";
import { askToStop, statusOf } from "./peers.ts";
import { besides, type DaemonPaths, makePrivate, refuseForeign } from "./place.ts";
import { entryMark, leavingText, type Status, shellSession } from "./protocol.ts";
import { ServerSockets } from "./shared/server-sockets.ts";
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

interface DaemonOptions extends CallerAppsOptions {
  place: DaemonPaths;
  /** Time without calls until the daemon ends. Default 5 minutes. */
  idleMs?: number | undefined;
  /** The config, the saved programs, and the executable if the daemon does not run from source. The daemon ends when one has changed. */
  files: Watched;
  interrupted: AbortSignal;
  /** Whether a service manager runs the daemon. It then does not end when it is idle. */
  isService?: boolean | undefined;
  /** Opens the page of `claudikins ui`. Called when a user wants to see the page. */
  openPage?: (() => Promise<LocalPage>) | undefined;
  /** Called once, when the daemon listens. */
  onListening?: () => void;
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
  readonly #apps: CallerApps;
  readonly #scheduler: Scheduler;
  readonly #events: Events;
  /** Whether a program is scheduled, or an event can start one. */
  #isScheduled = false;
  /** Whether the daemon leaves because its config or its program has changed. */
  #isOld = false;
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
    this.#apps = new CallerApps(app, options);
    const { log } = options;
    const places = this.#apps.scheduled();
    this.#scheduler = new Scheduler(places, log);
    this.#events = new Events(places, { store: app.store, env: app.env, log, watches: true });
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
    void this.#apps.adopt();
    void this.#schedule();
    this.#watch = setInterval(() => this.#look(), Math.min(daemonLookMs, options.idleMs ?? daemonLookMs));
  }

  /** Checks the files and the idle time. A changed config may lead callers to another socket, so no caller would report the change. */
  #look(): void {
    this.#leaveWhenOld();
    void this.#page.closeUnused();
    if (this.#isLeaving) return;
    void this.#apps.adopt();
    void this.#schedule();
    const isUsed =
      this.#options.isService === true ||
      this.#isScheduled ||
      this.#running > 0 ||
      this.#listener.messageConnections > 0 ||
      this.#apps.executions.some(({ size }) => size > 0) ||
      this.#page.isInUse;
    if (!isUsed && performance.now() - this.#lastCallAt >= this.#idleMs()) this.leave("no calls");
  }

  /** Starts the programs that are due, and those for which something has happened. */
  async #schedule(): Promise<void> {
    const isScheduled = await this.#scheduler.isNeeded();
    const hasTriggers = this.#events.isNeeded;
    this.#isScheduled = isScheduled || hasTriggers;
    await Promise.all([isScheduled && this.#scheduler.look(), hasTriggers && this.#events.look()]);
  }

  /** Resolves when the daemon has stopped taking calls and all calls are done, or when `interrupted` aborts them. */
  async ended(interrupted: AbortSignal): Promise<"ended" | "replaceable"> {
    onAbort(interrupted, () => this.leave("it was interrupted", { now: true }));
    await this.#left.promise;
    await Promise.all([this.#scheduler.close(), this.#events.close()]);
    // Waits until the last answers are read, with a limit.
    const deadline = performance.now() + lastAnswerMs;
    while (this.#listener.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(10);
    await this.#page.close();
    this.#listener.stop();
    if (this.#aside) for (const path of [this.#aside.socket, this.#aside.lock]) rmSync(path, { force: true });
    await this.#apps[Symbol.asyncDispose]();
    return this.#isOld && this.#isScheduled ? "replaceable" : "ended";
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
    void this.#events.close();
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
      !this.#apps.executions.some(({ isCalling }) => isCalling);
    if (isDone && this.#page.isInUse) void this.#apps.giveUpExecutions();
    if ((isDone && !this.#page.isInUse) || this.#closing.signal.aborted) this.#left.resolve();
    else setTimeout(() => this.#endWhenDone(), lastMomentMs);
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
        case "POST /restart":
          return this.#refusal(request) ?? (await this.#restart(request));
        case "POST /relist":
          return this.#refusal(request) ?? (await this.#relist(request));
        case "POST /cancel":
          return answerOf({ cancelled: await this.#cancel(cancelledIn(bodyIn(body))) });
        case "POST /adopt": {
          const ids = adoptionIn(bodyIn(body));
          await this.#apps.adopt(ids);
          return answerOf({ executions: ids.filter((id) => this.#apps.executions.some((each) => each.has(id))) });
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
            `Unknown route ${route}: use POST /call, POST /run, POST /cancel, POST /executions, POST /restart, POST /relist, POST /adopt, POST /ui, GET /status or POST /stop`,
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
      const app = await this.#apps.of(wanted);
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

  /** A server on the network has no process here: its connections are closed, and the next call opens others. */
  async #restart({ body, signal: left }: DaemonRequest): Promise<DaemonAnswer> {
    return this.#busy(async () => {
      const { server, ...caller } = restartIn(bodyIn(body));
      const app = await this.#apps.of(caller);
      app.pool.state(server);
      const ended = await this.#options.sharedServers.end(server);
      for (const each of this.#apps.withOwnPools) if (each.config.servers.has(server)) await each.pool.release(server);
      const signal = AbortSignal.any([left, this.#closing.signal]);
      const { tools } = await app.catalog.tools(server, { signal });
      return answerOf({ ended, tools: tools.length });
    });
  }

  /** Our own apps have listed it when this resolves. A server that fails is listed with its next call. */
  async #relist({ body, signal: left }: DaemonRequest): Promise<DaemonAnswer> {
    return this.#busy(async () => {
      const { server } = restartIn(bodyIn(body));
      const told = this.#options.sharedServers.listsChanged(server);
      const signal = AbortSignal.any([left, this.#closing.signal]);
      const users = this.#apps.withOwnPools.filter(
        ({ config, pool }) => config.servers.has(server) && pool.state(server).state === "ready",
      );
      await Promise.allSettled(users.map(({ catalog }) => catalog.verify(server, signal)));
      return answerOf({ told });
    });
  }

  async #cancel(id: string): Promise<boolean> {
    const executions = this.#apps.executions.find((each) => each.has(id));
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
    const wanted = executionIn(bodyIn(body));
    const { id, source, program, input, again, codeOf, isFromPage, dryRun, limits, check, trace, ...caller } = wanted;
    const app = await this.#apps.of(caller);
    // Without an agent, each program is a session of its own, as it is without a daemon.
    const within = caller.session === shellSession || codeOf !== undefined ? app.sessions.ofConnection() : undefined;
    if (codeOf !== undefined) {
      const { readsOfExecution } = await import("../programs/execution/run-again.ts");
      await within?.add(await readsOfExecution(codeOf, app));
    }
    const host = isFromPage ? { name: pageAgent } : undefined;
    const common = { limits, check, trace, within, host, repeats: codeOf, dryRun: dryRun ? new DryRun() : undefined };
    if (again === undefined) {
      const asked = source === undefined ? await savedRequest(program ?? "", input, app) : { source };
      return { id, app, asked: { ...asked, ...common } };
    }
    const { programAgain } = await import("../programs/execution/run-again.ts");
    const repeated = await programAgain(again, app, await app.executions(), { isDryRun: dryRun });
    const { labels, ...code } = repeated;
    const session = app.sessions.ofConnection();
    await session.add(labels);
    return { id, app, asked: { ...common, ...code, within: session } };
  }

  /** The answer to a request for work that another daemon must do. */
  #refusal({ version: asked }: DaemonRequest): DaemonAnswer | undefined {
    const code = this.#whyLeaving(asked);
    return code && problem(code, leavingText, "Retry with the next daemon.");
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
      memoryBytes: process.memoryUsage.rss(),
    };
  }

  /** The problems of servers. A running server has a problem only if its calls are refused. */
  #problems(running: ReadonlySet<string>): Status["problems"] {
    const problems: Status["problems"] = {};
    for (const { pool } of this.#apps.withOwnPools) {
      for (const [name, state] of pool.states()) {
        const problem = running.has(name) && state.state !== "ready" ? undefined : stateProblem(state);
        const onPage = stateProblem(state, true);
        if (problem !== undefined) problems[name] = { problem, onPage, entry: entryMark(pool.servers.get(name)!) };
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
