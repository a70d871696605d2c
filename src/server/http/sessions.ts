/** The sessions at one address: starts, finds and limits them, and ends unused ones. */
import {
  type InitializeRequest,
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/sdk/types.js";
import { messageOf } from "../../errors.ts";
import type { Log } from "../../log.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";
import { hostOf } from "../host.ts";
import { sessionMode } from "../proxy/mode.ts";
import { createSession } from "../session.ts";
import { type Candidate, sessionToEvict } from "./eviction.ts";
import { noSession, Refusal } from "./refusal.ts";
import { SessionTransport, type TransportOptions } from "./transport.ts";

export interface SessionLimits extends Omit<TransportOptions, "version"> {
  maxSessions: number;
  /** A session without requests and connections ends after this time. */
  idleMs: number;
}

interface Session extends Candidate {
  transport: SessionTransport;
}

/** Often enough for proxies that close connections after half a minute of silence. */
const tendMs = 15_000;

/** The time after which a refused client may try again. */
const roomSeconds = 30;

export class Sessions {
  readonly #toolbox: Toolbox;
  readonly #limits: SessionLimits;
  readonly #log: Log;
  readonly #closing = new AbortController();
  readonly #sessions = new Map<string, Session>();
  /** Toolboxes with connections of their own, which end with their session. */
  readonly #ending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(toolbox: Toolbox, limits: SessionLimits, log: Log) {
    this.#toolbox = toolbox;
    this.#limits = limits;
    this.#log = log;
    const { idleMs, maxConnectionMs, events } = limits;
    this.#timer = setInterval(() => this.#tend(), Math.min(tendMs, idleMs, maxConnectionMs, events.maxAgeMs) / 2);
    this.#timer.unref();
  }

  /** Open requests. */
  get running(): number {
    return [...this.#sessions.values()].reduce((sum, { transport }) => sum + transport.running, 0);
  }

  /** Throws a Refusal if the session does not exist. */
  find(id: string): SessionTransport {
    const session = this.#sessions.get(id);
    if (!session) throw noSession();
    session.usedAt = performance.now();
    return session.transport;
  }

  /**
   * Starts a session. `address` is the client's. At the maximum an idle session ends first, preferably one of the same client.
   * Throws a Refusal if none can end.
   */
  async begin(
    { protocolVersion, capabilities, clientInfo }: InitializeRequest["params"],
    address: string,
  ): Promise<SessionTransport> {
    const { maxSessions, ...options } = this.#limits;
    const client = `${address} ${clientInfo.name}`;
    if (this.#sessions.size >= maxSessions) await this.#makeRoom(client);
    const version = SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : LATEST_PROTOCOL_VERSION;
    const transport = new SessionTransport({ ...options, version });
    this.#sessions.set(transport.sessionId, { transport, client, usedAt: performance.now() });
    const { sampling, elicitation, roots } = capabilities;
    try {
      await this.#connect(transport, Boolean(sampling ?? elicitation ?? roots));
    } catch (error) {
      this.#sessions.delete(transport.sessionId);
      throw error;
    }
    return transport;
  }

  async #makeRoom(client: string): Promise<void> {
    const evicted = sessionToEvict([...this.#sessions.values()], client);
    if (!evicted) {
      throw new Refusal(503, `All ${this.#limits.maxSessions} sessions are in use`, {
        "retry-after": String(roomSeconds),
      });
    }
    this.#log.info(`session ${shortOf(evicted.transport)} was idle and was closed to make room for another`);
    await evicted.transport.close();
  }

  /** Cancels everything that runs. The clients still get their answers. */
  cancel(): void {
    this.#closing.abort();
  }

  /** Ends all sessions. Resolves when their own connections to servers have ended. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.cancel();
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
    await Promise.all(this.#ending);
  }

  /**
   * A session has connections of its own if servers may ask its agent, so that no agent is asked on behalf of another; in direct
   * mode, which passes all notifications; and if a server is not shared.
   */
  async #connect(transport: SessionTransport, canBeAsked: boolean): Promise<void> {
    await this.#toolbox.reload?.refresh();
    const mode = sessionMode(this.#toolbox);
    const arePrivate = [...this.#toolbox.config.servers.values()].some(({ session }) => session === "private");
    // Whether servers are shared is not known before the config is trusted.
    const hasOwnPool = canBeAsked || mode === "direct" || arePrivate || this.#toolbox.isLocked;
    const toolbox = hasOwnPool ? this.#toolbox.withOwnPool() : this.#toolbox;
    const server = createSession(toolbox, this.#closing.signal, mode);
    if (canBeAsked) toolbox.pool.responder = hostOf(server);
    server.onclose = () => {
      this.#sessions.delete(transport.sessionId);
      this.#log.info(`session ${shortOf(transport)} ended: ${this.#sessions.size} open`);
      if (hasOwnPool) this.#end(toolbox);
    };
    await server.connect(transport);
    this.#log.info(`session ${shortOf(transport)} started: ${this.#sessions.size} open`);
  }

  #end(toolbox: Toolbox): void {
    const ending = toolbox[Symbol.asyncDispose]()
      .catch((error) => this.#log.warn(`the servers of a session did not stop cleanly: ${messageOf(error)}`))
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #tend(): void {
    for (const session of this.#sessions.values()) {
      const { transport } = session;
      transport.tend();
      if (transport.isInUse) session.usedAt = performance.now();
      else if (performance.now() - session.usedAt > this.#limits.idleMs) void transport.close();
    }
  }
}

/** The id authenticates a client, so the log contains only its beginning. */
function shortOf({ sessionId }: SessionTransport): string {
  return sessionId.slice(0, 8);
}
