/** Opens the channel to a server, as its config describes it: a process on this machine, HTTP or a WebSocket. */

import type { Box } from "../../config/box.ts";
import { usesOwn } from "../../config/credentials.ts";
import type { NetworkServer, ServerConfig, StdioServer } from "../../config/load.ts";
import { wantsSignIn } from "../../config/oauth.ts";
import { isSourceKind } from "../../config/sources.ts";
import { ServerLog } from "../logs/server-log.ts";
import type { Authorizer, Endpoint } from "../network/endpoint.ts";
import type { HeadersHelper } from "../network/headers-helper.ts";
import { childEnvironment } from "../process/child-environment.ts";
import { type Preparation, type StdioOptions, StdioTransport } from "../process/stdio.ts";
import { withOwnKeys } from "../values/own-keys.ts";
import { entryEnvironment } from "../values/person-identity.ts";
import type { Channel, ChannelOptions } from "./channel.ts";

/**
 * Nothing starts before the transport does, except commands that print values of the entry. Throws NEEDS_SECRET; NetworkFailure with CONFIG_INVALID
 * for an invalid URL, and with AUTH_REQUIRED if a person's own credentials are missing.
 */
export async function openDirectChannel(configured: ServerConfig, options: ChannelOptions): Promise<Channel> {
  const own = usesOwn(configured) ? await ownEntry(configured, options) : configured;
  const hasOwnKeys = own !== configured;
  const server = own.references ? await readEntry(own, options) : own;
  const { logs, redact = (text) => text } = options;
  if (!logs) return newChannel(server, { ...options, hasOwnKeys });
  const kept = new ServerLog(server, logs, redact);
  try {
    return kept.over(await newChannel(server, { ...options, hasOwnKeys }, (chunk) => kept.stderr(chunk)));
  } catch (error) {
    kept.failed(error);
    throw error;
  }
}

async function readEntry(server: ServerConfig, options: ChannelOptions): Promise<ServerConfig> {
  const { withEntryValues } = await import("../values/entry-values.ts");
  const warn = (message: string) => options.log.warn(message);
  return withEntryValues(server, { env: entryEnvironment(server, options), warn });
}

async function ownEntry(server: ServerConfig, { own }: ChannelOptions): Promise<ServerConfig> {
  const { requireOwn } = await import("../auth/own-access.ts");
  await own?.ready();
  return withOwnKeys(server, requireOwn(server, own));
}

/** `hasOwnKeys`: a person's own keys were filled in. */
type ChannelChoice = ChannelOptions & { hasOwnKeys: boolean };

type Hear = (chunk: Uint8Array) => void;

/** `onStderr` gets the process's stderr. */
async function newChannel(server: ServerConfig, options: ChannelChoice, onStderr?: Hear): Promise<Channel> {
  if (server.url !== undefined) return networkChannel(server, options);
  const enter = usesOwn(server) ? (await import("../process/own-processes.ts")).enterOwnProcess : undefined;
  return stdioChannel(server, options, { onStderr, onStart: enter && (() => enter(server.name)) });
}

function stdioChannel(
  server: StdioServer,
  options: ChannelOptions,
  { onStderr, onStart }: { onStderr: Hear | undefined; onStart: StdioOptions["onStart"] },
): Channel {
  const { env, cwd, log, redact } = options;
  const { box } = server;
  const transport = new StdioTransport({
    command: server.command,
    args: server.args,
    cwd: server.cwd ?? cwd,
    env: childEnvironment(env, server.env, server.inherit),
    warn: (message) => log.warn(message),
    ...(redact ? { redact } : {}),
    ...(onStderr ? { onStderr } : {}),
    ...(onStart ? { onStart } : {}),
    ...(box ? { prepare: confinedBy(box, server, options) } : {}),
  });
  return {
    transport,
    pid: () => transport.pid,
    ended: () => (transport.ended === "" ? "" : `its process ${transport.ended}`),
    lastWords: () => transport.lastLines(),
    failure: () => undefined,
  };
}

/** Code for boxes is loaded only if a server needs it. */
function confinedBy(box: Box, server: StdioServer, { env, log }: ChannelOptions): Preparation {
  return async (start) => {
    const { openBox } = await import("../box/open-box.ts");
    return { ...start, ...(await openBox({ server, box, start, env, log })), isBox: true };
  };
}

/** Code for the network is loaded only if a server needs it. */
async function networkChannel(server: NetworkServer, options: ChannelChoice): Promise<Channel> {
  const { endpointOf } = await import("../network/endpoint.ts");
  const endpoint = endpointOf(server);
  const { transport: kind } = server;
  const signingIn = async (url: URL) => {
    const access = await accessTo(server, { ...endpoint, url }, options);
    return options.helper ? helped(options.helper, url, access) : access;
  };
  if (isSourceKind(kind)) {
    const { openSource } = await import("./source-channel.ts");
    return openSource(kind, server, { ...options, endpoint, accessTo: signingIn });
  }
  endpoint.access = await signingIn(endpoint.url);
  const transport =
    kind === "websocket"
      ? new (await import("../network/websocket.ts")).WebSocketTransport(endpoint)
      : new (await import("../network/http.ts")).HttpTransport(endpoint, kind);
  return {
    transport,
    pid: () => undefined,
    ended: () => transport.failure?.message ?? "",
    lastWords: () => [],
    failure: () => transport.failure,
  };
}

async function helped(helper: HeadersHelper, url: URL, access: Authorizer | undefined): Promise<Authorizer> {
  const { HelpedAccess } = await import("../network/headers-helper.ts");
  await helper.forNewConnection();
  return new HelpedAccess(helper, url, access);
}

/** Undefined if the config already authenticates, or turns sign-ins off. */
async function accessTo(
  server: NetworkServer,
  endpoint: Endpoint,
  { credentialsFile, sealing, env, ownEnv = env, log, helper, own, hasOwnKeys }: ChannelChoice,
) {
  if (own && usesOwn(server)) {
    if (hasOwnKeys) return new (await import("../auth/own-access.ts")).KeyedAccess(server, own);
    return new (await import("../auth/access.ts")).Access(server, endpoint, own);
  }
  const isOurs = wantsSignIn(server) && !new Headers(endpoint.headers).has("authorization");
  if (!isOurs || credentialsFile === undefined) return undefined;
  const [{ Access }, { signInStore }] = await Promise.all([
    import("../auth/access.ts"),
    import("../auth/sign-in-store.ts"),
  ]);
  const warn = (message: string) => log.warn(message);
  const store = await signInStore(credentialsFile, { env: ownEnv, sealing: sealing?.(), warn });
  // What cannot be written can still be read.
  await store.sealAll().catch(() => {});
  return new Access(server, endpoint, store, helper);
}
