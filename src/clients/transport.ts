/** A server's config → the way to it, and what there is to say of its end. */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Environment } from "../config/environment.ts";
import type { NetworkServer, ServerConfig, StdioServer } from "../config/load.ts";
import type { Log } from "../log.ts";
import { childEnvironment } from "./child-environment.ts";
import type { Endpoint } from "./endpoint.ts";
import type { NetworkFailure } from "./network-failure.ts";
import { type LineSinks, ServerLog } from "./server-log.ts";
import { StdioTransport } from "./stdio.ts";

export interface Line {
  transport: Transport;
  /** Of a server that is a program of this machine. */
  pid(): number | undefined;
  /** Why it is gone: "its process exited with code 1"; empty while it is not, or when we closed it. */
  ended(): string;
  /** The last lines that the server wrote to stderr. */
  lastWords(): string[];
  /** What the network said, where that was the reason. */
  failure(): NetworkFailure | undefined;
  /** It is gone, and the server did not fail: another line leads to it. */
  isWell?(): boolean;
  /** What it was still asked for when it went it has certainly not seen. */
  wasUnseen?(): boolean;
  /** Told why it is about to be closed, by us. */
  closing?(why: string): void;
}

/** Who makes lines may have to know what we say of ourselves, and when nobody waits any more. */
export type LineMaker = (server: ServerConfig, options: LineOptions, wish: LineWish) => Promise<Line>;

export interface LineWish {
  capabilities: object;
  signal: AbortSignal;
}

export interface LineOptions {
  env: Environment;
  /** The working directory of servers that name none. */
  cwd: string;
  log: Log;
  /** Takes the server's secrets out of what is cut, where half of one would not be known again. */
  redact?: (text: string) => string;
  /** Where sign-ins are kept; without it none is used. */
  credentialsFile?: string | undefined;
  /** Where is kept what the server writes on stderr and what becomes of it. */
  logs?: LineSinks | undefined;
}

/** Nothing is started or connected yet. Throws NetworkFailure with CONFIG_INVALID for an address that is none. */
export async function lineTo(server: ServerConfig, options: LineOptions): Promise<Line> {
  const { logs, redact = (text) => text } = options;
  if (!logs) return newLine(server, options);
  const kept = new ServerLog(server, logs, redact);
  try {
    return kept.over(await newLine(server, options, (chunk) => kept.stderr(chunk)));
  } catch (error) {
    kept.failed(error);
    throw error;
  }
}

type Hear = (chunk: Uint8Array) => void;

/** `onStderr` is told what a program writes there, as it comes. */
async function newLine(server: ServerConfig, options: LineOptions, onStderr?: Hear): Promise<Line> {
  return server.url === undefined ? stdioLine(server, options, onStderr) : networkLine(server, options);
}

function stdioLine(server: StdioServer, { env, cwd, log, redact }: LineOptions, onStderr?: Hear): Line {
  const transport = new StdioTransport({
    command: server.command,
    args: server.args,
    cwd: server.cwd ?? cwd,
    env: childEnvironment(env, server.env),
    warn: (message) => log.warn(message),
    ...(redact ? { redact } : {}),
    ...(onStderr ? { onStderr } : {}),
  });
  return {
    transport,
    pid: () => transport.pid,
    ended: () => (transport.ended === "" ? "" : `its process ${transport.ended}`),
    lastWords: () => transport.lastLines(),
    failure: () => undefined,
  };
}

/** What speaks over the network is loaded only for a server that needs it. */
async function networkLine(server: NetworkServer, options: LineOptions): Promise<Line> {
  const { endpointOf } = await import("./endpoint.ts");
  const endpoint = endpointOf(server);
  endpoint.access = await accessTo(server, endpoint, options);
  const transport =
    server.transport === "websocket"
      ? new (await import("./websocket.ts")).WebSocketTransport(endpoint)
      : new (await import("./http.ts")).HttpTransport(endpoint, server.transport);
  return {
    transport,
    pid: () => undefined,
    ended: () => transport.failure?.message ?? "",
    lastWords: () => [],
    failure: () => transport.failure,
  };
}

/** Nothing where the config has what is sent, or says that claudikins does not sign in. */
async function accessTo(server: NetworkServer, endpoint: Endpoint, { credentialsFile, log }: LineOptions) {
  const isOurs = server.oauth !== false && !new Headers(endpoint.headers).has("authorization");
  if (!isOurs || credentialsFile === undefined) return undefined;
  const [{ Access }, { CredentialStore }] = await Promise.all([
    import("./auth/access.ts"),
    import("./auth/credentials.ts"),
  ]);
  return new Access(server, endpoint, new CredentialStore(credentialsFile, (message) => log.warn(message)));
}
