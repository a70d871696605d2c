/** One server's config → a connected MCP client, or an error that says what the server did instead. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ErrorCode, McpError, UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Environment } from "../config/environment.ts";
import type { ServerConfig } from "../config/load.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { type Clock, maxTimerMs, TimeLimit } from "../time-limit.ts";
import { version } from "../version.ts";
import { ConnectionLost } from "./connection-lost.ts";
import type { Host } from "./host.ts";
import { NetworkFailure } from "./network-failure.ts";
import { listenTo, type Notice, oneLine } from "./notices.ts";
import { objectsOf } from "./result.ts";
import { type ProgressListener, ServerProgress } from "./server-progress.ts";
import { ServerRequests } from "./server-requests.ts";
import { type Line, lineTo } from "./transport.ts";
import { unlessAborted } from "./unless-aborted.ts";

export interface Request {
  method: string;
  params: Record<string, unknown>;
}

export interface RequestOptions {
  /** What is asked, for error messages: `demo.get_order`. */
  what: string;
  /** Time in which the server waits for a person does not count. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  /** Stands still as well while the server waits for a person. */
  clock?: Clock | undefined;
  /** The server is asked to say how far it is only where somebody listens. */
  onProgress?: ProgressListener | undefined;
}

/** Kinds of things that a server may have, by their names in the protocol. */
export type Offer = "tools" | "resources" | "prompts";

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
  /** Resolves when the server's process has ended, or its session. */
  close(): Promise<void>;
  /** Of a server that is a program of this machine. */
  pid: number | undefined;
}

export interface ConnectOptions {
  env: Environment;
  /** The working directory of servers that name none. */
  cwd: string;
  log: Log;
  /** Who answers what servers ask. */
  host?: Host | undefined;
  /** Told how it ended: "its process exited with code 1". */
  onClose: (how: string) => void;
  /** Told what the server says has changed. */
  onNotice?: (notice: Notice) => void;
}

/**
 * Starts or reaches the server and initializes it within its `startTimeoutMs`. Throws NEEDS_VARIABLE, CONFIG_INVALID,
 * AUTH_REQUIRED, SERVER_UNAVAILABLE, PROTOCOL_ERROR, and CANCELLED when `signal` is aborted meanwhile.
 */
export async function connect(server: ServerConfig, options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  if (server.needs.length > 0) throw needsVariable(server);
  let line: Line;
  try {
    line = await lineTo(server, options);
  } catch (cause) {
    throw cause instanceof NetworkFailure ? unreachable(server, cause) : cause;
  }
  const requests = new ServerRequests(server.name, options.host, options.log);
  const client = new Client({ name: "claudikins", version }, { capabilities: requests.capabilities });
  requests.attach(client);
  const progress = new ServerProgress();
  progress.attach(client, line.transport);
  listenTo(client, server.name, options.log, (notice) => options.onNotice?.(notice));
  client.onclose = () => {
    options.log.info(`${server.name} is gone: ${line.ended() || "it was closed"}`);
    options.onClose(line.ended() || "the connection was closed");
  };
  client.onerror = (error) => options.log.debug(`${server.name}: ${oneLine(error.message, 500)}`);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), server.startTimeoutMs);
  try {
    const connecting = client.connect(line.transport, { timeout: server.startTimeoutMs, signal });
    // The SDK's time is that of one request; a stream or a socket has to be opened before.
    const patience = AbortSignal.any([late.signal, signal]);
    await (server.url === undefined ? connecting : unlessAborted(connecting, patience, `the start of ${server.name}`));
    return {
      offers: (what) => client.getServerCapabilities()?.[what] !== undefined,
      canSubscribe: () => client.getServerCapabilities()?.resources?.subscribe === true,
      request: (request, requestOptions) =>
        sendRequest({ server, client, line, requests, progress, closing: signal }, request, requestOptions),
      rootsChanged: () => {
        if (requests.capabilities.roots?.listChanged) void client.sendRootsListChanged().catch(() => {});
      },
      close: () => client.close(),
      pid: line.pid(),
    };
  } catch (cause) {
    // Told apart here, since the SDK makes a timeout of whatever ended the wait.
    const failure = signal.aborted
      ? cancelledStart(server, cause)
      : startFailure(server, line, late.signal.aborted, cause);
    await line.transport.close();
    throw failure;
  } finally {
    clearTimeout(timer);
  }
}

