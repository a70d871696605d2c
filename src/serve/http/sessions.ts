/** The sessions at one address: starts, finds and limits them, and ends unused ones. */
import {
  type InitializeRequest,
  LATEST_PROTOCOL_VERSION,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { sha256 } from "../../base/sha256.ts";
import type { RequestingAgent, Starter } from "../../programs/asker.ts";
import { onAbort } from "../../servers/abort.ts";
import { hostOf } from "../host.ts";
import { maxSessionTendMs, retryAfterSeconds } from "../limits.ts";
import { sessionMode } from "../proxy/mode.ts";
import { createSession } from "../session.ts";
import { surfaceOf } from "../surface.ts";
import {
  appFor,
  type Caller,
  type ClientPlace,
  clientKey,
  hasPrivateServers,
  placesOf,
  placeToFree,
  requireValid,
} from "./clients.ts";
import { HttpRefusal, noSession } from "./refusal.ts";
import { SessionTransport, type TransportOptions } from "./transport.ts";

export interface SessionLimits extends Omit<TransportOptions, "version"> {
  /** Maximum number of sessions of one token. */
  maxSessions: number;
  /** A session without requests and connections ends after this time. */
  idleMs: number;
}

class HttpSession implements ClientPlace {
  readonly transport: SessionTransport;
  readonly owner: string | undefined;
  readonly address: string;
  readonly client: string;
  usedAt = performance.now();

  constructor(transport: SessionTransport, { owner, address }: Caller, client: string) {
    this.transport = transport;
    this.owner = owner;
    this.address = address;
    this.client = client;
  }

  get isWorking(): boolean {
    return this.transport.running > 0;
  }

  get isInUse(): boolean {
    return this.transport.isInUse;
  }
}

export class HttpSessions {
  readonly #app: App;
  readonly #limits: SessionLimits;
  readonly #log: Log;
  readonly #closing = new AbortController();
  /** By the digests of their ids. */
  readonly #sessions = new Map<string, HttpSession>();
  /** Apps with connections of their own, which end with their session. */
  readonly #ending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;

  constructor(app: App, limits: SessionLimits, log: Log) {
    this.#app = app;
    this.#limits = limits;
    this.#log = log;
    const { idleMs, maxConnectionMs, events } = limits;
    const tendEveryMs = Math.min(maxSessionTendMs, idleMs, maxConnectionMs, events.maxAgeMs) / 2;
    this.#timer = setInterval(() => this.#tend(), tendEveryMs).unref();
  }

  get size(): number {
    return this.#sessions.size;
  }

  /** Open requests. */
  get running(): number {
    return [...this.#sessions.values()].reduce((sum, { transport }) => sum + transport.running, 0);
  }

  /** Whether a session is open, by the digest of its id. */
  readonly isOpen = (digest: string): boolean => this.#sessions.has(digest);

  /** Throws an HttpRefusal if the session does not exist, or another token or person began it. */
  find(id: string, { owner }: Caller): SessionTransport {
    const session = this.#sessions.get(sha256(id));
    if (!session || session.owner !== owner) throw noSession();
    session.usedAt = performance.now();
    return session.transport;
  }

  /**
   * Starts a session. At the maximum, a session of the same token without an open request ends first. Throws an HttpRefusal if there is
   * none, or if the token is no longer valid.
   */
  async begin(
    { protocolVersion, capabilities, clientInfo }: InitializeRequest["params"],
    caller: Caller,
  ): Promise<SessionTransport> {
    requireValid(caller);
    const { maxSessions, ...options } = this.#limits;
    const client = clientKey(caller, clientInfo.name);
    const own = placesOf(caller, this.#sessions.values());
    if (own.length >= maxSessions) {
      const evicted = placeToFree(own, { address: caller.address, client });
      if (!evicted) {
        const headers = { "retry-after": String(retryAfterSeconds) };
        throw new HttpRefusal(503, `All ${maxSessions} sessions are in use`, headers);
      }
      this.#log.info(
        `session ${shortOf(evicted.transport)} had no open request and was closed to make room for another`,
      );
      await evicted.transport.close();
    }
    const version = SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : LATEST_PROTOCOL_VERSION;
    const transport = new SessionTransport({ ...options, version });
    const session = sha256(transport.sessionId);
    this.#sessions.set(session, new HttpSession(transport, caller, client));
    const { sampling, elicitation, roots } = capabilities;
    try {
      const asker = { starter: { client, session }, isOpen: this.isOpen, ended: caller.revoked };
      await this.#connect(transport, asker, caller, Boolean(sampling ?? elicitation ?? roots));
    } catch (error) {
      this.#sessions.delete(session);
      throw error;
    }
    return transport;
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

  async #connect(
    transport: SessionTransport,
    asker: RequestingAgent & { starter: Starter & { session: string } },
    { ended, mayApprove }: Caller,
    canBeAsked: boolean,
  ): Promise<void> {
    await this.#app.reload?.refresh();
    const mode = sessionMode(this.#app);
    const needs = { canBeAsked, isDirect: mode === "direct", hasPrivate: await hasPrivateServers(this.#app) };
    const app = appFor(this.#app, needs, transport.sessionId);
    const surface = mode === "code" ? await surfaceOf(app) : undefined;
    const server = createSession(app, this.#closing.signal, surface, { asker });
    if (canBeAsked) app.pool.setHost({ responder: hostOf(server), mayApprove });
    let stopListening = () => {};
    server.onclose = () => {
      stopListening();
      this.#sessions.delete(asker.starter.session);
      this.#log.info(`session ${shortOf(transport)} ended: ${this.#sessions.size} open`);
      if (app !== this.#app) this.#end(app);
    };
    await server.connect(transport);
    stopListening = onAbort(ended, () => void transport.close());
    this.#log.info(`session ${shortOf(transport)} started: ${this.#sessions.size} open`);
  }

  #end(app: App): void {
    const ending = app[Symbol.asyncDispose]()
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
