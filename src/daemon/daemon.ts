/** One process that holds the servers of a config for everybody who calls their tools. */
import { renameSync, rmSync, type Stats, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { stateText } from "../clients/state.ts";
import { defaultServerTimes } from "../config/defaults.ts";
import type { Environment } from "../config/environment.ts";
import { ClaudikinsError, toClaudikinsError } from "../errors.ts";
import { callOnce } from "../execution/call-tool.ts";
import type { Lock } from "../lock.ts";
import type { Log } from "../log.ts";
import { hookIn, hookKey } from "../registry/hooks.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { version } from "../version.ts";
import type { HeldServers } from "./held/held-servers.ts";
import { localChannels } from "./held/local-channels.ts";
import { ServerSockets, type SocketState } from "./held/server-sockets.ts";
import { bodyOf, callOf, isServerSocket, problem, valueAnswer } from "./messages.ts";
import { isOlder, type Status, shellSession } from "./protocol.ts";
import { answerWritten, isWrittenCall, writtenCallOf } from "./written-call.ts";

export interface DaemonOptions {
  toolbox: Toolbox;
  held: HeldServers;
  env: Environment;
  socket: string;
  /** The working directory of servers that name none, for callers who name none either. */
  cwd: string;
  /** Held; it is given back as soon as the socket is free for another one. */
  lock: Lock;
  /** Time without calls after which it ends; undefined is the usual time. */
  idleMs?: number | undefined;
  /** Files it is made of: when one of them has changed, it makes room for another daemon. */
  madeOf: string[];
  log: Log;
}

const usualIdleMs = 300_000;

/** For whoever connected just before the socket was gone: these are answered that another daemon is to be asked. */
const lastMomentMs = 250;

/** How often it looks whether it is still made of the same files, also when nobody calls. */
const lookMs = 3_000;

const lastAnswerMs = 5_000;

/** No calls carry more; arguments that are larger are refused by their servers anyway. */
const maxBodyBytes = 256 * 1_048_576;

const isWindows = process.platform === "win32";

export class Daemon {
  readonly #options: DaemonOptions;
  readonly #server: Bun.Server<SocketState>;
  readonly #sockets: ServerSockets;
  readonly #own: Stats | undefined;
  readonly #madeOf: string;
  readonly #startedAt = Date.now();
  readonly #watch: NodeJS.Timeout;
  readonly #closing = new AbortController();
  readonly #left = Promise.withResolvers<void>();
  /** Those of callers in other folders, or of other sessions. */
  readonly #others = new Map<string, Toolbox>();
  #running = 0;
  #done = 0;
  #lastCallAt = performance.now();
  #idleTimer: NodeJS.Timeout | undefined;
  #isLeaving = false;
  #isFound = false;

  /** Listens from now on. */
  constructor(options: DaemonOptions) {
    this.#options = options;
    this.#madeOf = stampOf(options.madeOf);
    const { socket } = options;
    // Moved to its name when it listens: what was there before is replaced, and nobody finds one that does not answer.
    const made = isWindows ? socket : join(dirname(socket), `${process.pid}.tmp`);
    rmSync(made, { force: true });
    this.#sockets = new ServerSockets({
      servers: options.toolbox.config.servers,
      held: options.held,
      refuseDenied: (server, request) => options.toolbox.pool.refuseRequest(server, request),
      isLeaving: (asked) => this.#makesRoomFor(asked),
      onChange: () => this.#used(),
    });
    this.#server = Bun.serve<SocketState>({
      unix: made,
      maxRequestBodySize: maxBodyBytes,
      fetch: (request, server) =>
        isServerSocket(request) && server.upgrade(request, { data: { calls: new Set() } })
          ? undefined
          : this.#answer(request),
      websocket: this.#sockets.handler,
    });
    if (!isWindows) {
      renameSync(made, socket);
      this.#own = statSync(socket);
    }
    // Callers may look elsewhere by now: where they look depends on the config.
    this.#watch = setInterval(() => this.#leaveWhenOld(), lookMs);
    this.#endWhenIdle();
  }

  /** Resolves when it takes no more calls and those that it had are done, or when `interrupted` breaks them off. */
  async ended(interrupted: AbortSignal): Promise<void> {
    const interrupt = () => this.leave("it was interrupted", true);
    if (interrupted.aborted) interrupt();
    interrupted.addEventListener("abort", interrupt, { once: true });
    await this.#left.promise;
    interrupted.removeEventListener("abort", interrupt);
    // The last answers are still read, unless somebody has stopped reading.
    const deadline = performance.now() + lastAnswerMs;
    while (this.#server.pendingRequests > 0 && performance.now() < deadline) await Bun.sleep(10);
    await this.#server.stop(true);
    await Promise.all([...this.#others.values()].map((toolbox) => toolbox[Symbol.asyncDispose]()));
  }

  /** Makes room for another daemon at once, and ends when its calls are done; with `now` these are broken off. */
  leave(why: string, now = false): void {
    const { held } = this.#options;
    if (now) {
      this.#closing.abort(new ClaudikinsError("CANCELLED", "claudikins is closing"));
      void held.close();
    }
    if (this.#isLeaving) return;
    this.#isLeaving = true;
    clearTimeout(this.#idleTimer);
    clearInterval(this.#watch);
    this.#options.log.info(`shutting down: ${why}`);
    this.#removeSocket();
    this.#options.lock.release();
    held.moveAllOut();
    setTimeout(() => this.#endWhenDone(), lastMomentMs);
  }

  /** Unless somebody else has put another one there. */
  #removeSocket(): void {
    const { socket } = this.#options;
    const found = isWindows ? undefined : statSync(socket, { throwIfNoEntry: false });
    if (found && found.ino === this.#own?.ino && found.dev === this.#own.dev) rmSync(socket, { force: true });
  }

  #endWhenDone(): void {
    const isDone = this.#running === 0 && this.#server.pendingWebSockets === 0;
    if (isDone || this.#closing.signal.aborted) this.#left.resolve();
    else setTimeout(() => this.#endWhenDone(), lastMomentMs);
  }

  async #answer(request: Request): Promise<Response> {
    const route = `${request.method} ${new URL(request.url).pathname}`;
    try {
      switch (route) {
        case "POST /call":
          return await this.#call(request);
        case "GET /status":
          return Response.json(this.#status());
        case "POST /stop":
          return await this.#stop(request);
        default:
          throw new ClaudikinsError("USAGE", `Unknown route ${route}: use POST /call, GET /status or POST /stop`);
      }
    } catch (thrown) {
      const { code, message, hint } = toClaudikinsError(thrown);
      return problem(code, message, hint);
    }
  }

  async #call(request: Request): Promise<Response> {
    const asked = request.headers.get("claudikins-version");
    if (this.#makesRoomFor(asked)) {
      const isOld = asked !== null && isOlder(version, asked);
      return problem(
        isOld ? "OUTDATED" : "LEAVING",
        "This daemon is shutting down: nothing was done",
        "Retry with the next daemon.",
      );
    }
    this.#running += 1;
    let ended = Promise.resolve();
    try {
      const body = await bodyOf(request);
      const signal = AbortSignal.any([request.signal, this.#closing.signal]);
      if (isWrittenCall(body)) {
        const wanted = writtenCallOf(body);
        const answer = await answerWritten(wanted, this.#toolboxFor(wanted.cwd, wanted.session), signal);
        ended = answer.ended;
        return answer.response;
      }
      const { via, cwd, session, ...wanted } = callOf(body);
      this.#countFirst(String(via));
      const value = await callOnce(wanted, this.#toolboxFor(cwd, session), signal);
      return valueAnswer(value);
    } finally {
      void ended.then(() => this.#endCall());
    }
  }

  #endCall(): void {
    this.#running -= 1;
    this.#done += 1;
    this.#used();
  }

  /** Servers that name no folder run in the caller's; those that are not shared are the session's. */
  #toolboxFor(folder: string | undefined, session: string = shellSession): Toolbox {
    const { toolbox, held, env, cwd: ours } = this.#options;
    const cwd = folder ?? ours;
    if (cwd === ours && session === shellSession) return toolbox;
    const key = JSON.stringify([cwd, session]);
    const other = this.#others.get(key) ?? toolbox.withOwnPool({ cwd, openChannel: localChannels(held, env, session) });
    this.#others.set(key, other);
    return other;
  }

  /** Whether it takes nothing more: it is leaving, for the version that is asked for or for any reason. */
  #makesRoomFor(asked: string | null): boolean {
    this.#leaveWhenOld();
    if (asked !== null && isOlder(version, asked)) this.leave(`version ${asked} was requested`);
    return this.#isLeaving;
  }

  #used(): void {
    this.#lastCallAt = performance.now();
    this.#endWhenIdle();
  }

  /** What led to the first call of its life; of the others somebody has known already. */
  #countFirst(via: string): void {
    if (this.#isFound || !this.#options.toolbox.config.hooks) return;
    this.#isFound = true;
    this.#options.toolbox.ledger.found(hookKey("files", hookIn(via) ?? "none"));
  }

  #leaveWhenOld(): void {
    if (stampOf(this.#options.madeOf) !== this.#madeOf) this.leave("its config or its program changed");
  }

  async #stop(request: Request): Promise<Response> {
    const { now } = ((await bodyOf(request)) ?? {}) as { now?: unknown };
    const calls = this.#running + this.#sockets.calls.running;
    this.leave("it was asked to stop", now === true);
    return Response.json({ calls });
  }

  #status(): Status {
    const { toolbox, held } = this.#options;
    const { config, pool } = toolbox;
    const facts = held.facts();
    const { calls } = this.#sockets;
    const running = facts.map(({ server }) => [server, "ready"]);
    return {
      pid: process.pid,
      version,
      config: config.origin.kind === "demo" ? null : config.origin.file,
      startedAt: this.#startedAt,
      calls: { running: this.#running + calls.running, done: this.#done + calls.done },
      servers: Object.fromEntries([...[...pool.states()].map(([name, state]) => [name, stateText(state)]), ...running]),
      held: facts,
    };
  }

  /** Looks again when the time has passed in which nobody may call. */
  #endWhenIdle(): void {
    const isUsed = this.#running > 0 || this.#server.pendingWebSockets > 0;
    if (this.#isLeaving || isUsed || this.#idleTimer) return;
    const restMs = this.#lastCallAt + this.#idleMs() - performance.now();
    if (restMs <= 0) {
      this.leave("no calls");
      return;
    }
    this.#idleTimer = setTimeout(
      () => {
        this.#idleTimer = undefined;
        this.#endWhenIdle();
      },
      Math.min(restMs, usualIdleMs),
    );
  }

  /** A server that runs, and that by the config is to run for longer, is not ended by our end. */
  #idleMs(): number {
    const { idleMs, toolbox, held } = this.#options;
    if (idleMs !== undefined) return idleMs;
    const { pool } = toolbox;
    const running = new Set(held.facts().map(({ server }) => server));
    for (const [name, { state }] of pool.states()) if (state === "ready") running.add(name);
    const times = [...running]
      .map((name) => pool.servers.get(name)!)
      .map(({ keepAlive, idleTimeoutMs }) => (keepAlive ? Number.POSITIVE_INFINITY : idleTimeoutMs))
      .filter((ms) => ms > defaultServerTimes.idleTimeoutMs);
    return Math.max(usualIdleMs, ...times);
  }
}

/** Another text when one of the files is another one. */
function stampOf(files: string[]): string {
  return files
    .map((file) => statSync(file, { throwIfNoEntry: false }))
    .map((found) => (found ? `${found.ino} ${found.size} ${found.mtimeMs}` : "gone"))
    .join("\n");
}