/** Results are not validated here: servers send odd ones, and whoever asked knows what to make of them. */
const anyResult = z.looseObject({});

interface Peer {
  server: ServerConfig;
  client: Client;
  line: Line;
  requests: ServerRequests;
  progress: ServerProgress;
  closing: AbortSignal;
}

async function sendRequest(peer: Peer, request: Request, options: RequestOptions): Promise<Record<string, unknown>> {
  const { what, timeoutMs, signal, clock, onProgress } = options;
  // The SDK never takes its listener off a signal: each request has one of its own, or those of a thousand calls stay.
  const cancel = new AbortController();
  const abort = () => cancel.abort();
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  // In the place of the SDK's, which cannot be held.
  const limit = new TimeLimit(timeoutMs, () =>
    cancel.abort(new McpError(ErrorCode.RequestTimeout, "its time is over")),
  );
  const ended = peer.requests.calling(request.method, clock ? both(limit, clock) : limit);
  const listening = onProgress && peer.progress.listen(onProgress);
  // Of a process that has just ended the connection closes a little later: nothing is written to it meanwhile.
  const hasEnded = peer.server.url === undefined && peer.line.ended() !== "";
  const sent = !hasEnded && peer.client.transport !== undefined;
  try {
    if (!sent) throw new Error("not connected");
    const { method, params } = request;
    const { progressToken } = listening ?? {};
    const asked = listening ? { method, params: { ...params, _meta: { progressToken } } } : request;
    return await peer.client.request(asked, anyResult, { timeout: maxTimerMs, signal: cancel.signal });
  } catch (cause) {
    if (signal?.aborted) throw new ClaudikinsError("CANCELLED", `${what} was cancelled`, { cause });
    if (peer.closing.aborted) {
      throw new ClaudikinsError("CANCELLED", `${what} was cancelled: claudikins is closing`, { cause });
    }
    throw requestError(peer, request, options, cause, sent);
  } finally {
    ended();
    limit.end();
    listening?.end();
    signal?.removeEventListener("abort", abort);
  }
}

/** Two that are held and let go together. */
function both(one: Clock, other: Clock): Clock {
  const hold = () => {
    one.hold();
    other.hold();
  };
  const release = () => {
    one.release();
    other.release();
  };
  return { hold, release };
}

function needsVariable(server: ServerConfig): ClaudikinsError {
  const names = server.needs.join(", ");
  return new ClaudikinsError(
    "NEEDS_VARIABLE",
    `Server "${server.name}" needs ${names}, which the environment does not have`,
    {
      hint: `Set ${names} before starting claudikins, or give a default in the config: \${${server.needs[0]}:-value}.`,
    },
  );
}

function cancelledStart(server: ServerConfig, cause: unknown): ClaudikinsError {
  return new ClaudikinsError("CANCELLED", `Server "${server.name}" did not start: claudikins is closing`, { cause });
}

function unreachable(server: ServerConfig, { code, message, hint }: NetworkFailure): ClaudikinsError {
  return new ClaudikinsError(code, `Server "${server.name}" cannot be used: ${message}`, { hint });
}

