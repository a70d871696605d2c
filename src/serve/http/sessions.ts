/** The sessions at one address: starts, finds and limits them, and ends unused ones. */
import {
  type InitializeRequest,
  type JSONRPCMessage,
  type JSONRPCRequest,
  LATEST_PROTOCOL_VERSION,
  type Notification,
  type Server,
  SUPPORTED_PROTOCOL_VERSIONS,
} from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { messageOf, toClaudikinsError } from "../../base/errors.ts";
import { isObject, type JsonObject, parsedJson, stringsIn } from "../../base/json-object.ts";
import type { Log } from "../../base/log.ts";
import { sha256 } from "../../base/sha256.ts";
import { atMost } from "../../base/time-limit.ts";
import type { RequestingAgent, Starter } from "../../programs/execution/asker.ts";
import { onAbort } from "../../servers/abort.ts";
import { leftToOthers } from "../host-request.ts";
import { hostOf } from "../legacy/legacy-host.ts";
import { createSession } from "../legacy/session.ts";
import { maxSessionTendMs, retryAfterSeconds } from "../limits.ts";
import { sessionMode } from "../proxy/mode.ts";
import { listenerWith } from "../proxy/notices.ts";
import { surfaceOf } from "../surface/surface.ts";
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
import { accessEnded, replicaEnded, serverEnded } from "./forced-end.ts";
import { HttpRefusal, LeavingRefusal, MovedRefusal, noSession } from "./refusal.ts";
import type { OwnSession, SharedSessions } from "./replicas/shared-sessions.ts";
import { SessionTransport, type SharedOptions, type TransportOptions } from "./transport.ts";

/** A client that never listens counts as connected for this time after a request. */
const disconnectedAfterMs = 10_000;

/** Time for a replica that leaves to tell the database. Without that, others take its sessions when its lease has ended. */
const handOverMs = 2_000;

/** Numbers of streams that a session may use before another replica takes it over. */
const streamsOfReplica = 1_000_000;

export interface SessionLimits extends Omit<TransportOptions, "version" | "shared"> {
  /** Maximum number of sessions of one token. */
  maxSessions: number;
  /** A session without requests and connections ends after this time. */
  idleMs: number;
}

/** A session that another replica has begun. */
interface Earlier {
  id: string;
  memory: SessionMemory;
  firstStream: number;
}

interface NewSession {
  initialize: InitializeRequest["params"];
  /** The `clientKey` of the client. */
  client: string;
  earlier?: Earlier | undefined;
}

export class HttpSessions {
  readonly #app: App;
  readonly #limits: SessionLimits;
  readonly #log: Log;
  /** The same sessions in the store. Undefined without other replicas. */
  readonly #shared: SharedSessions | undefined;
  readonly #closing = new AbortController();
  /** By the digests of their ids. */
  readonly #sessions = new Map<string, HttpSession>();
  /** Sessions that are taken over, by the digests of their ids. */
  readonly #adopting = new Map<string, Promise<HttpSession | undefined>>();
  /** Apps with connections of their own, which end with their session. */
  readonly #ending = new Set<Promise<void>>();
  readonly #timer: NodeJS.Timeout;
  /** Whether this replica leaves, and its sessions go to others. */
  #isLeaving = false;

