/** The server processes that callers share. A caller gets a running process if one fits its needs. */

import type { Log } from "../../base/log.ts";
import type { Environment } from "../../config/environment.ts";
import type { StdioServer } from "../../config/load.ts";
import type { ChannelOpener, ChannelOptions } from "../../servers/connection/channel.ts";
import { openDirectChannel } from "../../servers/connection/open-channel.ts";
import { redactorOf } from "../../servers/values/secrets.ts";
import { sessionOf } from "../../tools/catalog/session-of.ts";
import { SharedTransport, sharedChannel } from "./shared-channel.ts";
import { type Port, SharedServer } from "./shared-server.ts";

/** The requirements of a caller for a process. */
interface WantedProcess {
  server: StdioServer;
  /** The working directory of a server that names none. */
  cwd: string;
  /** The environment of the process, if it must be started. */
  env: Environment;
  capabilities: object;
  /** The caller's session. Servers that are not shared are started once for each session. */
  session: string;
  /** Whether each session has its own process of the server. */
  isPrivate: boolean;
  /** The session belongs to one process, and its private servers end with it. */
  endsWithCaller: boolean;
}

/** A running process, as `daemon status` shows it. */
export interface SharedFacts {
  server: string;
  pid: number | null;
  /** Milliseconds since 1970. */
  since: number;
  /** The number of connections to it. */
  users: number;
  /** Whether it belongs to one session. */
  private: boolean;
}

export class SharedServers implements AsyncDisposable {
  readonly #log: Log;
  readonly #logs: ChannelOptions["logs"];
  readonly #ownEnv: Environment | undefined;
  readonly #servers = new Map<string, SharedServer>();
  /** The keys of servers that have sent a request to an agent. They are never shared between sessions again. */
  readonly #asking = new Set<string>();
  readonly #ending = new Set<Promise<void>>();

  /** Names of the server's tools, as far as they are known. By default, none are. */
  toolsOf: (server: string) => readonly string[] = () => [];

  /** `ownEnv` is the environment of this process. Callers bring others for the servers. */
  constructor(log: Log, logs: ChannelOptions["logs"], ownEnv?: Environment) {
    this.#log = log;
    this.#logs = logs;
    this.#ownEnv = ownEnv;
  }

  /** Whether each session has its own process of the server. */
  async isPrivate(server: StdioServer): Promise<boolean> {
    return (await sessionOf(server, this.toolsOf(server.name))).session === "private";
  }

  /** The running process that fits; undefined if there is none. */
  find(wanted: WantedProcess): SharedServer | undefined {
    return this.#servers.get(this.#keyOf(wanted));
  }

  /** Starts the process if it is not running. */
  attach(wanted: WantedProcess, port: Port): SharedServer {
    const shared = this.find(wanted) ?? this.#start(wanted);
    shared.attach(port);
    return shared;
  }

  /**
   * Channels for the daemon itself, which calls tools for its callers. They belong to one session. `environment` returns the variables of a
   * server that starts now. With `endsWithCaller`, the session's private servers end with its connections. Servers on the network are
   * connected to directly.
   */
  channels(environment: () => Environment, session: string, { endsWithCaller = false } = {}): ChannelOpener {
    return async (server, options) => {
      if (server.url !== undefined) return openDirectChannel(server, options);
      // The transport keeps messages that come before it is started.
      const port: Port = {
        session,
        send: (message) => transport.receive(message),
        end: (how) => transport.ended(how),
      };
      const { cwd, capabilities } = options;
      const isPrivate = await this.isPrivate(server);
      const wanted = { server, cwd, env: environment(), capabilities, session, isPrivate, endsWithCaller };
      const shared = this.attach(wanted, port);
      const transport: SharedTransport = new SharedTransport({
        started: shared.started,
        send(message) {
          shared.receive(port, message);
          return true;
        },
        close: () => shared.detach(port),
      });
      return sharedChannel(transport, () => shared.pid);
    };
  }

  facts(): SharedFacts[] {
    return [...this.#servers].map(([key, { name, pid, since, users }]) => ({
      server: name,
      pid: pid ?? null,
      since,
      users,
      private: (JSON.parse(key) as [string, string | null])[1] !== null,
    }));
  }

  /** Makes all users reconnect elsewhere, as soon as they have no pending request. */
  moveAllOut(): void {
    for (const shared of this.#servers.values()) shared.moveAllOut();
  }

  /** Ends the processes of one server. The next call starts it again. Returns their number, once they have ended. */
  async end(name: string): Promise<number> {
    const running = [...this.#servers.values()].filter((shared) => shared.name === name);
    await Promise.all(running.map((shared) => shared.close("it is restarted")));
    return running.length;
  }

  /** Tells the users of a server's processes that its tools have changed. Returns the number of processes. */
  listsChanged(name: string): number {
    const running = [...this.#servers.values()].filter((shared) => shared.name === name);
    for (const shared of running) shared.toolsChanged();
    return running.length;
  }

  /** Ends all processes. Resolves when they have ended. */
  async close(): Promise<void> {
    for (const shared of [...this.#servers.values()]) this.#ending.add(shared.close("claudikins is closing"));
    await Promise.all(this.#ending);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #start(wanted: WantedProcess): SharedServer {
    const { server, cwd, env, capabilities, isPrivate, endsWithCaller } = wanted;
    const redact = redactorOf(server);
    const options: ChannelOptions = { env, cwd, ownEnv: this.#ownEnv, log: this.#log, logs: this.#logs, redact };
    let key = this.#keyOf(wanted);
    const shared = new SharedServer({
      name: server.name,
      capabilities,
      idleMs: server.keepAlive ? Number.POSITIVE_INFINITY : server.idleTimeoutMs,
      isOfOne: isPrivate && endsWithCaller,
      log: this.#log,
      open: () => openDirectChannel(server, options),
      onAsks: (owner) => {
        this.#asking.add(commonKey(wanted));
        if (isPrivate) return;
        // The new key has the session, so that other sessions no longer find it.
        this.#servers.delete(key);
        key = this.#keyOf({ ...wanted, session: owner });
        this.#servers.set(key, shared);
      },
      onEnd: () => {
        if (this.#servers.get(key) === shared) this.#servers.delete(key);
        // `close()` waits until the process is gone.
        const ending = shared.close("").finally(() => this.#ending.delete(ending));
        this.#ending.add(ending);
      },
    });
    this.#servers.set(key, shared);
    return shared;
  }

  #keyOf(wanted: WantedProcess): string {
    const isOfSession = wanted.isPrivate || this.#asking.has(commonKey(wanted));
    return JSON.stringify([commonKey(wanted), isOfSession ? wanted.session : null]);
  }
}

/** A key that is equal for callers that a server cannot distinguish. */
function commonKey({ server, cwd, capabilities }: WantedProcess): string {
  return JSON.stringify([server.name, server.cwd ?? cwd, capabilities, server.door ?? null]);
}
