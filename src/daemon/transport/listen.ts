/** Listens for the daemon's callers, at a Unix socket or, on Windows, at a named pipe. */

import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { messageOf } from "../../base/errors.ts";
import { onAbort } from "../../servers/abort.ts";
import { maxMessageBytes } from "../../servers/limits.ts";
import { type BunStream, socketHandler } from "../../servers/process/bun-stream.ts";
import { type DaemonAnswer, problem } from "../messages.ts";
import { newPipeName } from "./address.ts";
import { type HttpMessage, HttpReader, httpText } from "./http.ts";
import { MessageConnection, type MessageHandler, upgradeName } from "./message-connection.ts";

const isWindows = process.platform === "win32";

export interface DaemonRequest {
  /** `POST /call`. */
  route: string;
  /** A daemon with an older version than this must end. */
  version: string | undefined;
  body: string;
  /** Aborted when the caller has gone. */
  signal: AbortSignal;
  /** Upgrades the connection to one for messages. Undefined if the caller has not asked for that. */
  upgrade: ((handler: (connection: MessageConnection) => MessageHandler) => void) | undefined;
}

/** Undefined if the request was upgraded. */
type Answering = (request: DaemonRequest) => Promise<DaemonAnswer | undefined>;

export class SocketListener {
  readonly #answer: Answering;
  readonly #server: { stop(closesConnections: boolean): void };
  readonly #requests = new Set<BunStream>();
  readonly #messageStreams = new Set<BunStream>();

  /**
   * Listens at the path of a socket. The socket, or the file with the name of the pipe, gets its name when it listens. It replaces an older
   * one, so callers never find a socket that does not answer. Throws the error of the system.
   */
  constructor(socket: string, answer: Answering) {
    this.#answer = answer;
    const made = join(dirname(socket), `${process.pid}.tmp`);
    rmSync(made, { force: true });
    const name = isWindows ? newPipeName() : made;
    this.#server = Bun.listen({ unix: name, socket: socketHandler((stream) => this.#accept(stream)) });
    if (isWindows) writeFileSync(made, name, { mode: 0o600 });
    renameSync(made, socket);
  }

  /** Requests whose caller has not read the answer yet. */
  get pendingRequests(): number {
    return this.#requests.size;
  }

  /** Open connections for messages. */
  get messageConnections(): number {
    return this.#messageStreams.size;
  }

  /** Closes every connection. */
  stop(): void {
    this.#server.stop(true);
  }

  #accept(stream: BunStream): void {
    const reader = new HttpReader(maxMessageBytes);
    stream.onData = (chunk) => {
      try {
        const request = reader.add(chunk);
        if (!request) return;
        // Each connection carries one request.
        stream.onData = () => {};
        void this.#respond(stream, request);
      } catch (error) {
        // The rest is dropped, so that the caller reads the answer.
        stream.onData = () => {};
        end(stream, problem("USAGE", messageOf(error), undefined));
      }
    };
  }

  async #respond(stream: BunStream, { firstLine, headers, body, rest }: HttpMessage): Promise<void> {
    this.#requests.add(stream);
    onAbort(stream.closed, () => this.#requests.delete(stream));
    const [method = "", path = ""] = firstLine.split(" ");
    const protocol = headers.get("upgrade");
    const answer = await this.#answer({
      route: `${method} ${path}`,
      version: headers.get("claudikins-version"),
      body,
      signal: stream.closed,
      upgrade: protocol === upgradeName ? (handler) => this.#upgrade(stream, handler, rest) : undefined,
    });
    if (answer) end(stream, answer);
  }

  #upgrade(stream: BunStream, handler: (connection: MessageConnection) => MessageHandler, early: Buffer): void {
    this.#requests.delete(stream);
    this.#messageStreams.add(stream);
    onAbort(stream.closed, () => this.#messageStreams.delete(stream));
    stream.write(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: ${upgradeName}\r\n\r\n`);
    new MessageConnection(stream, handler, early);
  }
}

function end(stream: BunStream, { status, json }: DaemonAnswer): void {
  const headers = { "content-type": "application/json", connection: "close" };
  stream.write(httpText(`HTTP/1.1 ${status} ${status < 400 ? "OK" : "Refused"}`, headers, json));
  stream.end();
}
