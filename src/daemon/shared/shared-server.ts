/**
 * One server process that several users share. Each user sees it as its own. The process is initialized once. Requests of users get new
 * ids, answers go back with the original ids, and notifications go to all users.
 */
import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  LATEST_PROTOCOL_VERSION,
  type ProgressToken,
  ProtocolErrorCode,
  type RequestId,
  SUBSCRIPTION_ID_META_KEY,
} from "@modelcontextprotocol/client";
import { LoggingLevelSchema } from "@modelcontextprotocol/core";
import type { Log } from "../../base/log.ts";
import { version } from "../../base/version.ts";
import type { Channel } from "../../servers/connection/channel.ts";

/** Connects one user to a shared server. */
export interface Port {
  /** The user's session. Several users may have the same one. */
  readonly session: string;
  send(message: JSONRPCMessage): void;
  /** The last call to the port, unless the user has detached itself. */
  end(how: PortEnd): void;
}

export interface PortEnd {
  /** The reason, as the end of a sentence: "its process exited with code 1". */
  how: string;
  /** The last lines of the server's stderr. */
  lastWords: string[];
  /**
   * `failed`: the server ended. `gone`: the server works, but is not available any more. `moved`: the same, and the server
   * has not seen the pending requests.
   */
  kind: "failed" | "gone" | "moved";
}

interface SharedServerOptions {
  name: string;
  /** The capabilities that all its users have. */
  capabilities: object;
  /** Idle time until the process is ended, in milliseconds. Infinite if it stays. */
  idleMs: number;
  /** Whether the process ends with its last user. */
  isOfOne: boolean;
  log: Log;
  open: () => Promise<Channel>;
  /** Called when the server has sent a request to a user. From then on, the server belongs to that user's session. */
  onAsks: (owner: string) => void;
  onEnd: () => void;
}

interface User {
  /** Ids of the server's requests to this user. */
  asked: Set<RequestId>;
  /** URIs of subscribed resources. */
  uris: Set<string>;
  logLevel?: string;
  /** Whether the user is moved out as soon as no request is pending. */
  isLeaving: boolean;
}

/** A request of a user. */
interface PendingRequest {
  port: Port;
  /** The user's own id. */
  id: RequestId;
  method: string;
  token: ProgressToken | undefined;
}

/** The method of a request that lasts as long as its user listens. */
const listen = "subscriptions/listen";

const initializeId = 0;

export class SharedServer {
  readonly #options: SharedServerOptions;
  readonly #users = new Map<Port, User>();
  /** By the ids that the server sees. */
  readonly #pending = new Map<number, PendingRequest>();
  /** Requests for `initialize` that came before the server's answer. */
  #early: { port: Port; id: RequestId }[] = [];
  /** The server's answer to `initialize`: a result, or an error. */
  #greeting: { result: object } | { error: object } | undefined;
  /** Whether the server has answered `server/discover`. It is then of the newer era, and needs no `initialize`. */
  #isDiscovered = false;
  #channel: Channel | undefined;
  #lastId = initializeId;
  #timer: NodeJS.Timeout | undefined;
  #owner: string | undefined;
  /** When a user sent a request or got an answer for the last time. Undefined if none has sent a request. */
  #usedAt: number | undefined;
  #closed: Promise<void> | undefined;
  /** Resolves when the process is started. Rejects if it cannot be started. */
  readonly started: Promise<void>;
  readonly since = Date.now();

  constructor(options: SharedServerOptions) {
    this.#options = options;
    this.started = this.#start();
    // Users that wait for the start get its error.
    this.started.catch(() => {
      this.#users.clear();
      this.#end({ how: "it did not start", lastWords: [], kind: "failed" });
    });
  }

  get name(): string {
    return this.#options.name;
  }

  get pid(): number | undefined {
    return this.#channel?.pid();
  }

  get isReady(): boolean {
    return this.#isDiscovered || (this.#greeting !== undefined && "result" in this.#greeting);
  }

  get users(): number {
    return this.#users.size;
  }

