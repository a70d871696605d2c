/** One server's config → a connected MCP client, or an error that says what the server did instead. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Environment } from "../config/environment.ts";
import type { ServerConfig } from "../config/load.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { version } from "../version.ts";
import { childEnvironment } from "./child-environment.ts";
import { ConnectionLost } from "./connection-lost.ts";
import { StdioTransport } from "./stdio.ts";

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
   * The result as it came. Throws CANCELLED, CALL_TIMEOUT or SERVER_UNAVAILABLE; and for an error that the server
   * answered INVALID_ARGUMENTS or TOOL_FAILED when a tool was called, else PROTOCOL_ERROR.
   */
  request(request: Request, options: RequestOptions): Promise<Record<string, unknown>>;
  /** Resolves when the server's process has ended. */
  close(): Promise<void>;
  pid: number | undefined;
}

export interface ConnectOptions {
  env: Environment;
  /** The working directory of servers that name none. */
  cwd: string;
  log: Log;
  /** Told how it ended: "its process exited with code 1". */
  onClose: (how: string) => void;
}

/**
 * Starts the server and initializes it within its `startTimeoutMs`. Throws NEEDS_VARIABLE, SERVER_UNAVAILABLE, and
 * CANCELLED when `signal` is aborted meanwhile.
 */
export async function connect(server: ServerConfig, options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  if (server.unsupported !== undefined) throw unsupported(server);
  if (server.needs.length > 0) throw needsVariable(server);
  const transport = new StdioTransport({
    command: server.command,
    args: server.args,
    cwd: server.cwd ?? options.cwd,
    env: childEnvironment(options.env, server.env),
    warn: (message) => options.log.warn(message),
  });
  const client = new Client({ name: "claudikins", version });
  client.onclose = () => {
    options.log.info(`${server.name} is gone: its process ${transport.ended || "was ended"}`);
    options.onClose(transport.ended ? `its process ${transport.ended}` : "the connection was closed");
  };
  client.onerror = (error) => options.log.debug(`${server.name}: ${error.message}`);
  try {
    await client.connect(transport, { timeout: server.startTimeoutMs, signal });
    return {
      offers: (what) => client.getServerCapabilities()?.[what] !== undefined,
      request: (request, requestOptions) =>
        sendRequest({ server: server.name, client, transport, closing: signal }, request, requestOptions),
      close: () => client.close(),
      pid: transport.pid,
    };
  } catch (cause) {
    // Told apart here, since the SDK makes a timeout of whatever ended the wait.
    const failure = signal.aborted ? cancelledStart(server, cause) : startFailure(server, transport, cause);
    await transport.close();
    throw failure;
  }
}

/** Results are not validated here: servers send odd ones, and whoever asked knows what to make of them. */
const anyResult = z.looseObject({});

interface Peer {
  server: string;
  client: Client;
  transport: StdioTransport;
  closing: AbortSignal;
}

async function sendRequest(peer: Peer, request: Request, options: RequestOptions): Promise<Record<string, unknown>> {
  const { what, timeoutMs, signal } = options;
  // The SDK never takes its listener off a signal: each request has one of its own, or those of a thousand calls stay.
  const cancel = new AbortController();
  const abort = () => cancel.abort();
  if (signal?.aborted) abort();
  signal?.addEventListener("abort", abort, { once: true });
  const sent = peer.transport.ended === "" && peer.client.transport !== undefined;
  try {
    return await peer.client.request(request, anyResult, { timeout: timeoutMs, signal: cancel.signal });
  } catch (cause) {
    if (signal?.aborted) throw new ClaudikinsError("CANCELLED", `${what} was cancelled`, { cause });
    if (peer.closing.aborted) {
      throw new ClaudikinsError("CANCELLED", `${what} was cancelled: claudikins is closing`, { cause });
    }
    throw requestError(peer, request, options, cause, sent);
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

function unsupported(server: ServerConfig): ClaudikinsError {
  return new ClaudikinsError("SERVER_UNAVAILABLE", `Server "${server.name}" cannot be used: ${server.unsupported}`, {
    hint: 'A bridge makes it one: "command": "npx", "args": ["-y", "mcp-remote", "<its url>"].',
  });
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

function startFailure(server: ServerConfig, transport: StdioTransport, cause: unknown): ClaudikinsError {
  if (cause instanceof ClaudikinsError) {
    return new ClaudikinsError(cause.code, `Server "${server.name}" did not start: ${cause.message}`, cause);
  }
  const timedOut = cause instanceof McpError && cause.code === ErrorCode.RequestTimeout;
  const what = timedOut
    ? `it did not answer within ${server.startTimeoutMs / 1000} s`
    : transport.ended
      ? `its process ${transport.ended}`
      : messageOf(cause);
  const message = `Server "${server.name}" did not start: ${what}${lastWords(transport)}`;
  return new ClaudikinsError("SERVER_UNAVAILABLE", message, {
    cause,
    hint: timedOut
      ? `Raise "startTimeoutMs" of "${server.name}" in the config, or see by hand what its command does.`
      : "To see more, run its command from the config by hand.",
  });
}

function requestError(
  { server, transport }: Peer,
  { method }: Request,
  { what, timeoutMs }: RequestOptions,
  cause: unknown,
  sent: boolean,
): ClaudikinsError {
  if (cause instanceof ClaudikinsError) return cause;
  if (cause instanceof McpError && cause.code === ErrorCode.RequestTimeout) {
    return new ClaudikinsError("CALL_TIMEOUT", `${what} did not answer within ${timeoutMs / 1000} s`, {
      cause,
      hint: `Raise "callTimeoutMs" of "${server}" in the config, or ask for less in one call.`,
    });
  }
  if (!(cause instanceof McpError) || cause.code === ErrorCode.ConnectionClosed) {
    const how = transport.ended ? `its process ${transport.ended}` : messageOf(cause);
    return new ConnectionLost(`${what}: server "${server}" is gone, ${how}${lastWords(transport)}`, {
      cause,
      hint: "The next call starts it again.",
      sent,
    });
  }
  // A server's SDK and ours each put their own words before the server's.
  const message = cause.message.replace(/^(?:MCP error -?\d+: )+/, "");
  return new ClaudikinsError(answeredErrorCode(method, cause.code), `${what}: ${message}`, { cause });
}

function answeredErrorCode(method: string, code: number) {
  if (method !== "tools/call") return "PROTOCOL_ERROR";
  return code === ErrorCode.InvalidParams ? "INVALID_ARGUMENTS" : "TOOL_FAILED";
}

/** The last lines of the server's stderr, under the message. */
function lastWords(transport: StdioTransport): string {
  const lines = transport.lastErrorLines();
  return lines.length > 0 ? `\n${lines.map((line) => `  | ${line}`).join("\n")}` : "";
}
