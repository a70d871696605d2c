/** Connects an MCP client to one server of the config. */

import { type ClientCapabilities, ProtocolError, type Transport } from "@modelcontextprotocol/client";
import { skillsCapabilityOf } from "@modelcontextprotocol/core/ext/skills";
import { messageOf } from "../../base/errors.ts";
import type { JsonObject } from "../../base/json-object.ts";
import type { Log } from "../../base/log.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { ServerConfig } from "../../config/load.ts";
import { Cancellation, unlessAborted } from "../abort.ts";
import { NetworkFailure } from "../failures/network-failure.ts";
import { ConnectionLost } from "../failures/server-failure.ts";
import {
  cancelledStart,
  hasMistake,
  isEcho,
  needsVariable,
  networkFailureIn,
  startFailure,
  unreachable,
} from "../failures/start-failure.ts";
import { withParameterHeaders } from "../network/parameter-headers.ts";
import { redactError } from "../values/secrets.ts";
import { ChangeStream, withOlderRequests } from "./change-stream.ts";
import type { Channel, ChannelOpener, ChannelOptions } from "./channel.ts";
import { type ListName, listenTo, type Notice } from "./notices.ts";
import { openDirectChannel } from "./open-channel.ts";
import { PendingRequests } from "./pending-requests.ts";
import { QuestionsOfServer } from "./questions-of-server.ts";
import { Readiness } from "./readiness.ts";
import type { Responder } from "./responder.ts";
import { type Send, sendRequest } from "./send-request.ts";
import { type Era, type OpeningRequest, ServerClient, type ServerIdentity } from "./server-client.ts";
import { ServerProgress } from "./server-progress.ts";
import type { MessageTrace } from "./trace.ts";
import { WatchedProcess, WatchedTransport, withoutLateAnswers } from "./watched-transport.ts";

/** A capability of a server, as the protocol names it, or its extension for skills. */
export type ServerCapability = ListName | "completions" | "logging" | "skills";

/** An initialized MCP session with a server. */
export interface Connection {
  /** The era that both sides speak. */
  readonly era: Era;
  readonly identity: ServerIdentity | undefined;
  /** Whether the server announced the capability. Without it, requests for it are errors. */
  offers(what: ServerCapability): boolean;
  /** Whether the server announces changes of its tools, which a call may then add. */
  readonly announcesTools: boolean;
  /** Whether the server announces changes of resources. */
  canSubscribe(): boolean;
  /**
   * Returns the server's result unchanged. Throws CANCELLED, CALL_TIMEOUT, AUTH_REQUIRED or SERVER_UNAVAILABLE. If the
   * server returned an error, throws INVALID_ARGUMENTS or TOOL_FAILED for a tool call, and PROTOCOL_ERROR otherwise.
   */
  request: Send;
  /** Tells the server that the roots have changed, if that was announced to it. */
  rootsChanged(): void;
  /** Resolves when the server's process or session has ended. `why` is logged. */
  close(why?: string): Promise<void>;
  /** The server's name and version, also after the end of the session. */
  serverInfo(): object | undefined;
  /** The process of a server that runs on this machine. */
  pid: number | undefined;
}

interface ConnectOptions extends ChannelOptions {
  /** Answers what the server asks. */
  responder?: Responder | undefined;
  /** The agent's extensions of the protocol. */
  extensions?: ClientCapabilities["extensions"];
  /** The era that the server spoke last time. It is tried first. Default "2025". */
  era?: Era | undefined;
  /** The schema of a tool as it was listed over an earlier connection. */
  storedSchema?: ((tool: string) => JsonObject | undefined) | undefined;
  /** Opens the channel: with a daemon, see `daemon/shared/remote-channels.ts`. Without it, this process starts the server or connects to it. */
  openChannel?: ChannelOpener | undefined;
  /**
   * Called with the reason when the connection ends, such as "its process exited with code 1". `isWell` says that the
   * server works and only a new connection is needed.
   */
  onClose: (how: string, isWell: boolean) => void;
  /** Called when the server announces a change, or logs. */
  onNotice?: (notice: Notice) => void;
  /** Records all messages. */
  trace?: MessageTrace | undefined;
}

/**
 * Opens a connection within `startTimeoutMs`, and once more if it is lost meanwhile although the server works. Throws NEEDS_VARIABLE,
 * CONFIG_INVALID, AUTH_REQUIRED, SERVER_UNAVAILABLE, PROTOCOL_ERROR, and CANCELLED if `signal` is aborted.
 */
export async function connect(server: ServerConfig, options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  if (server.mistake) throw hasMistake(server.name, server.mistake);
  if (server.needs.length > 0) throw needsVariable(server);
  try {
    return await connectOnce(server, options, signal);
  } catch (error) {
    // The process was shared, and has asked another agent something, so it belongs to that agent now. A new connection has a process of its own.
    if (!(error instanceof ConnectionLost)) throw error;
    return connectOnce(server, options, signal);
  }
}

