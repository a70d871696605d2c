/** Listens for the daemon's callers: HTTP and WebSockets over a Unix socket; on Windows, HTTP over a named pipe. */
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newPipeName } from "./address.ts";
import { type Listener, type ListenOptions, maxBytes, maxUnreadBytes } from "./contract.ts";
import { listenOnPipe } from "./pipe-listener.ts";

/** Seconds after which a client that does not answer pings is gone. Long, because a computer may have slept meanwhile. */
const silenceSeconds = 960;

/**
 * Listens at the path of a socket. The socket, or the file with the name of the pipe, gets its name when it listens. It replaces an
 * older one, and nobody finds one that does not answer.
 */
export function listen<State>(socket: string, options: ListenOptions<State>): Listener {
  const made = join(dirname(socket), `${process.pid}.tmp`);
  rmSync(made, { force: true });
  const listener = process.platform === "win32" ? onNewPipe(made, options) : onSocket(made, options);
  renameSync(made, socket);
  return listener;
}

function onNewPipe<State>(file: string, options: ListenOptions<State>): Listener {
  const name = newPipeName();
  const listener = listenOnPipe(name, options);
  writeFileSync(file, name, { mode: 0o600 });
  return listener;
}

function onSocket<State>(path: string, { answer, handler }: ListenOptions<State>): Listener {
  const server = Bun.serve<State>({
    unix: path,
    maxRequestBodySize: maxBytes,
    fetch: (request, self) => answer(request, (state) => self.upgrade(request, { data: state } as never)),
    websocket: {
      ...handler,
      maxPayloadLength: maxBytes,
      backpressureLimit: maxUnreadBytes,
      perMessageDeflate: false,
      idleTimeout: silenceSeconds,
    },
  });
  return {
    get pendingRequests() {
      return server.pendingRequests;
    },
    get openPeers() {
      return server.pendingWebSockets;
    },
    stop: () => server.stop(true),
  };
}
