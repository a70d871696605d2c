/** One server's config → a connected MCP client, or an error that says what the server did instead. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ErrorCode as McpCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Environment } from "../config/environment.ts";
import type { ServerConfig } from "../config/load.ts";
import { ClaudikinsError, type ErrorCode, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { version } from "../version.ts";
import { ConnectionLost } from "./connection-lost.ts";
import { brokeOff, NetworkFailure } from "./network-failure.ts";
import { onAbort } from "./on-abort.ts";
import { ServerBusy } from "./server-busy.ts";
import { SignedOut } from "./signed-out.ts";
import { NotWritten } from "./stdio.ts";
import { type Line, lineTo } from "./transport.ts";
import { unlessAborted } from "./unless-aborted.ts";

export interface Request {
  method: string;
  params: Record<string, unknown>;
}

export interface RequestOptions {
  /** What is asked, for error messages: `demo.get_order`. */
  what: string;
  timeoutMs: number;
  signal?: AbortSignal | undefined;
}

/** Kinds of things that a server may have, by their names in the protocol. */
export type Offer = "tools" | "resources" | "prompts";

/** A connected server. */
export interface Connection {
  /** What the server says it has: asking it for anything else is an error. */
  offers(what: Offer): boolean;
  /**
   * The result as it came. Throws CANCELLED, CALL_TIMEOUT, AUTH_REQUIRED or SERVER_UNAVAILABLE; and for an error that the server
   * answered INVALID_ARGUMENTS or TOOL_FAILED when a tool was called, else PROTOCOL_ERROR.
   */
  request(request: Request, options: RequestOptions): Promise<Record<string, unknown>>;
  /** Resolves when the server's process has ended, or its session. The log is told why. */
  close(why?: string): Promise<void>;
  /** Of a server that is a program of this machine. */
  pid: number | undefined;
}

