/** Opens the channel to a server, as its config describes it: a process on this machine, HTTP or a WebSocket. */
import { usesOwn } from "../config/credentials.ts";
import type { NetworkServer, ServerConfig, StdioServer } from "../config/load.ts";
import { wantsSignIn } from "../config/oauth.ts";
import type { Channel, ChannelOptions } from "./channel.ts";
import { childEnvironment } from "./child-environment.ts";
import type { Authorizer, Endpoint } from "./endpoint.ts";
import type { HeadersHelper } from "./headers-helper.ts";
import { NetworkFailure } from "./network-failure.ts";
import { ServerLog } from "./server-log.ts";
import { StdioTransport } from "./stdio.ts";

/** Nothing starts before the transport does. Throws NetworkFailure with CONFIG_INVALID for an invalid URL. */
export async function openDirectChannel(server: ServerConfig, options: ChannelOptions): Promise<Channel> {
  const { logs, redact = (text) => text } = options;
  if (!logs) return newChannel(server, options);
  const kept = new ServerLog(server, logs, redact);
  try {
    return kept.over(await newChannel(server, options, (chunk) => kept.stderr(chunk)));
  } catch (error) {
    kept.failed(error);
    throw error;
  }
}

type Hear = (chunk: Uint8Array) => void;

/** `onStderr` gets the process's stderr. */
async function newChannel(server: ServerConfig, options: ChannelOptions, onStderr?: Hear): Promise<Channel> {
  return server.url === undefined ? stdioChannel(server, options, onStderr) : networkChannel(server, options);
}

function stdioChannel(server: StdioServer, { env, cwd, log, redact }: ChannelOptions, onStderr?: Hear): Channel {
  const transport = new StdioTransport({
    command: server.command,
    args: server.args,
    cwd: server.cwd ?? cwd,
    env: childEnvironment(env, server.env, server.inherit),
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

/** Code for the network is loaded only if a server needs it. */
async function networkChannel(server: NetworkServer, options: ChannelOptions): Promise<Channel> {
  const { endpointOf } = await import("./endpoint.ts");
  const endpoint = endpointOf(server);
  const access = await accessTo(server, endpoint, options);
  endpoint.access = options.helper ? await helped(options.helper, endpoint.url, access) : access;
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

async function helped(helper: HeadersHelper, url: URL, access: Authorizer | undefined): Promise<Authorizer> {
  const { HelpedAccess } = await import("./headers-helper.ts");
  await helper.forNewConnection();
  return new HelpedAccess(helper, url, access);
}

/** Nobody has signed in here, so there are no credentials for the server. */
function needsPerson(): NetworkFailure {
  return new NetworkFailure("it uses the credentials of people who sign in to claudikins serve --http", {
    code: "AUTH_REQUIRED",
    hint: "Call it from an agent that has signed in there. See docs/people.md.",
  });
}

/** Undefined if the config already authenticates, or turns sign-ins off. */
async function accessTo(
  server: NetworkServer,
  endpoint: Endpoint,
  { credentialsFile, log, helper, own }: ChannelOptions,
) {
  if (usesOwn(server)) {
    const { Access } = await import("./auth/access.ts");
    if (!own) throw needsPerson();
    return wantsSignIn(server) ? new Access(server, endpoint, own) : undefined;
  }
  const isOurs = wantsSignIn(server) && !new Headers(endpoint.headers).has("authorization");
  if (!isOurs || credentialsFile === undefined) return undefined;
  const [{ Access }, { CredentialStore }] = await Promise.all([
    import("./auth/access.ts"),
    import("./auth/credentials.ts"),
  ]);
  const store = new CredentialStore(credentialsFile, (message) => log.warn(message));
  return new Access(server, endpoint, store, helper?.fetch);
}