async function connectOnce(server: ServerConfig, options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  const requests = new QuestionsOfServer(
    server.name,
    options.responder,
    options.log,
    announcedTo(server, options.extensions),
  );
  const channel = await channelTo(server, options, requests, signal);
  const late = AbortSignal.timeout(server.startTimeoutMs);
  const opening = new Opening({ server, options, requests, channel, signal, late });
  try {
    return await opening.connection();
  } catch (cause) {
    const failure = opening.failureOf(cause);
    channel.closing?.(messageOf(failure));
    await opening.abandon();
    throw failure;
  }
}

async function channelTo(
  server: ServerConfig,
  options: ConnectOptions,
  { capabilities }: QuestionsOfServer,
  signal: AbortSignal,
): Promise<Channel> {
  try {
    return await (options.openChannel ?? openDirectChannel)(server, { ...options, capabilities, signal });
  } catch (cause) {
    if (!(cause instanceof NetworkFailure)) throw cause;
    throw signal.aborted ? cancelledStart(server, cause) : unreachable(server, cause);
  }
}

interface ConnectContext {
  server: ServerConfig;
  options: ConnectOptions;
  requests: QuestionsOfServer;
  channel: Channel;
  /** Aborted when claudikins ends. */
  signal: AbortSignal;
  /** Aborted when the time for the start is over. */
  late: AbortSignal;
}

/** The steps from a channel to a connection, and what they share. */
class Opening {
  readonly #given: ConnectContext;
  readonly #channel: Channel;
  /** The transport that the client uses, around the traced one. */
  readonly #transport: WatchedTransport;
  readonly #traced: Transport;
  readonly #progress = new ServerProgress();
  readonly #pending = new PendingRequests((message) => this.#transport.send(message));
  readonly #readiness: Readiness | undefined;
  #client: ServerClient | undefined;
  #changes: ChangeStream | undefined;
  /** Why the connection is closed from here. */
  #closedFor: string | undefined;

