/** Connects an MCP client to one server of the config. */

import { ProtocolError } from "@modelcontextprotocol/client";
import { skillsCapabilityOf } from "@modelcontextprotocol/core/ext/skills";
import type { ServerConfig } from "../config/load.ts";
import { messageOf } from "../errors.ts";
import type { JsonObject } from "../json-object.ts";
import type { Log } from "../log.ts";
import { oneLine } from "../visible-text.ts";
import { unlessAborted } from "./abort.ts";
import { ChangeStream, withOlderRequests } from "./change-stream.ts";
import type { Channel, ChannelOpener, ChannelOptions } from "./channel.ts";
import { NetworkFailure } from "./network-failure.ts";
import { type Listed, listenTo, type Notice } from "./notices.ts";
import { openChannel } from "./open-channel.ts";
import { withParameterHeaders } from "./parameter-headers.ts";
import { type Request, type RequestOptions, type Send, sendRequest } from "./request.ts";
import type { Responder } from "./responder.ts";
import { type Era, ServerClient, type ServerIdentity } from "./server-client.ts";
import { ConnectionLost } from "./server-failure.ts";
import { ServerProgress } from "./server-progress.ts";
import { ServerRequests } from "./server-requests.ts";
import { Settling } from "./settling.ts";
import { cancelledStart, needsVariable, startFailure, unreachable } from "./start-failure.ts";
import type { Trace } from "./trace.ts";
import { WatchedProcess, WatchedTransport, withoutLateAnswers } from "./watched-transport.ts";

/** A capability of a server, as the protocol names it, or its extension for skills. */
export type Offer = Listed | "completions" | "logging" | "skills";

/** An initialized MCP session with a server. */
export interface Connection {
  /** The era that both sides speak. */
  readonly era: Era;
  readonly identity: ServerIdentity | undefined;
  /** Whether the server announced the capability. Without it, requests for it are errors. */
  offers(what: Offer): boolean;
  /** Whether the server announces changes of resources. */
  canSubscribe(): boolean;
  /**
   * Returns the server's result unchanged. Throws CANCELLED, CALL_TIMEOUT, AUTH_REQUIRED or SERVER_UNAVAILABLE. If the
   * server returned an error, throws INVALID_ARGUMENTS or TOOL_FAILED for a tool call, and PROTOCOL_ERROR otherwise.
   */
  request(request: Request, options: RequestOptions): Promise<Record<string, unknown>>;
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
  /** The era that the server spoke last time. It is tried first. Default "2025". */
  era?: Era | undefined;
  /** The schema of a tool as it was listed over an earlier connection. */
  storedSchema?: ((tool: string) => JsonObject | undefined) | undefined;
  /** Opens the channel. Without it, this process starts the server or connects to it. */
  openChannel?: ChannelOpener | undefined;
  /**
   * Called with the reason when the connection ends, such as "its process exited with code 1". `isWell` says that the
   * server works and only a new connection is needed.
   */
  onClose: (how: string, isWell: boolean) => void;
  /** Called when the server announces a change, or logs. */
  onNotice?: (notice: Notice) => void;
  /** Records all messages. */
  trace?: Trace | undefined;
}

/**
 * Opens a connection within `startTimeoutMs`. Throws NEEDS_VARIABLE, CONFIG_INVALID, AUTH_REQUIRED, SERVER_UNAVAILABLE,
 * PROTOCOL_ERROR, and CANCELLED if `signal` is aborted.
 */
