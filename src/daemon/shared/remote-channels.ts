/** Channels to servers that a daemon runs for other processes. If there is no daemon, each process starts servers itself. */
import type { JSONRPCMessage } from "@modelcontextprotocol/client";
import { ClaudikinsError, type ErrorCode, messageOf } from "../../base/errors.ts";
import { version } from "../../base/version.ts";
import type { StdioServer } from "../../config/load.ts";
import { onAbort, unlessAborted } from "../../servers/abort.ts";
import type { Channel, ChannelOpener } from "../../servers/connection/channel.ts";
import { openDirectChannel } from "../../servers/connection/open-channel.ts";
import { InOrder, receive, receiveLarge } from "../../servers/decoding/receive.ts";
import { childEnvironment } from "../../servers/process/child-environment.ts";
import type { DaemonClient, DaemonProblem } from "../client.ts";
import type { OpenServerRequest } from "../messages.ts";
import { entryMark, isLeaving } from "../protocol.ts";
import { connectToDaemon } from "../transport/connect.ts";
import type { MessageConnection, MessageHandler } from "../transport/message-connection.ts";
import { SharedTransport, sharedChannel } from "./shared-channel.ts";
import type { PortEnd } from "./shared-server.ts";

/** Time for the daemon to answer whether it runs a server. After that, this process starts the server itself. */
const heldAnswerMs = 5_000;

export interface RemoteChannelOptions {
  /** Called when a server is needed. If it throws, this process starts the servers itself. */
  client: () => DaemonClient;
  session: string;
  /** The session ends with this process. */
  endsWithCaller: boolean;
  /** Whether to use only daemons and servers that are already running. */
  startsNothing: boolean;
}

/** Only servers on this machine are shared through a daemon: servers on the network serve many users anyway. */
export function remoteChannels(sharing: RemoteChannelOptions): ChannelOpener {
  return async (server, options) => {
    if (server.url !== undefined) return openDirectChannel(server, options);
    try {
      const shared = await unlessAborted(open(server, options, sharing), options.signal, server.name);
      return shared ?? openDirectChannel(server, options);
    } catch (error) {
      options.signal.throwIfAborted();
      options.log.warn(`starting ${server.name} without the daemon: ${messageOf(error)}`);
      return openDirectChannel(server, options);
    }
  };
}

/** Undefined if the daemon's config has another entry of this name, or if the server is not running and must not be started. */
async function open(
  server: StdioServer,
  { cwd, env, capabilities, signal }: Parameters<ChannelOpener>[1],
  { client: clientOf, startsNothing, session, endsWithCaller }: RemoteChannelOptions,
): Promise<Channel | undefined> {
  const client = clientOf();
  client.refuseForeign();
  const opening: OpenServerRequest = {
    version,
    server: server.name,
    entry: entryMark(server),
    door: server.door,
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
    const { code, error, suggestion } = answer as DaemonProblem;
    if (code === "UNLIKE" || code === "UNHELD" || isLeaving(code)) return undefined;
    return failedChannel(new ClaudikinsError(code as ErrorCode, error, { hint: suggestion }));
  }
  return (answer as { channel: Channel }).channel;
}

/** A channel that fails when it is used. Starting the server in this process would fail too. */
function failedChannel(failure: ClaudikinsError): Channel {
  const started = Promise.reject(failure);
  started.catch(() => {});
  const transport = new SharedTransport({ started, send: () => false, close: () => {} });
  return sharedChannel(transport, () => undefined);
}

/** Undefined if no daemon is listening. Rejects if it does not answer, or is of a version that does not know such connections. */
async function opened(
  path: string,
  opening: OpenServerRequest,
  signal: AbortSignal,
): Promise<{ channel: Channel } | DaemonProblem | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<{ channel: Channel } | DaemonProblem>();
  promise.catch(() => {});
  const patience = AbortSignal.any([signal, AbortSignal.timeout(heldAnswerMs)]);
  let connection: MessageConnection | undefined;
  const transport = new SharedTransport({
    started: Promise.resolve(),
    send: (message) => connection?.send(JSON.stringify(message)) === true,
    close: () => connection?.close(),
  });
  const received = new InOrder<FromDaemon | undefined>((message) => {
    if (!message) return;
    if ("jsonrpc" in message) transport.receive(message);
    else if ("end" in message) transport.ended(message.end);
    else if ("refused" in message) resolve(message.refused);
    else {
      const { pid } = message.opened;
      resolve({ channel: sharedChannel(transport, () => pid) });
    }
  });
  const handler: MessageHandler = {
    message: (bytes) => received.add(() => fromDaemon(bytes)),
    largeMessage: (parts) => received.add(() => largeFromDaemon(parts)),
    close() {
      reject(new Error("the daemon ended"));
      received.add(() => ({ end: gone }));
    },
  };
  try {
    connection = await connectToDaemon(path, "/servers", () => handler, patience);
  } catch (error) {
    if (patience.aborted) throw notAnswering();
    if (error instanceof ClaudikinsError) throw error;
    return undefined;
  }
  const forget = onAbort(patience, () => {
    reject(notAnswering());
    connection?.terminate();
  });
  connection.send(JSON.stringify({ open: opening }));
  return promise.finally(forget);
}

const notAnswering = () => new Error("the daemon does not answer");

/** The daemon's own messages are small. Messages of the server are decoded as from any server. */
function fromDaemon(bytes: Buffer): FromDaemon | undefined | Promise<FromDaemon | undefined> {
  return isOfDaemon(bytes) ? (JSON.parse(bytes.toString()) as FromDaemon) : receive(bytes);
}

function largeFromDaemon(parts: Uint8Array<ArrayBuffer>[]): FromDaemon | undefined | Promise<FromDaemon | undefined> {
  const [first = new Uint8Array()] = parts;
  return isOfDaemon(Buffer.from(first.buffer)) ? fromDaemon(Buffer.concat(parts)) : receiveLarge(parts);
}

/** The first key of most answers is `jsonrpc` or `id`. */
const isOfDaemon = (bytes: Buffer) =>
  bytes[2] !== letterJ && bytes[2] !== letterI && /^\{"(?:end|refused|opened)":/.test(bytes.toString("latin1", 0, 16));

const letterI = 0x69;
const letterJ = 0x6a;

type FromDaemon = JSONRPCMessage | { end: PortEnd } | { refused: DaemonProblem } | { opened: { pid?: number } };

/** The end of a channel whose daemon has ended. The state of the pending requests is unknown. The next daemon starts the server again. */
const gone: PortEnd = { how: "the claudikins daemon that ran it has ended", lastWords: [], kind: "gone" };
