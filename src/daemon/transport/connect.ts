/** Sends requests and messages to the daemon that listens at the path of a socket. */
import { ClaudikinsError } from "../../base/errors.ts";
import { onAbort } from "../../servers/abort.ts";
import { type BunStream, socketHandler } from "../../servers/process/bun-stream.ts";
import { addressOf } from "./address.ts";
import { type DaemonRequestOptions, exchange, request } from "./exchange.ts";
import { MessageConnection, type MessageHandler, upgradeName } from "./message-connection.ts";

/**
 * The JSON of the daemon's answer. Rejects like `request`, and with system errors. If `isNobody` is true for the error, nothing was sent.
 */
export async function requestDaemon(socket: string, route: string, options: DaemonRequestOptions): Promise<unknown> {
  options.signal?.throwIfAborted();
  return request(await connect(addressOf(socket), options.signal), route, options);
}

/** Opens a connection for messages. Rejects as `requestDaemon` does, and with PROTOCOL_ERROR if the daemon does not know such connections. */
export async function connectToDaemon(
  socket: string,
  path: string,
  handler: (connection: MessageConnection) => MessageHandler,
  signal: AbortSignal,
): Promise<MessageConnection> {
  const stream = await connect(addressOf(socket), signal);
  const answer = await exchange(stream, `GET ${path}`, { connection: "Upgrade", upgrade: upgradeName }, "", signal);
  if (answer.headers.get("upgrade") === upgradeName) return new MessageConnection(stream, handler, answer.rest);
  stream.destroy();
  throw new ClaudikinsError("PROTOCOL_ERROR", "the daemon belongs to another version of claudikins");
}

/**
 * Connects to a socket or pipe. It uses a socket of Bun, because node:net would take 2 of the 30 ms of a warm call. Generated files use
 * `node-stream.ts` instead, because they run in Node too. Rejects with the error of the system, or with the reason of the signal: Windows
 * waits for 30 seconds if a pipe has too many callers.
 */
async function connect(address: string, signal?: AbortSignal): Promise<BunStream> {
  const { promise, resolve, reject } = Promise.withResolvers<BunStream>();
  const forget = onAbort(signal, () => reject(signal?.reason));
  const open = (stream: BunStream) => (signal?.aborted ? stream.destroy() : resolve(stream));
  Bun.connect({ unix: address, socket: socketHandler(open) }).catch(reject);
  return promise.finally(forget);
}