  attach(port: Port): void {
    this.#users.set(port, { asked: new Set(), uris: new Set(), isLeaving: false });
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Removes a user. Its requests are cancelled, and requests of the server to it are answered with an error. */
  detach(port: Port): void {
    const user = this.#users.get(port);
    if (!user) return;
    this.#users.delete(port);
    this.#early = this.#early.filter((each) => each.port !== port);
    for (const [requestId, pending] of this.#pending) {
      if (pending.port !== port) continue;
      this.#pending.delete(requestId);
      this.#tell("notifications/cancelled", { requestId, reason: "the caller stopped waiting" });
    }
    for (const id of user.asked) this.#answerError(id, "no client is connected to answer");
    for (const uri of user.uris) {
      if (!this.#isSubscribed(uri)) this.#askForNobody("resources/unsubscribe", { uri });
    }
    this.#endWhenIdle();
  }

  /** Makes the user reconnect elsewhere, as soon as it has no pending request. */
  moveOut(port: Port): void {
    const user = this.#users.get(port);
    if (!user) return;
    user.isLeaving = true;
    this.#goIfLeaving(port, user);
  }

  moveAllOut(): void {
    for (const port of this.#users.keys()) this.moveOut(port);
  }

  /** Tells all users what the server would tell them if its tools had changed. */
  toolsChanged(): void {
    this.#tells({ jsonrpc: "2.0", method: "notifications/tools/list_changed" });
  }

  /** Resolves when the process has ended. */
  async close(why: string): Promise<void> {
    this.#end({ how: why, lastWords: [], kind: "gone" });
    await this.#closed;
  }

  /** Handles a message of a user. */
  receive(port: Port, message: JSONRPCMessage): void {
    const user = this.#users.get(port);
    if (!user) return;
    if ("method" in message) {
      if ("id" in message) this.#request(port, user, message);
      else this.#notification(port, message);
      return;
    }
    // An answer without a request, or to a cancelled request, is dropped.
    if (message.id !== undefined && user.asked.delete(message.id)) this.#send(message);
    this.#goIfLeaving(port, user);
  }

  #request(port: Port, user: User, request: JSONRPCRequest): void {
    const { id, method, params = {} } = request;
    const uri = String(params["uri"]);
    if (method === "resources/subscribe") user.uris.add(uri);
    if (method === "resources/unsubscribe") user.uris.delete(uri);
    if (method === "initialize") this.#greet(port, id);
    else if (method === "resources/unsubscribe" && this.#isSubscribed(uri)) {
      port.send({ jsonrpc: "2.0", id, result: {} });
    } else if (method === "logging/setLevel") {
      user.logLevel = String(params["level"]);
      const level = lowestLevel([...this.#users.values()].flatMap(({ logLevel }) => logLevel ?? []));
      this.#passOn(port, { ...request, params: { ...params, level } });
    } else this.#passOn(port, request);
  }

  /** Requests get new ids, because two users may use the same one. */
  #passOn(port: Port, request: JSONRPCRequest): void {
    // Pings are passed on as well, because users find out with pings whether the server asks something.
    if (request.method !== "ping") this.#usedAt = performance.now();
    this.#lastId += 1;
    const id = this.#lastId;
    const { method, params } = request;
    const token = params?._meta?.progressToken;
    this.#pending.set(id, { port, id: request.id, method, token });
    if (token === undefined) this.#send({ ...request, id });
    else this.#send({ ...request, id, params: { ...params, _meta: { ...params?._meta, progressToken: id } } });
  }

  #notification(port: Port, { method, params = {} }: JSONRPCNotification): void {
    // Sent once for all users.
    if (method === "notifications/initialized") return;
    if (method !== "notifications/cancelled") {
      this.#tell(method, params);
      return;
    }
    const isMeant = (pending: PendingRequest) => pending.port === port && pending.id === params["requestId"];
    const [requestId] = [...this.#pending].find(([, pending]) => isMeant(pending)) ?? [];
    if (requestId === undefined) return;
    // No user waits for the answer any more.
    this.#pending.delete(requestId);
    this.#tell(method, { ...params, requestId });
  }

  #greet(port: Port, id: RequestId): void {
    if (this.#greeting) port.send({ jsonrpc: "2.0", id, ...this.#greeting } as JSONRPCMessage);
    else this.#early.push({ port, id });
  }

  async #start(): Promise<void> {
    const channel = await this.#options.open();
    this.#channel = channel;
    channel.transport.onmessage = (message) => this.#fromServer(message);
    channel.transport.onerror = (error) => this.#options.log.debug(`${this.name}: ${error.message}`);
    channel.transport.onclose = () =>
      this.#end({ how: channel.ended(), lastWords: channel.lastWords(), kind: "failed" });
    await channel.transport.start();
    this.#options.log.info(`${this.name} has started${this.pid === undefined ? "" : ` (process ${this.pid})`}`);
    const { capabilities } = this.#options;
    const clientInfo = { name: "claudikins", version };
    const params = { protocolVersion: LATEST_PROTOCOL_VERSION, capabilities, clientInfo };
    this.#send({ jsonrpc: "2.0", id: initializeId, method: "initialize", params });
    // All users may have gone already.
    this.#endWhenIdle();
  }

  #fromServer(message: JSONRPCMessage): void {
    if ("method" in message) {
      if ("id" in message) this.#asks(message);
      else this.#tells(message);
    } else if (message.id === initializeId) this.#isGreeted(message);
    else this.#answers(message);
  }

  #isGreeted(message: Exclude<JSONRPCMessage, { method: string }>): void {
    if (this.#greeting) return;
    this.#greeting = "result" in message ? { result: message.result } : { error: message.error };
    if (this.isReady) this.#tell("notifications/initialized");
    // After an error, users try the newer era. A process that refuses it as well ends with its last user.
    for (const { port, id } of this.#early.splice(0)) this.#greet(port, id);
  }

  #answers(message: Exclude<JSONRPCMessage, { method: string }>): void {
    const pending = this.#pending.get(message.id as number);
    if (!pending) return;
    this.#pending.delete(message.id as number);
    const { port, id, method } = pending;
    if (method !== "ping") this.#usedAt = performance.now();
    if (method === "server/discover" && "result" in message) this.#isDiscovered = true;
    const user = this.#users.get(port);
    port.send({ ...message, id });
    if (user) this.#goIfLeaving(port, user);
  }

  /**
   * The server's request goes to the user for whom it works, or, if that is unclear, to the last one that sent a request.
   * From then on, only that user's session may use the server.
   */
  #asks(request: JSONRPCRequest): void {
    if (request.method === "ping") {
      this.#send({ jsonrpc: "2.0", id: request.id, result: {} });
      return;
    }
    const [first] = this.#users.keys();
    const port = [...this.#pending.values()].at(-1)?.port ?? first;
    if (!port) {
      this.#answerError(request.id, "no client is connected to answer");
      return;
    }
    this.#users.get(port)?.asked.add(request.id);
    port.send(request);
    // A server cannot learn anything private from users without capabilities.
    if (this.#owner !== undefined || Object.keys(this.#options.capabilities).length === 0) return;
    this.#owner = port.session;
    this.#options.onAsks(port.session);
    for (const other of this.#users.keys()) if (other.session !== port.session) this.moveOut(other);
  }

  #tells({ method, params = {}, ...rest }: JSONRPCNotification): void {
    const message = { ...rest, method, params };
    const subscription = params._meta?.[SUBSCRIPTION_ID_META_KEY];
    if (subscription !== undefined) {
      const { port, id } = this.#pending.get(subscription as number) ?? {};
      const _meta = { ...params._meta, [SUBSCRIPTION_ID_META_KEY]: id };
      port?.send({ ...message, params: { ...params, _meta } });
      return;
    }
    if (method === "notifications/progress") {
      const { port, token } = this.#pending.get(Number(params["progressToken"])) ?? {};
      if (port && token !== undefined) port.send({ ...message, params: { ...params, progressToken: token } });
      return;
    }
    for (const [port, { asked, uris }] of this.#users) {
      if (method === "notifications/resources/updated" && uris.size === 0) continue;
      if (method === "notifications/cancelled" && !asked.delete(params["requestId"] as RequestId)) continue;
      port.send(message);
    }
  }

  #isSubscribed(uri: string): boolean {
    return [...this.#users.values()].some(({ uris }) => uris.has(uri));
  }

  /** A request whose answer is ignored. */
  #askForNobody(method: string, params: object): void {
    this.#lastId += 1;
    this.#send({ jsonrpc: "2.0", id: this.#lastId, method, params } as JSONRPCMessage);
  }

  #tell(method: string, params?: object): void {
    this.#send({ jsonrpc: "2.0", method, ...(params ? { params } : {}) } as JSONRPCMessage);
  }

