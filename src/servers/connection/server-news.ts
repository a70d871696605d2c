/** What servers tell without being asked: changes of their lists and resources, and log messages. Listeners stay over several connections. */
import type { JsonObject } from "../../base/json-object.ts";
import type { Log } from "../../base/log.ts";
import type { ServerConfig } from "../../config/load.ts";
import { closingLine } from "../../policy/decision.ts";
import { redactTexts } from "../values/secrets.ts";
import type { Connection } from "./connect.ts";
import type { ListName, Notice } from "./notices.ts";
import type { ConnectionListener, ServerConnections } from "./server-connections.ts";
import { Subscriptions, type UpdateListener } from "./subscriptions.ts";

/** Time for a server to change its log level. */
const logLevelMs = 2_000;

/** Called when a list of a server has changed. */
export type ListListener = (server: string, what: ListName) => void;

/** Called with a log message of a server: `level`, `data` and perhaps `logger`, unchecked. */
export type LogListener = (server: string, message: JsonObject) => void;

interface ServerNewsOptions {
  servers: ReadonlyMap<string, ServerConfig>;
  connections: () => ServerConnections;
  log: Log;
  /** Called when the tools of a server have changed, before the listeners. */
  toolsChanged: (server: string) => void;
}

export class ServerNews implements ConnectionListener {
  readonly #options: ServerNewsOptions;
  readonly #subscriptions = new Map<string, Subscriptions>();
  readonly #listListeners = new Set<ListListener>();
  readonly #logListeners = new Set<LogListener>();
  /** The log level of servers that are connected later. */
  #logLevel: string | undefined;

  constructor(options: ServerNewsOptions) {
    this.#options = options;
  }

  connected(server: string, connection: Connection): void {
    void this.#tellLogLevel(connection);
    this.#subscriptions.get(server)?.connected(connection);
  }

  lost(server: string): void {
    this.#subscriptions.get(server)?.lost();
  }

  notice(server: string, notice: Notice): void {
    if ("uri" in notice) this.#subscriptions.get(server)?.updated(notice.uri);
    else if ("message" in notice) {
      if (this.#logListeners.size === 0) return;
      const message = redactTexts(notice.message, this.#options.connections().redactor(server));
      for (const listener of this.#logListeners) listener(server, message);
    } else {
      if (notice.what === "tools") this.#options.toolsChanged(server);
      for (const listener of this.#listListeners) listener(server, notice.what);
    }
  }

  /** Call this when the entry of a server was changed or removed. Listeners stay, unless the server is gone or its resources are denied now. */
  moveSubscriptions(name: string): void {
    const subscriptions = this.#subscriptions.get(name);
    if (!subscriptions) return;
    const server = this.#options.servers.get(name);
    if (server && !(server.policy && closingLine(server.policy))) {
      subscriptions.moveTo(server, this.#options.connections().of(name));
      return;
    }
    subscriptions.close();
    this.#subscriptions.delete(name);
  }

  /** See `Pool.subscribe`. */
  async subscribe(server: string, uri: string, listener: UpdateListener, signal: AbortSignal | undefined) {
    const { servers, connections, log } = this.#options;
    const life = connections().of(server);
    let subscriptions = this.#subscriptions.get(server);
    if (!subscriptions) {
      subscriptions = new Subscriptions(servers.get(server)!, life, log);
      this.#subscriptions.set(server, subscriptions);
    }
    return subscriptions.add(uri, listener, signal);
  }

  onListChanged(listener: ListListener): () => void {
    this.#listListeners.add(listener);
    return () => void this.#listListeners.delete(listener);
  }

  onLog(listener: LogListener): () => void {
    this.#logListeners.add(listener);
    return () => void this.#logListeners.delete(listener);
  }

  /** See `Pool.setLogLevel`. */
  async setLogLevel(level: string): Promise<void> {
    this.#logLevel = level;
    const ready = this.#options.connections().all.filter(({ state }) => state.state === "ready");
    await Promise.all(ready.map(async (life) => this.#tellLogLevel(await life.connection)));
  }

  /** Failures are ignored. */
  async #tellLogLevel(connection: Connection | undefined): Promise<void> {
    if (this.#logLevel === undefined || !connection?.offers("logging")) return;
    const request = { method: "logging/setLevel", params: { level: this.#logLevel } };
    await connection.request(request, "logging/setLevel", { timeoutMs: logLevelMs }).catch(() => {});
  }

  /** Ends all subscriptions. */
  close(): void {
    for (const subscriptions of this.#subscriptions.values()) subscriptions.close();
  }
}
