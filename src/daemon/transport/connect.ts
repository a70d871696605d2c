/** Sends requests and messages to the daemon that listens at the path of a socket. */
import { ClaudikinsError } from "../../base/errors.ts";
import { addressOf } from "./address.ts";
import { connect } from "./bun-stream.ts";
import { type DaemonRequestOptions, exchange, request } from "./exchange.ts";
import { MessageConnection, type MessageHandler, upgradeName } from "./message-connection.ts";

/** The JSON of the daemon's answer. Rejects as `request` does, and with errors of the system: nothing was sent if `isNobody` of the error. */
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