  constructor(given: ConnectContext) {
    const { server, options, requests, channel } = given;
    this.#given = given;
    this.#readiness = readinessOf(() => this.#client, requests, server, options.log);
    this.#traced = options.trace?.over(channel.transport, server.name, this.#redact) ?? channel.transport;
    const watchers = [
      withoutLateAnswers(server.name, options.log),
      ...(this.#readiness ? [this.#readiness] : []),
      this.#progress,
      this.#pending,
    ];
    this.#transport = new (server.url === undefined ? WatchedProcess : WatchedTransport)(this.#traced, ...watchers);
    this.#channel = { ...channel, transport: this.#transport };
  }

  async connection(): Promise<Connection> {
    const client = await this.#greeted();
    this.#client = client;
    const send = await this.#ready(client);
    return this.#connectionOf(client, send);
  }

  /** The error of a connection that could not be opened. */
  failureOf(cause: unknown): Error {
    const { server, options, signal, late } = this.#given;
    const channel = this.#channel;
    // The SDK reports every end of the wait as a timeout.
    if (signal.aborted) return cancelledStart(server, cause);
    if (!channel.isWell?.()) return startFailure(server, channel, { isLate: late.aborted, env: options.env }, cause);
    const why = channel.ended();
    return new ConnectionLost(`Server "${server.name}": ${why}`, { cause, why, sent: false });
  }

  /** Ends the server's process or session. The transport itself may be lent. */
  async abandon(): Promise<void> {
    await this.#traced.close();
  }

  /** The client, once the server has answered its first request. */
  async #greeted(): Promise<ServerClient> {
    const { server, options, signal, late } = this.#given;
    const client = handshake({
      transport: this.#transport,
      newClient: (beginning) => this.#newClient(beginning),
      timeoutMs: server.startTimeoutMs,
      signal,
      known: options.era,
    });
    // The SDK's timeout covers only one request. Opening a stream or socket comes before.
    return unlessAborted(client, AbortSignal.any([late, signal]), this.#what);
  }

  #newClient(beginning: OpeningRequest): ServerClient {
    const { server, options, requests } = this.#given;
    const client = new ServerClient(requests.capabilities, this.#pending, beginning);
    requests.attach(client);
    listenTo(client, { server: server.name, log: options.log, redact: this.#redact }, this.#onNotice);
    client.onerror = (error) => this.#debug(error.message);
    client.onclose = () => this.#closed();
    return client;
  }

  #closed(): void {
    const { server, options } = this.#given;
    const channel = this.#channel;
    this.#changes?.close();
    const ended = channel.ended();
    const how =
      this.#closedFor === undefined ? `is gone: ${ended || "it was closed"}` : `was stopped: ${this.#closedFor}`;
    options.log.info(`${server.name} ${how}`);
    options.onClose(ended || "the connection was closed", channel.isWell?.() === true);
  }

  /** Resolves when calls may be sent, with the function that sends them. */
  async #ready(client: ServerClient): Promise<Send> {
    const { server, options, requests, signal } = this.#given;
    const peer = { server, client, channel: this.#channel, requests, progress: this.#progress, closing: signal };
    const send: Send = (request, what, call) => sendRequest(peer, request, what, call);
    if (client.era === "2026") {
      this.#changes = new ChangeStream(client, this.#onNotice, this.#debug);
      this.#changes.start();
      const older = withOlderRequests(send, client, this.#changes);
      if (!this.#transport.hasPerRequestStream) return older;
      const { log, storedSchema } = options;
      return withParameterHeaders(older, { server: server.name, log, client, storedSchema });
    }
    const readiness = this.#readiness;
    if (!readiness) return send;
    await unlessAborted(readiness.begin(pingsBeforeCalls(server)), signal, this.#what);
    return (request, what, call) => {
      const waiting = readiness.current;
      if (!waiting) return send(request, what, call);
      return unlessAborted(waiting, call.signal, what).then(() => send(request, what, call));
    };
  }

  #connectionOf(client: ServerClient, send: Send): Connection {
    const { server, requests } = this.#given;
    const channel = this.#channel;
    // The SDK forgets these when the connection is closed.
    const { era, identity } = client;
    const [capabilities = {}, serverInfo] = [client.getServerCapabilities(), client.getServerVersion()];
    return {
      era,
      identity,
      offers: (what) =>
        (what === "skills" ? skillsCapabilityOf({ extensions: capabilities.extensions ?? {} }) : capabilities[what]) !==
        undefined,
      announcesTools: capabilities.tools?.listChanged === true,
      canSubscribe: () => capabilities.resources?.subscribe === true,
      request: (request, what, call) =>
        send(request, what, call).catch((error: unknown) => {
          throw redactError(error, this.#redact);
        }),
      rootsChanged: () => {
        if (era === "2026" || !requests.capabilities.roots?.listChanged) return;
        void client.sendRootsListChanged().catch(() => {});
        void this.#readiness?.begin(pingsBeforeCalls(server));
      },
      close: (why = "claudikins is closing") => {
        this.#closedFor = why;
        channel.closing?.(why);
        return client.close();
      },
      serverInfo: () => serverInfo,
      pid: channel.pid(),
    };
  }

  get #what(): string {
    return `starting ${this.#given.server.name}`;
  }

  readonly #redact = (text: string) => this.#given.options.redact?.(text) ?? text;

  readonly #onNotice = (notice: Notice) => this.#given.options.onNotice?.(notice);

  readonly #debug = (message: string) => {
    const { server, options } = this.#given;
    options.log.debug(`${server.name}: ${oneLine(this.#redact(message), 500)}`);
  };
}

/** Undefined if the responder has no capabilities: then the server is ready at once. */
function readinessOf(
  client: () => ServerClient | undefined,
  requests: QuestionsOfServer,
  { name }: ServerConfig,
  log: Log,
): Readiness | undefined {
  const { extensions: _, ...askable } = requests.capabilities;
  if (Object.keys(askable).length === 0) return undefined;
  return new Readiness({
    ping: async (timeoutMs) => {
      const cancellation = new Cancellation();
      const timer = setTimeout(() => cancellation.cancel("no answer in time"), timeoutMs);
      await client()
        ?.ask({ method: "ping" }, { cancellation })
        .finally(() => clearTimeout(timer));
    },
    isCalled: () => requests.isCalled,
    warn: (message) => log.warn(`${name}: ${message}`),
  });
}

/**
 * A process may do something short before it sends its requests, so one ping is too few. On the network, pings take longer,
 * and answers have no order.
 */
function pingsBeforeCalls({ url }: ServerConfig): number {
  return url === undefined ? 3 : 1;
}

type Extensions = ClientCapabilities["extensions"];

/** The extensions that are announced to a server: the agent's, and this one if the server's entry uses it. */
function announcedTo(server: ServerConfig, extensions: Extensions): Extensions {
  if (server.url === undefined || server.exchange?.kind !== "id-jag") return extensions;
  return { ...extensions, "io.modelcontextprotocol/enterprise-managed-authorization": {} };
}

interface HandshakeOptions {
  transport: WatchedTransport;
  newClient: (beginning: OpeningRequest) => ServerClient;
  timeoutMs: number;
  signal: AbortSignal;
  /** The era that the server spoke last time. */
  known: Era | undefined;
}

/**
 * Resolves with a connected client. The first request is `initialize`, because servers of both eras answer it, and some processes end
 * at any other. A server that refuses it is asked in the newer era, over the same connection; if it refuses that too, the first refusal
 * is the error. A server that is known to speak the newer era is asked in that era first.
 */
async function handshake(options: HandshakeOptions): Promise<ServerClient> {
  const { transport, newClient, timeoutMs: timeout, signal, known } = options;
  const isNewer = known === "2026";
  const client = newClient(isNewer ? "newer first" : "older");
  try {
    await transport.lend(() => client.connect(transport, { timeout, signal }));
    return client;
  } catch (refusal) {
    if (!(refusal instanceof ProtocolError) || isNewer || isEcho(refusal)) throw refusal;
    const newer = newClient("newer");
    try {
      await transport.lend(() => newer.connect(transport, { timeout, signal }));
    } catch (error) {
      throw networkFailureIn(error) ? error : refusal;
    }
    return newer;
  }
}
