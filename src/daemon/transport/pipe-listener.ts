/**
 * HTTP over a named pipe, which Bun.serve does not offer. A connection for messages begins with an upgrade, as a WebSocket does. From
 * then on, each line is a JSON text.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import {
  type Listener,
  type ListenOptions,
  maxBytes,
  maxUnreadBytes,
  type Peer,
  type PeerHandler,
} from "./contract.ts";
import { JsonLines } from "./json-lines.ts";
import { upgradeName } from "./pipe-client.ts";

/** `name` is the name of the pipe; elsewhere than on Windows, the path of a socket. */
export function listenOnPipe<State>(name: string, { answer, handler }: ListenOptions<State>): Listener {
  // Loaded here, because other systems need neither.
  const { createServer } = process.getBuiltinModule("node:http");
  const { createServer: createListener } = process.getBuiltinModule("node:net");
  const connections = new Set<Socket>();
  let pendingRequests = 0;
  let openPeers = 0;

  const server = createServer((incoming, outgoing) => {
    pendingRequests += 1;
    outgoing.once("close", () => {
      pendingRequests -= 1;
    });
    // The caller has gone, or its request is invalid.
    respond(incoming, outgoing).catch(() => incoming.destroy());
  });

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const closed = new AbortController();
    outgoing.once("close", () => closed.abort());
    const body = await bodyOf(incoming);
    if (body === undefined) return void outgoing.writeHead(413, { connection: "close" }).end();
    const response = await answer(requestOf(incoming, body, closed.signal), () => false);
    const text = (await response?.text()) ?? "";
    const headers = { ...Object.fromEntries(response?.headers ?? []), "content-length": Buffer.byteLength(text) };
    outgoing.writeHead(response?.status ?? 404, { ...headers, connection: "close" });
    // Bun does not end a connection that was handed to it.
    outgoing.end(text, () => incoming.socket.end());
  }

  server.on("upgrade", (incoming: IncomingMessage, stream: Duplex) => {
    upgrade(incoming, stream).catch(() => stream.destroy());
  });

  async function upgrade(incoming: IncomingMessage, stream: Duplex): Promise<void> {
    const response = await answer(requestOf(incoming), (state) => {
      if (incoming.headers.upgrade !== upgradeName) return false;
      stream.write(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${upgradeName}\r\n\r\n`);
      openPeers += 1;
      stream.once("close", () => {
        openPeers -= 1;
      });
      talk(stream, state, handler);
      return true;
    });
    if (response)
      stream.end(`HTTP/1.1 ${response.status} Refused\r\nConnection: close\r\n\r\n${await response.text()}`);
  }

  server.on("clientError", (_, stream) => stream.destroy());

  const listener = createListener((connection) => {
    connections.add(connection);
    connection.once("close", () => connections.delete(connection));
    // The caller is gone, which "close" tells as well.
    connection.on("error", () => {});
    server.emit("connection", connection);
  });
  listener.listen(name);

  return {
    get pendingRequests() {
      return pendingRequests;
    },
    get openPeers() {
      return openPeers;
    },
    async stop() {
      const closed = new Promise((done) => listener.close(done));
      for (const connection of connections) connection.destroy();
      await closed;
    },
  };
}

function talk<State>(stream: Duplex, data: State, handler: PeerHandler<State>): void {
  const peer: Peer<State> = {
    data,
    send(text) {
      if (!stream.writable) return;
      stream.write(`${text}\n`);
      if (stream.writableLength > maxUnreadBytes) stream.destroy();
    },
    close: () => void stream.end(),
  };
  const lines = new JsonLines(maxBytes, (text) => handler.message(peer, text));
  stream.on("data", (chunk: Buffer) => {
    if (!lines.add(chunk)) stream.destroy();
  });
  stream.on("error", () => {});
  stream.once("close", () => handler.close(peer));
  handler.open(peer);
}

/** Undefined if it is too large. */
async function bodyOf(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function requestOf(
  { method = "GET", url = "/", headers }: IncomingMessage,
  body?: Buffer,
  signal?: AbortSignal,
): Request {
  const named = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  const hasBody = method !== "GET" && method !== "HEAD" && body !== undefined;
  return new Request(new URL(url, "http://localhost").href, {
    method,
    headers: named,
    ...(hasBody ? { body: new Uint8Array(body) } : {}),
    ...(signal ? { signal } : {}),
  });
}