export interface ConnectOptions {
  env: Environment;
  /** The working directory of servers that name none. */
  cwd: string;
  log: Log;
  /** Takes the server's secrets out of what is cut, where half of one would not be known again. */
  redact?: (text: string) => string;
  /** Where sign-ins to servers on the network are kept; without it none is used. */
  credentialsFile?: string | undefined;
  /** Told how it ended: "its process exited with code 1". */
  onClose: (how: string) => void;
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
  const client = new Client({ name: "claudikins", version });
  let closedFor: string | undefined;
  client.onclose = () => {
    const how = closedFor === undefined ? `is gone: ${line.ended() || "it was closed"}` : `was ended: ${closedFor}`;
    options.log.info(`${server.name} ${how}`);
    options.onClose(line.ended() || "the connection was closed");
  };
  client.onerror = (error) => options.log.debug(`${server.name}: ${error.message}`);
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), server.startTimeoutMs);
  // The SDK never takes its listener off a signal: at the end it would cancel what was answered long ago.
  const cancel = new AbortController();
  const abort = () => cancel.abort(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  if (signal.aborted) abort();
  try {
    const connecting = client.connect(line.transport, { timeout: server.startTimeoutMs, signal: cancel.signal });
    // The SDK's time is that of one request; a stream or a socket has to be opened before.
    const patience = AbortSignal.any([late.signal, signal]);
    await (server.url === undefined ? connecting : unlessAborted(connecting, patience, `the start of ${server.name}`));
    return {
      offers: (what) => client.getServerCapabilities()?.[what] !== undefined,
      request: (request, requestOptions) =>
        sendRequest({ server, client, line, closing: signal }, request, requestOptions),
      close: (why = "claudikins is closing") => {
        closedFor = why;
        return client.close();
      },
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
    signal.removeEventListener("abort", abort);
  }
}

/** Results are not validated here: servers send odd ones, and whoever asked knows what to make of them. */
const anyResult = z.looseObject({});

interface Peer {
  server: ServerConfig;
  client: Client;
  line: Line;
  closing: AbortSignal;
}

async function sendRequest(peer: Peer, request: Request, options: RequestOptions): Promise<Record<string, unknown>> {
  const { what, timeoutMs, signal } = options;
  // The SDK never takes its listener off a signal: each request has one of its own, or those of a thousand calls stay.
  const cancel = new AbortController();
  const stopListening = onAbort(signal, () => cancel.abort());
  // Of a process that has just ended the connection closes a little later: nothing is written to it meanwhile.
  const hasEnded = peer.server.url === undefined && peer.line.ended() !== "";
  const sent = !hasEnded && peer.client.transport !== undefined;
  try {
    if (!sent) throw new Error("not connected");
    return await peer.client.request(request, anyResult, { timeout: timeoutMs, signal: cancel.signal });
  } catch (cause) {
    if (signal?.aborted) throw new ClaudikinsError("CANCELLED", `${what} was cancelled`, { cause });
    if (peer.closing.aborted) {
      throw new ClaudikinsError("CANCELLED", `${what} was cancelled: claudikins is closing`, { cause });
    }
    throw requestError(peer, request, options, cause, sent);
  } finally {
    stopListening();
  }
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

function unreachable(server: ServerConfig, failure: NetworkFailure): ClaudikinsError {
  const { code, message, hint, retryAfterMs, stands } = failure;
  const text = `Server "${server.name}" cannot be used: ${message}`;
  if (stands) return new SignedOut(text, { hint, why: message, stands });
  if (retryAfterMs !== undefined) return new ServerBusy(text, { hint, retryAfterMs });
  return new ClaudikinsError(code, text, { hint });
}

function startFailure(server: ServerConfig, line: Line, isLate: boolean, cause: unknown): ClaudikinsError {
  if (cause instanceof ClaudikinsError && !isLate) {
    return new ClaudikinsError(cause.code, `Server "${server.name}" did not start: ${cause.message}`, cause);
  }
  const timedOut = isLate || (cause instanceof McpError && isOurTimeout(cause, server.startTimeoutMs));
  const silence = `it did not answer within ${server.startTimeoutMs / 1000} s`;
  if (server.url !== undefined) {
    const failure = cause instanceof NetworkFailure ? cause : line.failure();
    if (failure) return unreachable(server, failure);
    const { code, words } = timedOut ? { code: unavailable, words: silence } : firstAnswer(cause);
    return new ClaudikinsError(code, `Server "${server.name}" cannot be used: ${words}`, {
      hint: timedOut
        ? `Raise "startTimeoutMs" of "${server.name}" in the config, or see what is under its "url".`
        : 'See in the config whether "url" and "type" are right.',
    });
  }
  const ended = line.ended() && `${line.ended()}${line.lastWords().length === 0 ? ", and said nothing" : ""}`;
  const { code, words, hint } = timedOut
    ? {
        code: unavailable,
        words: silence,
        hint: `Raise "startTimeoutMs" of "${server.name}" in the config, or see by hand what its command does.`,
      }
    : ended
      ? { code: unavailable, words: ended, hint: "To see more, run its command from the config by hand." }
      : firstAnswer(cause);
  const text = `Server "${server.name}" did not start: ${words}${lastWords(line)}`;
  return new ClaudikinsError(code, text, { cause, hint });
}

const unavailable = "SERVER_UNAVAILABLE" as const;

/** What was wrong with the answer to `initialize`. */
function firstAnswer(cause: unknown): { code: ErrorCode; words: string; hint: string } {
  const hint = "Run its command from the config by hand, and see whether it is an MCP server.";
  if (cause instanceof z.core.$ZodError) return { code: "PROTOCOL_ERROR", words: "its first answer is not MCP", hint };
  if (cause instanceof McpError) {
    return { code: unavailable, words: `its first answer is an error: ${wordsOf(cause)}`, hint };
  }
  // What the SDK itself objects to is the version.
  return { code: "PROTOCOL_ERROR", words: messageOf(cause).replace(/^Server's /, "its "), hint: otherVersion };
}

function requestError(
  { server, line, client }: Peer,
  { method }: Request,
  { what, timeoutMs }: RequestOptions,
  cause: unknown,
  sent: boolean,
): ClaudikinsError {
  if (cause instanceof ClaudikinsError) return cause;
  if (cause instanceof McpError && isOurTimeout(cause, timeoutMs)) {
    return new ClaudikinsError("CALL_TIMEOUT", `${what} did not answer within ${timeoutMs / 1000} s`, {
      cause,
      hint: `Raise "callTimeoutMs" of "${server.name}" in the config, or ask for less in one call.`,
    });
  }
  const failure = cause instanceof NetworkFailure ? cause : line.failure();
  if (failure) {
    const { code, message, hint, isGone } = failure;
    // Who may not do this one thing is not signed out.
    if (failure.stands && failure.status !== 403) return unreachable(server, failure);
    const isUnsent = !sent || (cause instanceof NetworkFailure && cause.isUnsent);
    const whose = isGone ? `server "${server.name}" is gone, ${message}` : `server "${server.name}": ${message}`;
    if (isGone && code === "SERVER_UNAVAILABLE") {
      return new ConnectionLost(`${what}: ${whose}`, { hint, sent: !isUnsent });
    }
    return new ClaudikinsError(code, `${what}: ${whose}`, { hint });
  }
  // The SDK's own code for it is one that many servers use for any error.
  const isClosed = client.transport === undefined || (cause instanceof McpError && cause.data === brokeOff);
  if (!(cause instanceof McpError) || (cause.code === McpCode.ConnectionClosed && isClosed)) {
    const how = line.ended() || wordsOf(cause);
    if (server.url === undefined) {
      const message = `${what}: server "${server.name}" is gone, ${how}${lastWords(line)}`;
      const hint = "The next call starts it again.";
      return new ConnectionLost(message, { cause, hint, sent: sent && !(cause instanceof NotWritten) });
    }
    return new ClaudikinsError("SERVER_UNAVAILABLE", `${what}: server "${server.name}": ${how}`, {
      cause,
      hint: "Try again, and see what it logs.",
    });
  }
  const code = answeredErrorCode(method, cause.code);
  if (cause.code === McpCode.ParseError) {
    return new ClaudikinsError(code, `${what}: ${wordsOf(cause)}`, { cause, hint: otherVersion });
  }
  const own = method.endsWith("/list") ? "the server answered with an error: " : "";
  return new ClaudikinsError(code, `${what}: ${own}${wordsOf(cause)}`, { cause, hint: answeredHint(method) });
}

/** What a tool says is for whoever called it; it knows best. */
function answeredHint(method: string): string | undefined {
  if (method === "tools/call") return undefined;
  if (method.endsWith("/list")) return "It is the server's own error: see what it logs, or its documentation.";
  return `${method.split("/")[0]}.list() of the server shows what there is.`;
}

const otherVersion = "See whether there is another version of the server, or of claudikins.";

/** Servers may answer with the SDK's code for it as well. */
function isOurTimeout({ code, data }: McpError, timeoutMs: number): boolean {
  return code === McpCode.RequestTimeout && (data as { timeout?: unknown } | undefined)?.timeout === timeoutMs;
}

/** A server's SDK and ours each put their own words before the server's. */
function wordsOf(cause: unknown): string {
  return messageOf(cause).replace(/^(?:MCP error -?\d+: )+/, "");
}

function answeredErrorCode(method: string, code: number) {
  if (method !== "tools/call" || code === McpCode.ParseError) return "PROTOCOL_ERROR";
  return code === McpCode.InvalidParams ? "INVALID_ARGUMENTS" : "TOOL_FAILED";
}

/** The last lines of the server's stderr, under the message. */
function lastWords(line: Line): string {
  const lines = line.lastWords();
  return lines.length > 0 ? `\n${lines.map((each) => `  | ${each}`).join("\n")}` : "";
}
