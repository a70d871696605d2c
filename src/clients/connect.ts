/** One server's config → a connected MCP client, or an error that says what the server did instead. */
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import type { Environment } from "../config/environment.ts";
import type { ServerConfig } from "../config/load.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import { version } from "../version.ts";
import { childEnvironment } from "./child-environment.ts";
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

/** A connected server. */
export interface Connection {
  /** The result as it came. Throws CANCELLED, CALL_TIMEOUT, SERVER_UNAVAILABLE, INVALID_ARGUMENTS or TOOL_FAILED. */
  request(request: Request, options: RequestOptions): Promise<Record<string, unknown>>;
  /** Resolves when the server's process has ended. */
  close(): Promise<void>;
}

export interface ConnectOptions {
  env: Environment;
  /** The working directory of servers that name none. */
  cwd: string;
  onClose: () => void;
}

/** Starts the server and initializes it within its `startTimeoutMs`. Throws NEEDS_VARIABLE or SERVER_UNAVAILABLE. */
export async function connect(server: ServerConfig, options: ConnectOptions, signal: AbortSignal): Promise<Connection> {
  if (server.needs.length > 0) throw needsVariable(server);
  const transport = new StdioTransport({
    command: server.command,
    args: server.args,
    cwd: server.cwd ?? options.cwd,
    env: childEnvironment(options.env, server.env),
  });
  const client = new Client({ name: "claudikins", version });
  client.onclose = options.onClose;
  try {
    await client.connect(transport, { timeout: server.startTimeoutMs, signal });
    return {
      request: (request, requestOptions) => sendRequest(server.name, client, transport, request, requestOptions),
      close: () => client.close(),
    };
  } catch (cause) {
    const failure = startFailure(server, transport, cause);
    await transport.close();
    throw failure;
  }
}

/** Results are not validated here: servers send odd ones, and whoever asked knows what to make of them. */
const anyResult = z.looseObject({});

async function sendRequest(
  server: string,
  client: Client,
  transport: StdioTransport,
  request: Request,
  { what, timeoutMs, signal }: RequestOptions,
): Promise<Record<string, unknown>> {
  try {
    return await client.request(request, anyResult, { timeout: timeoutMs, ...(signal ? { signal } : {}) });
  } catch (cause) {
    if (signal?.aborted) throw new ClaudikinsError("CANCELLED", `${what} was cancelled`, { cause });
    throw requestError(server, what, timeoutMs, transport, cause);
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
      ? `Raise "startTimeoutMs" of "${server.name}" in the config, or start it by hand: ${commandLine(server)}`
      : `Try its command by hand: ${commandLine(server)}`,
  });
}

function commandLine(server: ServerConfig): string {
  return [server.command, ...server.args].map((part) => (/^[\w@%+=:,./-]+$/.test(part) ? part : `'${part}'`)).join(" ");
}

function requestError(
  server: string,
  what: string,
  timeoutMs: number,
  transport: StdioTransport,
  cause: unknown,
): ClaudikinsError {
  if (cause instanceof ClaudikinsError) return cause;
  if (!(cause instanceof McpError)) {
    return new ClaudikinsError("SERVER_UNAVAILABLE", `${what}: ${messageOf(cause)}`, { cause });
  }
  if (cause.code === ErrorCode.RequestTimeout) {
    return new ClaudikinsError("CALL_TIMEOUT", `${what} did not answer within ${timeoutMs / 1000} s`, {
      cause,
      hint: `Raise "callTimeoutMs" of "${server}" in the config, or ask for less in one call.`,
    });
  }
  if (cause.code === ErrorCode.ConnectionClosed) {
    const how = transport.ended ? `its process ${transport.ended}` : "it closed the connection";
    return new ClaudikinsError(
      "SERVER_UNAVAILABLE",
      `${what}: server "${server}" is gone, ${how}${lastWords(transport)}`,
      {
        cause,
        hint: "The next call starts it again.",
      },
    );
  }
  const message = cause.message.replace(/^MCP error -?\d+: /, "");
  const code = cause.code === ErrorCode.InvalidParams ? "INVALID_ARGUMENTS" : "TOOL_FAILED";
  return new ClaudikinsError(code, `${what}: ${message}`, { cause });
}

/** The last lines of the server's stderr, under the message. */
function lastWords(transport: StdioTransport): string {
  const lines = transport.lastErrorLines();
  return lines.length > 0 ? `\n${lines.map((line) => `  | ${line}`).join("\n")}` : "";
}