export async function connect(server: ServerConfig, options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  if (server.needs.length > 0) throw needsVariable(server);
  const redact = options.redact ?? ((text) => text);
  const requests = new ServerRequests(server.name, options.responder, options.log);
  let channel: Channel;
  try {
    channel = await (options.openChannel ?? openChannel)(server, {
      ...options,
      capabilities: requests.capabilities,
      signal,
    });
  } catch (cause) {
    throw cause instanceof NetworkFailure ? unreachable(server, cause) : cause;
  }
  const settling = settlingOf(() => client, requests, server, options.log);
  const progress = new ServerProgress();
  const traced = options.trace?.over(channel.transport, server.name, redact) ?? channel.transport;
  const watchers = [withoutLateAnswers(server.name, options.log), ...(settling ? [settling] : []), progress];
  const transport = new (server.url === undefined ? WatchedProcess : WatchedTransport)(traced, ...watchers);
  channel = { ...channel, transport };
  const onNotice = (notice: Notice) => options.onNotice?.(notice);
  const debug = (message: string) => options.log.debug(`${server.name}: ${oneLine(redact(message), 500)}`);
  let closedFor: string | undefined;
  let changes: ChangeStream | undefined;
  const onclose = () => {
    changes?.close();
    const how =
      closedFor === undefined ? `is gone: ${channel.ended() || "it was closed"}` : `was stopped: ${closedFor}`;
    options.log.info(`${server.name} ${how}`);
    options.onClose(channel.ended() || "the connection was closed", channel.isWell?.() === true);
  };
  const newClient = (era: Era): ServerClient => {
    const made = new ServerClient(requests.capabilities, era);
    requests.attach(made);
    listenTo(made, { server: server.name, log: options.log, redact }, onNotice);
    made.onerror = (error) => debug(error.message);
    made.onclose = onclose;
    return made;
  };
  let client: ServerClient;
  const late = AbortSignal.timeout(server.startTimeoutMs);
  try {
    const asked = { timeout: server.startTimeoutMs, signal };
    const connecting = handshake(transport, newClient, asked, options.era);
    // The SDK's timeout covers only one request. Opening a stream or socket comes before.
    const patience = AbortSignal.any([late, signal]);
    const what = `starting ${server.name}`;
    client = await unlessAborted(connecting, patience, what);
    const peer = { server, client, channel, requests, progress, closing: signal };
    let send: Send = (request, requestOptions) => sendRequest(peer, request, requestOptions);
    if (client.era === "2026") {
      changes = new ChangeStream(client, onNotice, debug);
      changes.start();
      send = withOlderRequests(send, client, changes);
      if (transport.hasPerRequestStream) {
        send = withParameterHeaders(send, {
          server: server.name,
          log: options.log,
          client,
          storedSchema: options.storedSchema,
        });
      }
    } else if (settling) await unlessAborted(settling.begin(pingsBeforeCalls(server)), signal, what);
    // The SDK forgets these when the connection is closed.
    const { era, identity } = client;
    const [capabilities = {}, serverInfo] = [client.getServerCapabilities(), client.getServerVersion()];
    return {
      era,
      identity,
      offers: (what) =>
        (what === "skills" ? skillsCapabilityOf({ extensions: capabilities.extensions ?? {} }) : capabilities[what]) !==
        undefined,
      canSubscribe: () => capabilities.resources?.subscribe === true,
      request: (request, requestOptions) => {
        const waiting = settling?.current;
        if (!waiting) return send(request, requestOptions);
        const { signal: whose, what: asked } = requestOptions;
        return unlessAborted(waiting, whose, asked).then(() => send(request, requestOptions));
      },
      rootsChanged: () => {
        if (era === "2026" || !requests.capabilities.roots?.listChanged) return;
        void client.sendRootsListChanged().catch(() => {});
        void settling?.begin(pingsBeforeCalls(server));
      },
      close: (why = "claudikins is closing") => {
        closedFor = why;
        channel.closing?.(why);
        return client.close();
      },
      serverInfo: () => serverInfo,
      pid: channel.pid(),
    };
  } catch (cause) {
    // The SDK reports every end of the wait as a timeout.
    const failure = signal.aborted
      ? cancelledStart(server, cause)
      : channel.isWell?.()
        ? new ConnectionLost(`Server "${server.name}": ${channel.ended()}`, {
            cause,
            why: channel.ended(),
            sent: false,
          })
        : startFailure(server, channel, late.aborted, cause);
    channel.closing?.(messageOf(failure));
    // The transport itself may be lent.
    await traced.close();
    throw failure;
  }
}

/**
 * Resolves with a connected client. The first request is `initialize`, because servers of both eras answer it, and some processes end
 * at any other. A server that refuses it is asked in the newer era, over the same connection. A server that is known to speak the newer
 * era is asked in that era first; if it refuses, the SDK sends `initialize`.
 */
async function handshake(
  transport: WatchedTransport,
  newClient: (era: Era) => ServerClient,
  options: { timeout: number; signal: AbortSignal },
  known: Era = "2025",
): Promise<ServerClient> {
  const client = newClient(known);
  try {
    await transport.lend(() => client.connect(transport, options));
    return client;
  } catch (error) {
    if (!(error instanceof ProtocolError) || known === "2026") throw error;
    const newer = newClient("2026");
    await newer.connect(transport, options);
    return newer;
  }
}

/** Undefined if the responder has no capabilities: then the server is ready at once. */
function settlingOf(
  client: () => ServerClient,
  requests: ServerRequests,
  { name }: ServerConfig,
  log: Log,
): Settling | undefined {
  if (Object.keys(requests.capabilities).length === 0) return undefined;
  return new Settling({
    ping: (timeout) => client().ping({ timeout }),
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
