/** Hosts of MCP 2026-07-28: the SDK's client, and raw requests over HTTP. */
import {
  Client,
  type ClientCapabilities,
  type InputRequest,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { claudikinsCommand } from "./command.ts";
import { eventsOf } from "./http-serve.ts";
import { testEnvironment } from "./process.ts";
import type { TemporaryFolder } from "./temporary.ts";

export const modernVersion = "2026-07-28";

export interface ModernHostOptions {
  flags?: string[];
  /** The address of a running `serve --http`; by default one is started on stdio. */
  url?: string;
  capabilities?: ClientCapabilities;
  env?: Record<string, string>;
  /** Speak the revisions up to 2025-11-25 instead. */
  isOlder?: boolean;
  /** Prepares the client before it connects. */
  prepare?: (client: Client) => void;
}

/** The SDK's client, which by default speaks only this revision. Dispose of it to disconnect. */
export async function openModernHost(
  { path: cwd }: Pick<TemporaryFolder, "path">,
  { flags = [], url, capabilities = {}, env: more, isOlder = false, prepare }: ModernHostOptions = {},
): Promise<Client & AsyncDisposable> {
  const versionNegotiation = { mode: isOlder ? ("legacy" as const) : { pin: modernVersion } };
  const client = new Client({ name: "test", version: "1" }, { capabilities, versionNegotiation });
  prepare?.(client);
  const [command = "", ...args] = [...claudikinsCommand, "serve", ...flags];
  const env = testEnvironment({ XDG_DATA_HOME: `${cwd}/data`, ...more });
  await client.connect(
    url === undefined
      ? new StdioClientTransport({ command, args, cwd, env, stderr: "inherit" })
      : new StreamableHTTPClientTransport(new URL(url)),
  );
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() });
}

/** The `_meta` of every request. */
export function envelope(capabilities: object = {}, name = "raw"): object {
  return {
    "io.modelcontextprotocol/protocolVersion": modernVersion,
    "io.modelcontextprotocol/clientInfo": { name, version: "1" },
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
}

export interface Answer {
  status: number;
  result?: { [key: string]: unknown; inputRequests?: Record<string, InputRequest>; content?: { text: string }[] };
  error?: { code: number; message: string; data?: unknown };
}

let lastId = 0;

/** One raw request over HTTP with the headers of the revision. `more` may replace headers and the signal. */
export async function modernRequest(
  url: string,
  method: string,
  params: Record<string, unknown> = {},
  { capabilities = {}, name = "raw", ...more }: { capabilities?: object; name?: string } & RequestInit = {},
): Promise<Response> {
  lastId += 1;
  const target = params["name"] ?? params["uri"] ?? params["taskId"];
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": modernVersion,
    "mcp-method": method,
    ...(typeof target === "string" ? { "mcp-name": target } : {}),
    ...(more.headers as Record<string, string> | undefined),
  };
  const message = { jsonrpc: "2.0", id: lastId, method, params: { ...params, _meta: envelope(capabilities, name) } };
  return await fetch(url, { method: "POST", body: JSON.stringify(message), ...more, headers });
}

/** The answer to such a request. */
export async function modernAnswer(...request: Parameters<typeof modernRequest>): Promise<Answer> {
  const response = await modernRequest(...request);
  const { status } = response;
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) {
    return { status, ...((await response.json()) as object) };
  }
  for await (const { message } of eventsOf(response)) {
    if (message?.id !== undefined) return { status, ...(message as object) };
  }
  throw new Error("the stream ended without an answer");
}
