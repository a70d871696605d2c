/** Channels to servers that a daemon runs for other processes. If there is no daemon, each process starts servers itself. */
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { ClaudikinsError, type ErrorCode, messageOf } from "../../base/errors.ts";
import { version } from "../../base/version.ts";
import type { StdioServer } from "../../config/load.ts";
import { onAbort, unlessAborted } from "../../servers/abort.ts";
import type { Channel, ChannelOpener } from "../../servers/channel.ts";
import { childEnvironment } from "../../servers/child-environment.ts";
import { InOrder, receive } from "../../servers/decoding/receive.ts";
import { openChannel } from "../../servers/open-channel.ts";
import type { DaemonClient, Problem } from "../client.ts";
import type { OpenRequest } from "../messages.ts";
import { entryMark, isLeaving } from "../protocol.ts";
import { connectToDaemon } from "../transport/connect.ts";
import type { PortEnd } from "./held-server.ts";
import { SharedTransport, sharedChannel } from "./shared-channel.ts";

export interface Sharing {
  /** Called when a server is needed. If it throws, this process starts the servers itself. */
  client: () => DaemonClient;
  session: string;
  /** The session ends with this process. */
  endsWithCaller: boolean;
  /** Use only daemons and servers that are already running. */
  startsNothing: boolean;
}

/** Only servers on this machine are shared through a daemon: servers on the network serve many users anyway. */
export function remoteChannels(sharing: Sharing): ChannelOpener {
  return async (server, options) => {
    if (server.url !== undefined) return openChannel(server, options);
    try {
      const shared = await unlessAborted(open(server, options, sharing), options.signal, server.name);
      return shared ?? openChannel(server, options);
    } catch (error) {
      options.signal.throwIfAborted();
      options.log.warn(`starting ${server.name} without the daemon: ${messageOf(error)}`);
      return openChannel(server, options);
    }
  };
}

/** Maximum time for the daemon's answer. After that, this process starts the server itself. */
const answerMs = 5_000;

/** Undefined if the daemon's config has another entry of this name, or if the server is not running and must not be started. */
async function open(
  server: StdioServer,
  { cwd, env, capabilities, signal }: Parameters<ChannelOpener>[1],
  { client: clientOf, startsNothing, session, endsWithCaller }: Sharing,
): Promise<Channel | undefined> {
  const client = clientOf();
  client.refuseForeign();
  const opening: OpenRequest = {
    version,
    server: server.name,
    entry: entryMark(server),
    cwd,
    env: childEnvironment(env, {}, server.inherit),
    capabilities,
    session,
    endsWithCaller,
    startsNothing,
  };
  const attempt = () => opened(client.place.socket, opening, signal);
  const answer = startsNothing ? await attempt() : await client.reach(attempt);
  if (!answer) return undefined;
  if ("error" in answer) {
    const { code, error, suggestion } = answer as Problem;
    if (code === "UNLIKE" || code === "UNHELD" || isLeaving(code)) return undefined;
    return failedChannel(new ClaudikinsError(code as ErrorCode, error, { hint: suggestion }));
  }
  return (answer as { channel: Channel }).channel;
}

/** A channel that fails when it is used: this process could not start the server either. */
function failedChannel(failure: ClaudikinsError): Channel {
  const started = Promise.reject(failure);
  started.catch(() => {});
  const transport = new SharedTransport({ started, send: () => false, close: () => {} });
  return sharedChannel(transport, () => undefined);
}

/** Undefined if no daemon is listening. */
function opened(
  path: string,
  opening: OpenRequest,
  signal: AbortSignal,
): Promise<{ channel: Channel } | Problem | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<{ channel: Channel } | Problem | undefined>();
  const socket = connectToDaemon(path, "/servers");
  let isOpen = false;
  let pid: number | undefined;
  const transport = new SharedTransport({
    started: Promise.resolve(),
    send(message) {
      if (socket.readyState !== WebSocket.OPEN) return false;
      socket.send(JSON.stringify(message));
      return true;
    },
    close: () => socket.close(),
  });
  const abort = () => {
    reject(new Error("the daemon does not answer"));
    socket.terminate();
  };
  const patience = AbortSignal.any([signal, AbortSignal.timeout(answerMs)]);
  promise.catch(() => {}).finally(onAbort(patience, abort));
  socket.onopen = () => {
    isOpen = true;
    socket.send(JSON.stringify({ open: opening }));
  };
  const received = new InOrder<FromDaemon | undefined>((message) => {
    if (!message) return;
    if ("jsonrpc" in message) transport.receive(message);
    else if ("end" in message) transport.ended(message.end);
    else if ("refused" in message) resolve(message.refused);
    else {
      pid = message.opened.pid;
      resolve({ channel: sharedChannel(transport, () => pid) });
    }
  });
  socket.onmessage = ({ data }) => received.add(() => fromDaemon(String(data)));
  socket.onclose = () => {
    if (isOpen) reject(new Error("the daemon ended"));
    else resolve(undefined);
    received.add(() => ({ end: gone }));
  };
  return promise;
}

/** The daemon's own messages are small. Messages of the server are decoded like those of any server. */
function fromDaemon(text: string): FromDaemon | undefined | Promise<FromDaemon | undefined> {
  if (/^\{"(?:end|refused|opened)":/.test(text)) return JSON.parse(text) as FromDaemon;
  return receive(Buffer.from(text));
}

type FromDaemon = JSONRPCMessage | { end: PortEnd } | { refused: Problem } | { opened: { pid?: number } };

/** It is unknown what the server has done meanwhile. The next daemon starts it again. */
const gone: PortEnd = { how: "the claudikins daemon that ran it has ended", lastWords: [], kind: "gone" };
