/** Sends requests and messages to the daemon that listens at the path of a socket. */
import { addressOf } from "./address.ts";
import type { MessageSocket } from "./contract.ts";
import { type PipeRequest, PipeSocket, requestOverPipe } from "./pipe-client.ts";

const isWindows = process.platform === "win32";

/** Rejects as `fetch` does. Nothing was sent if `isNobody` of the error. Each request has a connection of its own, without a time limit. */
export async function requestDaemon(socket: string, path: string, request: PipeRequest): Promise<Response> {
  if (isWindows) return requestOverPipe(addressOf(socket), path, request);
  return fetch(`http://localhost${path}`, { ...request, unix: socket, keepalive: false, timeout: false });
}

/** Opens a connection for messages. It is closed at once if nobody listens. */
export function connectToDaemon(socket: string, path: string): MessageSocket {
  if (!isWindows) return new WebSocket(`ws+unix://${socket}:${path}`) as MessageSocket;
  return new PipeSocket(addressIfAny(socket), path);
}

/** The connection reports a missing daemon, as for a socket that does not exist. */
function addressIfAny(socket: string): string {
  try {
    return addressOf(socket);
  } catch {
    return socket;
  }
}