  constructor(app: App, limits: SessionLimits, log: Log, shared?: SharedSessions) {
    this.#app = app;
    this.#limits = limits;
    this.#log = log;
    this.#shared = shared;
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

  /** Whether the client of a session is connected, by the digest of the session's id. */
  readonly isConnected: RequestingAgent["isConnected"] = (digest) =>
    this.#sessions.get(digest)?.isConnected ?? this.#shared?.isConnected(digest) ?? false;

  /**
   * Finds a session, or takes it over from a replica that is dead. Throws an HttpRefusal if the session does not exist, or another token or
   * person began it, and a MovedRefusal if another replica has just taken it over, or is alive again.
   */
  async find(id: string, caller: Caller): Promise<SessionTransport> {
    const digest = sha256(id);
    if (this.#shared?.isSure === false) await this.#confirm(this.#shared);
    const session =
      (await this.#adopting.get(digest)) ??
      this.#sessions.get(digest) ??
      (this.#shared && !this.#isLeaving ? await this.#adopt(id, this.#shared, caller) : undefined);
    // Another replica has it, or takes it.
    if (this.#isLeaving && (!session || session.transport.isMoved)) throw new LeavingRefusal();
    if (!session && (await this.#shared?.isElsewhere(digest))) throw new MovedRefusal();
    if (!session || session.owner !== caller.owner) throw noSession();
    session.use();
    return session.transport;
  }

  /**
   * Starts a session. At the maximum, a session of the same token without an open request ends first. Throws an HttpRefusal if there is
   * none, or if the token is no longer valid.
   */
  async begin(initialize: InitializeRequest["params"], caller: Caller): Promise<SessionTransport> {
    const client = clientKey(caller, initialize.clientInfo.name);
    return (await this.#start({ initialize, client }, caller)).transport;
  }

  async #start({ initialize, client, earlier }: NewSession, caller: Caller): Promise<HttpSession> {
    requireValid(caller);
    await this.#makeRoom(caller, client);
    const { protocolVersion, capabilities } = initialize;
    const { maxSessions: _, ...options } = this.#limits;
    const version = SUPPORTED_PROTOCOL_VERSIONS.includes(protocolVersion) ? protocolVersion : LATEST_PROTOCOL_VERSION;
    const memory = earlier?.memory ?? new SessionMemory();
    const received: SharedOptions["received"] = (message) => {
      if (memory.received(message)) this.#shared?.keep(digest, memory.json);
    };
    const shared = this.#shared && { received, sessionId: earlier?.id, firstStream: earlier?.firstStream ?? 0 };
    const transport = new SessionTransport({ ...options, version, shared });
    const digest = sha256(transport.sessionId);
    transport.sender = caller;
    const session = new HttpSession(transport, caller, client);
    this.#sessions.set(digest, session);
    const { sampling, elicitation, roots } = capabilities;
    try {
      const asker = {
        starter: { owner: caller.owner, client, session: digest },
        isConnected: this.isConnected,
        ended: caller.revoked,
      };
      const server = await this.#connect(transport, asker, caller, Boolean(sampling ?? elicitation ?? roots));
      const parameters = { ...initialize, protocolVersion: version };
      const begun = { transport, server, initialize: parameters, memory, isDirect: this.#isDirect };
      if (earlier) await continueSession(begun);
      else await this.#shared?.begin({ id: digest, owner: caller.owner, client, parameters });
    } catch (error) {
      this.#sessions.delete(digest);
      await transport.close();
      throw error;
    }
    return session;
  }

  async #makeRoom(caller: Caller, client: string): Promise<void> {
    const { maxSessions } = this.#limits;
    const own = placesOf(caller, this.#sessions.values());
    if (own.length < maxSessions) return;
    const evicted = placeToFree(own, { address: caller.address, client });
    if (!evicted) {
      const headers = { "retry-after": String(retryAfterSeconds) };
      throw new HttpRefusal(503, `All ${maxSessions} sessions are in use`, headers);
    }
    this.#log.info(`session ${shortOf(evicted.transport)} had no open request and was closed to make room for another`);
    await evicted.transport.close();
  }

  /** Undefined if the session has ended, is another one's, or another replica has it. Two requests may come at once. */
  #adopt(id: string, shared: SharedSessions, caller: Caller): Promise<HttpSession | undefined> {
    const digest = sha256(id);
    const adopting =
      this.#adopting.get(digest) ?? this.#takeOver(id, shared, caller).finally(() => this.#adopting.delete(digest));
    this.#adopting.set(digest, adopting);
    return adopting;
  }

  async #takeOver(id: string, shared: SharedSessions, caller: Caller): Promise<HttpSession | undefined> {
    const digest = sha256(id);
    const adopted = await shared.adopt(digest, caller.owner);
    if (!adopted) return undefined;
    const { client, parameters, kept, adoptions } = adopted;
    const earlier = { id, memory: new SessionMemory(kept), firstStream: adoptions * streamsOfReplica };
    try {
      const initialize = JSON.parse(parameters) as InitializeRequest["params"];
      const session = await this.#start({ initialize, client, earlier }, caller);
      shared.adopted(digest);
      return session;
    } catch (error) {
      // Nobody has it now. The next request may find the database again.
      if (toClaudikinsError(error).code === "DATABASE_UNAVAILABLE") await shared.handOver([digest]).catch(() => {});
      else shared.end(digest, false);
      throw error;
    }
  }

  /** Whether the others may have counted this replica as dead: then some sessions may be elsewhere. */
  async #confirm(shared: SharedSessions): Promise<void> {
    this.#lose(await shared.confirm(this.#own()));
  }

  #own(): OwnSession[] {
    const now = performance.now();
    return [...this.#sessions].map(([id, { usedAt, isInUse, isConnected }]) => {
      return { id, unusedMs: isInUse ? 0 : now - usedAt, isConnected };
    });
  }

  #lose(digests: readonly string[]): void {
    for (const digest of digests) void this.#sessions.get(digest)?.transport.close(replicaEnded);
  }

  /** Resolves when other replicas know which sessions have ended. */
  async settled(): Promise<void> {
    await this.#shared?.settled();
  }

  /** Cancels everything that runs. The clients still get their answers. */
  cancel(): void {
    this.#closing.abort(this.#shared ? leftToOthers : undefined);
  }

  /**
   * Hands the sessions over in which nothing runs: another replica has each before it is closed here. Without other replicas, does nothing. From
   * now on no session is taken over from others. Never throws.
   */
  async handOver(): Promise<void> {
    await this.#handOver(({ transport }) => !transport.isBusy);
  }

  async #handOver(which: (session: HttpSession) => boolean): Promise<void> {
    const shared = this.#shared;
    if (!shared) return;
    this.#isLeaving = true;
    const leaving = [...this.#sessions].filter(([, session]) => which(session));
    if (leaving.length === 0) return;
    for (const [digest, { transport }] of leaving) {
      transport.isMoved = true;
      this.#sessions.delete(digest);
    }
    try {
      await atMost(handOverMs, shared.handOver(leaving.map(([digest]) => digest)));
    } catch (error) {
      this.#log.warn(`Cannot hand sessions over now: ${messageOf(error)}`);
    }
    await Promise.all(leaving.map(([, { transport }]) => transport.close(serverEnded)));
  }

  /** Ends all sessions, or leaves them to other replicas. Resolves when their own connections to servers have ended. */
  async close({ handsOver = false } = {}): Promise<void> {
    clearInterval(this.#timer);
    this.cancel();
    await Promise.allSettled(this.#adopting.values());
    if (handsOver) await this.#handOver(() => true);
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close(serverEnded)));
    await Promise.all([...this.#ending, this.settled()]);
  }

  get #isDirect(): boolean {
    return sessionMode(this.#app) === "direct";
  }

  async #connect(
    transport: SessionTransport,
    asker: RequestingAgent & { starter: Starter & { session: string } },
    { ended }: Caller,
    canBeAsked: boolean,
  ): Promise<Server> {
    await this.#app.reload?.refresh();
    const isDirect = this.#isDirect;
    const needs = { canBeAsked, isDirect, hasPrivate: await hasPrivateServers(this.#app) };
    const app = appFor(this.#app, needs, transport.sessionId);
    const surface = isDirect ? undefined : await surfaceOf(app);
    const server = createSession(app, this.#closing.signal, surface, { asker });
    if (canBeAsked) app.pool.setHost({ responder: hostOf(server, () => transport.sender) });
    let stopListening = () => {};
    server.onclose = () => {
      stopListening();
      this.#sessions.delete(asker.starter.session);
      this.#shared?.end(asker.starter.session, transport.isMoved);
      this.#log.info(`session ${shortOf(transport)} ended: ${this.#sessions.size} open`);
      if (app !== this.#app) this.#end(app);
    };
    await server.connect(transport);
    stopListening = onAbort(ended, () => void transport.close(accessEnded));
    this.#log.info(`session ${shortOf(transport)} started: ${this.#sessions.size} open`);
    return server;
  }

  #end(app: App): void {
    const ending = app[Symbol.asyncDispose]()
      .catch((error) => this.#log.warn(`the servers of a session did not stop cleanly: ${messageOf(error)}`))
      .finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  #tend(): void {
    for (const session of this.#sessions.values()) {
      session.tend();
      if (performance.now() - session.usedAt > this.#limits.idleMs) void session.transport.close();
    }
    void this.#shared?.tend(this.#own()).then((lost) => this.#lose(lost));
  }
}

/** The id authenticates a client, so the log contains only its beginning. */
function shortOf({ sessionId }: SessionTransport): string {
  return sessionId.slice(0, 8);
}

/** One session at an address: its transport, whose it is, and when its client was there last. */
class HttpSession implements ClientPlace {
  readonly transport: SessionTransport;
  readonly owner: string | undefined;
  readonly address: string;
  readonly client: string;
  usedAt = performance.now();
  /** When the client was last seen to be connected. */
  #seenAt = performance.now();

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

  /** A client that never listens is connected only during its requests, and counts as connected for a while after each. */
  get isConnected(): boolean {
    const { isConnected, hasListened } = this.transport;
    return isConnected || (!hasListened && performance.now() - this.#seenAt < disconnectedAfterMs);
  }

  /** Its client has sent a request. */
  use(): void {
    this.usedAt = performance.now();
    this.#seenAt = this.usedAt;
  }

  tend(): void {
    this.transport.tend();
    const now = performance.now();
    if (this.transport.isInUse) this.usedAt = now;
    if (this.transport.isConnected) this.#seenAt = now;
  }
}

interface BegunSession {
  transport: SessionTransport;
  server: Server;
  initialize: InitializeRequest["params"];
  memory: SessionMemory;
  isDirect: boolean;
}

/**
 * Brings a session that was taken over to where its client has left it. In direct mode, the client is told to look again at what may have
 * changed meanwhile. Resolves when the session can be used.
 */
async function continueSession(begun: BegunSession): Promise<void> {
  const { transport, server, initialize, memory, isDirect } = begun;
  await transport.replay({ method: "initialize", params: initialize });
  transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/initialized" });
  // Servers may have to start first.
  const again = Promise.all(memory.requests().map((request) => transport.replay(request)));
  if (!isDirect) return;
  const send = (notification: Notification) => void server.notification(notification).catch(() => {});
  const { listChanged, resourceUpdated } = listenerWith(send);
  for (const what of ["tools", "prompts", "resources"] as const) listChanged(what);
  void again.then(() => memory.resources.forEach(resourceUpdated));
}

/** Subscriptions of one session that are renewed when another replica takes it over. */
const maxKeptSubscriptions = 200;

/** Characters of the URI of such a subscription. */
const maxKeptUriChars = 2_000;

class SessionMemory {
  readonly #resources: Set<string>;
  #level: string | undefined;

  /** `kept` is the JSON of another memory. */
  constructor(kept = "{}") {
    const { resources, level } = Object(parsedJson(kept)) as JsonObject;
    this.#resources = new Set(stringsIn(resources));
    this.#level = typeof level === "string" ? level : undefined;
  }

  get json(): string {
    return JSON.stringify({ resources: this.resources, level: this.#level });
  }

  /** The URIs of the resources that the client listens to. */
  get resources(): string[] {
    return [...this.#resources];
  }

  /** Takes note of a message of the client. Returns whether that has changed something. */
  received(message: JSONRPCMessage): boolean {
    if (!("method" in message)) return false;
    const { uri, level } = isObject(message.params) ? message.params : {};
    switch (message.method) {
      case "resources/subscribe":
        return this.#subscribed(uri);
      case "resources/unsubscribe":
        return this.#resources.delete(String(uri));
      case "logging/setLevel":
        if (typeof level !== "string" || level.length > maxKeptUriChars || level === this.#level) return false;
        this.#level = level;
        return true;
      default:
        return false;
    }
  }

  #subscribed(uri: unknown): boolean {
    if (typeof uri !== "string" || uri.length > maxKeptUriChars || this.#resources.has(uri)) return false;
    if (this.#resources.size >= maxKeptSubscriptions) return false;
    this.#resources.add(uri);
    return true;
  }

  /** The requests that set everything again. */
  requests(): Pick<JSONRPCRequest, "method" | "params">[] {
    const level = this.#level === undefined ? [] : [{ method: "logging/setLevel", params: { level: this.#level } }];
    const resources = this.resources.map((uri) => ({ method: "resources/subscribe", params: { uri } }));
    return [...level, ...resources];
  }
}
