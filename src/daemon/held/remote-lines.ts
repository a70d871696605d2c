/** The ways of another process to the servers that a daemon holds. Where there is none to be had, servers are its own. */
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { childEnvironment } from "../../clients/child-environment.ts";
import { receive } from "../../clients/decoding/receive.ts";
import { InOrder } from "../../clients/in-order.ts";
import { type Line, type LineMaker, type LineOptions, type LineWish, lineTo } from "../../clients/transport.ts";
import { unlessAborted } from "../../clients/unless-aborted.ts";
import type { StdioServer } from "../../config/load.ts";
import { ClaudikinsError, type ErrorCode, messageOf } from "../../errors.ts";
import { version } from "../../version.ts";
import { type DaemonClient, isLeaving, type Problem } from "../client.ts";
import type { Opening } from "../protocol.ts";
import { entryMark } from "./entry-mark.ts";
import type { PortEnd } from "./port.ts";
import { SharedTransport, sharedLine } from "./shared-line.ts";

export interface Sharing {
  /** Called when a server is needed; what it throws makes servers our own. */
  client: () => DaemonClient;
  session: string;
  /** The session ends with this process. */
  isShort: boolean;
  /** Only servers that run already are those of a daemon that runs already. */
  startsNothing: boolean;
}

/** Of programs of this machine: servers on the network serve many as they are. */
export function remoteLines(sharing: Sharing): LineMaker {
  return async (server, options, wish) => {
    if (server.url !== undefined) return lineTo(server, options);
    try {
      return (
        (await unlessAborted(open(server, options, wish, sharing), wish.signal, server.name)) ?? lineTo(server, options)
      );
    } catch (error) {
      wish.signal.throwIfAborted();
      options.log.warn(`starting ${server.name} without the daemon: ${messageOf(error)}`);
      return lineTo(server, options);
    }
  };
}

/** A daemon that is there answers in a moment; one that does not is done without. */
const answerMs = 5_000;

/** Undefined where the daemon has another server of the name, or none and is not to start one. */
async function open(
  server: StdioServer,
  { cwd, env }: LineOptions,
  { capabilities, signal }: LineWish,
  { client: clientOf, startsNothing, session, isShort }: Sharing,
): Promise<Line | undefined> {
  const client = clientOf();
  client.refuseForeign();
  const opening: Opening = {
    version,
    server: server.name,
    entry: entryMark(server),
    cwd,
    env: childEnvironment(env, {}),
    capabilities,
    session,
    isShort,
    startsNothing,
  };
  const attempt = () => opened(client.place.socket, opening, signal);
  const answer = startsNothing ? await attempt() : await client.reach(attempt);
  if (!answer) return undefined;
  if ("error" in answer) {
    const { code, error, suggestion } = answer as Problem;
    if (code === "UNLIKE" || code === "UNHELD" || isLeaving(code)) return undefined;
    return failedLine(new ClaudikinsError(code as ErrorCode, error, { hint: suggestion }));
  }
  return (answer as { line: Line }).line;
}

/** The server was not started, and would not be from here: that is told when it is used. */
function failedLine(failure: ClaudikinsError): Line {
  const started = Promise.reject(failure);
  started.catch(() => {});
  const transport = new SharedTransport({ started, send: () => false, close: () => {} });
  return sharedLine(transport, () => undefined);
}

/** Undefined where nobody listens. */
function opened(path: string, opening: Opening, signal: AbortSignal): Promise<{ line: Line } | Problem | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<{ line: Line } | Problem | undefined>();
  const socket = new WebSocket(`ws+unix://${path}:/servers`);
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
  patience.addEventListener("abort", abort, { once: true });
  promise.catch(() => {}).finally(() => patience.removeEventListener("abort", abort));
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
      resolve({ line: sharedLine(transport, () => pid) });
    }
  });
  socket.onmessage = ({ data }) => received.add(fromDaemon(String(data)));
  socket.onclose = () => {
    if (isOpen) reject(new Error("the daemon ended"));
    else resolve(undefined);
    received.add({ end: gone });
  };
  return promise;
}

/** The daemon's own messages are small. Those of the server are decoded as everywhere. */
function fromDaemon(text: string): FromDaemon | undefined | Promise<FromDaemon | undefined> {
  if (/^\{"(?:end|refused|opened)":/.test(text)) return JSON.parse(text) as FromDaemon;
  return receive(Buffer.from(text));
}

type FromDaemon = JSONRPCMessage | { end: PortEnd } | { refused: Problem } | { opened: { pid?: number } };

/** What it did meanwhile nobody knows; the next daemon starts it again. */
const gone: PortEnd = { how: "the claudikins daemon that ran it has ended", lastWords: [], kind: "gone" };