function startFailure(server: ServerConfig, line: Line, isLate: boolean, cause: unknown): ClaudikinsError {
  if (cause instanceof ClaudikinsError && !isLate) {
    return new ClaudikinsError(cause.code, `Server "${server.name}" did not start: ${cause.message}`, cause);
  }
  const timedOut = isLate || (cause instanceof McpError && cause.code === ErrorCode.RequestTimeout);
  const silence = `it did not answer within ${server.startTimeoutMs / 1000} s`;
  if (server.url !== undefined) {
    const failure = cause instanceof NetworkFailure ? cause : line.failure();
    if (failure) return unreachable(server, failure);
    const message = `Server "${server.name}" cannot be used: ${timedOut ? silence : messageOf(cause)}`;
    return new ClaudikinsError("SERVER_UNAVAILABLE", message, {
      hint: timedOut
        ? `Raise "startTimeoutMs" of "${server.name}" in the config, or see what is under its "url".`
        : 'See in the config whether "url" and "type" are right.',
    });
  }
  const what = timedOut ? silence : line.ended() || messageOf(cause);
  return new ClaudikinsError("SERVER_UNAVAILABLE", `Server "${server.name}" did not start: ${what}${lastWords(line)}`, {
    cause,
    hint: timedOut
      ? `Raise "startTimeoutMs" of "${server.name}" in the config, or see by hand what its command does.`
      : "To see more, run its command from the config by hand.",
  });
}

function requestError(
  { server, line }: Peer,
  { method }: Request,
  { what, timeoutMs }: RequestOptions,
  cause: unknown,
  sent: boolean,
): ClaudikinsError {
  if (cause instanceof ClaudikinsError) return cause;
  if (cause instanceof McpError && cause.code === ErrorCode.RequestTimeout) {
    return new ClaudikinsError("CALL_TIMEOUT", `${what} did not answer within ${timeoutMs / 1000} s`, {
      cause,
      hint: `Raise "callTimeoutMs" of "${server.name}" in the config, or ask for less in one call.`,
    });
  }
  const failure = cause instanceof NetworkFailure ? cause : line.failure();
  if (failure) {
    const { code, message, hint, isGone } = failure;
    const whose = isGone ? `server "${server.name}" is gone, ${message}` : `server "${server.name}": ${message}`;
    if (isGone && code === "SERVER_UNAVAILABLE") return new ConnectionLost(`${what}: ${whose}`, { hint, sent });
    return new ClaudikinsError(code, `${what}: ${whose}`, { hint });
  }
  if (!(cause instanceof McpError) || cause.code === ErrorCode.ConnectionClosed) {
    const how = line.ended() || wordsOf(cause);
    if (server.url === undefined) {
      const message = `${what}: server "${server.name}" is gone, ${how}${lastWords(line)}`;
      return new ConnectionLost(message, { cause, hint: "The next call starts it again.", sent });
    }
    return new ClaudikinsError("SERVER_UNAVAILABLE", `${what}: server "${server.name}": ${how}`, {
      cause,
      hint: "Try again, and see what it logs.",
    });
  }
  const hint = cause instanceof UrlElicitationRequiredError ? pagesHint(cause) : undefined;
  return new ClaudikinsError(answeredErrorCode(method, cause.code), `${what}: ${wordsOf(cause)}`, { cause, hint });
}

/** What a person has to do in a browser before the call can succeed. */
function pagesHint({ data }: UrlElicitationRequiredError): string | undefined {
  const { elicitations } = (data ?? {}) as { elicitations?: unknown };
  const urls = objectsOf(elicitations).flatMap(({ url }) => (isPage(url) ? [url] : []));
  return urls.length === 0 ? undefined : `Somebody has to open ${urls.slice(0, 3).join(" and ")}; then call it again.`;
}

function isPage(url: unknown): url is string {
  return typeof url === "string" && url.length < 2_000 && /^https?:\/\/[^\s\p{Cc}]+$/u.test(url);
}

/** A server's SDK and ours each put their own words before the server's. */
function wordsOf(cause: unknown): string {
  return messageOf(cause).replace(/^(?:MCP error -?\d+: )+/, "");
}

function answeredErrorCode(method: string, code: number) {
  if (method !== "tools/call") return "PROTOCOL_ERROR";
  return code === ErrorCode.InvalidParams ? "INVALID_ARGUMENTS" : "TOOL_FAILED";
}

/** The last lines of the server's stderr, under the message. */
function lastWords(line: Line): string {
  const lines = line.lastWords();
  return lines.length > 0 ? `\n${lines.map((each) => `  | ${each}`).join("\n")}` : "";
}