  #answerError(id: RequestId, message: string): void {
    this.#send({
      jsonrpc: "2.0",
      id,
      error: { code: ProtocolErrorCode.MethodNotFound, message: `claudikins: ${message}` },
    });
  }

  /** Ignores a failed write, because all users get an error when the process ends. */
  #send(message: JSONRPCMessage): void {
    this.#channel?.transport.send(message).catch(() => {});
  }

  #goIfLeaving(port: Port, { isLeaving, asked }: User): void {
    if (!isLeaving || asked.size > 0) return;
    if (this.#early.some((each) => each.port === port)) return;
    if ([...this.#pending.values()].some((each) => each.port === port && each.method !== listen)) return;
    this.detach(port);
    port.end({ how: "it is now reached elsewhere", lastWords: [], kind: "moved" });
  }

  /** Without users, the process ends when the idle time since its last use is over. */
  #endWhenIdle(): void {
    if (this.#users.size > 0 || this.#closed || this.#timer) return;
    const { idleMs, isOfOne } = this.#options;
    // A server is not kept if no later user could take it over.
    const isWanted = this.isReady && !isOfOne && this.#owner === undefined;
    const restMs = this.#usedAt === undefined ? 0 : this.#usedAt + idleMs - performance.now();
    const end = () => this.#end({ how: "nothing uses it", lastWords: [], kind: "moved" });
    if (!isWanted || restMs <= 0) end();
    else if (idleMs !== Number.POSITIVE_INFINITY) this.#timer = setTimeout(end, restMs).unref();
  }

  #end(how: PortEnd): void {
    if (this.#closed) return;
    this.#channel?.closing?.(how.how);
    this.#closed = this.#channel?.transport.close().catch(() => {}) ?? Promise.resolve();
    clearTimeout(this.#timer);
    const users = [...this.#users.keys()];
    this.#users.clear();
    this.#pending.clear();
    for (const port of users) port.end(how);
    this.#options.log.info(`${this.name} was stopped: ${how.how || "it was closed"}`);
    this.#options.onEnd();
  }
}

/** The most verbose of these levels; unknown levels count as "debug". */
function lowestLevel(wanted: readonly string[]): string {
  const levels: readonly string[] = LoggingLevelSchema.options;
  return levels[Math.min(...wanted.map((level) => Math.max(levels.indexOf(level), 0)))] ?? "debug";
}
