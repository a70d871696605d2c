/** One server's config → a connected MCP client, or an error that says what the server did instead. */

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { ServerConfig } from "../config/load.ts";
import { messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { version } from "../version.ts";
import { oneLine } from "../visible-text.ts";
import { unlessAborted } from "./abort.ts";
import type { Channel, ChannelOpener, ChannelOptions } from "./channel.ts";
import { NetworkFailure } from "./network-failure.ts";
import { type Listed, listenTo, type Notice } from "./notices.ts";
import { openChannel } from "./open-channel.ts";
import { type Request, type RequestOptions, sendRequest } from "./request.ts";
import type { Responder } from "./responder.ts";
import { ConnectionLost } from "./server-failure.ts";
import { ServerProgress } from "./server-progress.ts";
import { ServerRequests } from "./server-requests.ts";
import { Settling } from "./settling.ts";
import { cancelledStart, needsVariable, startFailure, unreachable } from "./start-failure.ts";
import type { Trace } from "./trace.ts";
import { WatchedTransport, withoutLateAnswers } from "./watched-transport.ts";

/** A capability of a server, as the protocol names it. */
export type Offer = Listed | "completions" | "logging";

/** A connected server. */
export interface Connection {
  /** What the server says it has: asking it for anything else is an error. */
  offers(what: Offer): boolean;
  /** Whether it tells when a resource changes. */
  canSubscribe(): boolean;
  /**
   * The result as it came. Throws CANCELLED, CALL_TIMEOUT, AUTH_REQUIRED or SERVER_UNAVAILABLE; and for an error that the server
   * answered INVALID_ARGUMENTS or TOOL_FAILED when a tool was called, else PROTOCOL_ERROR.
   */
  request(request: Request, options: RequestOptions): Promise<Record<string, unknown>>;
  /** Tells the server that the host has other roots, if it was told that it may hear of it. */
  rootsChanged(): void;
  /** Resolves when the server's process has ended, or its session. The log is told why. */
  close(why?: string): Promise<void>;
  /** What the server calls itself, with its version. */
  serverInfo(): object | undefined;
  /** Of a server that is a program of this machine. */
  pid: number | undefined;
}

export interface ConnectOptions extends ChannelOptions {
  /** Answers what the server asks. */
  responder?: Responder | undefined;
  /** Opens the channel. Without it, this process starts the server or connects to it. */
  openChannel?: ChannelOpener | undefined;
  /** Told how it ended: "its process exited with code 1"; and whether the server is well, and only has to be reached anew. */
  onClose: (how: string, isWell: boolean) => void;
  /** Told what the server says has changed. */
  onNotice?: (notice: Notice) => void;
  /** Sees all messages. */
  trace?: Trace | undefined;
}

/**
 * Starts or reaches the server and initializes it within its `startTimeoutMs`. Throws NEEDS_VARIABLE, CONFIG_INVALID,
 * AUTH_REQUIRED, SERVER_UNAVAILABLE, PROTOCOL_ERROR, and CANCELLED when `signal` is aborted meanwhile.
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
  if (options.trace) channel = { ...channel, transport: options.trace.over(channel.transport, server.name, redact) };
  channel = {
    ...channel,
    transport: new WatchedTransport(channel.transport, withoutLateAnswers(server.name, options.log)),
  };
  const client = new Client({ name: "claudikins", version }, { capabilities: requests.capabilities });
  requests.attach(client);
  const settling = settlingOf(client, requests, server, options.log);
  if (settling) channel = { ...channel, transport: new WatchedTransport(channel.transport, settling) };
  const progress = new ServerProgress();
  progress.attach(client, channel.transport);
  listenTo(client, { server: server.name, log: options.log, redact }, (notice) => options.onNotice?.(notice));
  let closedFor: string | undefined;
  client.onclose = () => {
    const how =
      closedFor === undefined ? `is gone: ${channel.ended() || "it was closed"}` : `was stopped: ${closedFor}`;
    options.log.info(`${server.name} ${how}`);
    options.onClose(channel.ended() || "the connection was closed", channel.isWell?.() === true);
  };
  client.onerror = (error) => options.log.debug(`${server.name}: ${oneLine(redact(error.message), 500)}`);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), server.startTimeoutMs);
  // The SDK never takes its listener off a signal: at the end it would cancel what was answered long ago.
  const cancel = new AbortController();
  const abort = () => cancel.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    const connecting = client.connect(channel.transport, { timeout: server.startTimeoutMs, signal: cancel.signal });
    // The SDK's time is that of one request; a stream or a socket has to be opened before.
    const patience = AbortSignal.any([late.signal, signal]);
    const what = `starting ${server.name}`;
    await (server.url === undefined ? connecting : unlessAborted(connecting, patience, what));
    if (settling) await unlessAborted(settling.begin(pingsBeforeCalls(server)), signal, what);
    const send: Connection["request"] = (request, requestOptions) =>
      sendRequest({ server, client, channel, requests, progress, closing: signal }, request, requestOptions);
    return {
      offers: (what) => client.getServerCapabilities()?.[what] !== undefined,
      canSubscribe: () => client.getServerCapabilities()?.resources?.subscribe === true,
      request: (request, requestOptions) => {
        const waiting = settling?.current;
        if (!waiting) return send(request, requestOptions);
        const { signal: whose, what: asked } = requestOptions;
        return unlessAborted(waiting, whose, asked).then(() => send(request, requestOptions));
      },
      rootsChanged: () => {
        if (!requests.capabilities.roots?.listChanged) return;
        void client.sendRootsListChanged().catch(() => {});
        void settling?.begin(pingsBeforeCalls(server));
      },
      close: (why = "claudikins is closing") => {
        closedFor = why;
        channel.closing?.(why);
        return client.close();
      },
      serverInfo: () => client.getServerVersion(),
      pid: channel.pid(),
    };
  } catch (cause) {
    // Told apart here, since the SDK makes a timeout of whatever ended the wait.
    const failure = signal.aborted
      ? cancelledStart(server, cause)
      : channel.isWell?.()
        ? new ConnectionLost(`Server "${server.name}": ${channel.ended()}`, {
            cause,
            why: channel.ended(),
            sent: false,
          })
        : startFailure(server, channel, late.signal.aborted, cause);
    channel.closing?.(messageOf(failure));
    await channel.transport.close();
    throw failure;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
  }
}

/** Undefined where the host can answer nothing: such a server is ready at once. */
function settlingOf(client: Client, requests: ServerRequests, { name }: ServerConfig, log: Log): Settling | undefined {
  if (Object.keys(requests.capabilities).length === 0) return undefined;
  return new Settling({
    ping: (timeout) => client.ping({ timeout }),
    isCalled: () => requests.isCalled,
    warn: (message) => log.warn(`${name}: ${message}`),
  });
}

/** A program may do something short before it asks, so one ping is too few. Over a network each ping takes its time, and answers keep no order. */
function pingsBeforeCalls({ url }: ServerConfig): number {
  return url === undefined ? 3 : 1;
}
