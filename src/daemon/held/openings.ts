/** The sockets over which other processes use the held servers: each is the way to one of them. */
import { ErrorCode, type JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import { messageJson } from "../../clients/decoding/large-json.ts";
import type { ServerConfig, StdioServer } from "../../config/load.ts";
import { messageOf, toClaudikinsError } from "../../errors.ts";
import { version } from "../../version.ts";
import { isOlder, type Opening, type ProblemCode } from "../protocol.ts";
import { entryMark } from "./entry-mark.ts";
import type { HeldServer } from "./held-server.ts";
import type { HeldServers } from "./held-servers.ts";
import type { Port } from "./port.ts";

export interface OpeningOptions {
  servers: ReadonlyMap<string, ServerConfig>;
  /** Throws POLICY_DENIED; who asks has looked at the same config, or has none. What is to be confirmed they have asked about. */
  refuseDenied: (server: string, tool: string) => void;
  held: HeldServers;
  /** Looks whether the daemon has to make room, for a newer one of that version or for any reason. */
  isLeaving: (asked: string) => boolean;
  /** Told when somebody has come, or gone. */
  onChange: () => void;
}

/** What is known of a socket. */
export interface Opened {
  user?: { held: HeldServer; port: Port };
  /** Ids of calls of tools that are not answered. */
  calls: Set<unknown>;
  isOver?: boolean;
}

/** Bytes of one message, as many as a server may send; and of what somebody has not read yet. */
const maxBytes = 256 * 1_048_576;

/** Seconds after which somebody who does not even answer a ping is gone: a computer may have slept meanwhile. */
const silenceSeconds = 960;

export class Openings {
  readonly #options: OpeningOptions;
  /** Calls of tools, of all sockets. */
  readonly calls = { running: 0, done: 0 };

  constructor(options: OpeningOptions) {
    this.#options = options;
  }

  readonly handler: Bun.WebSocketHandler<Opened> = {
    maxPayloadLength: maxBytes,
    backpressureLimit: 4 * maxBytes,
    perMessageDeflate: false,
    idleTimeout: silenceSeconds,
    message: (socket, text) => {
      const { user, calls, isOver } = socket.data;
      if (isOver) return;
      const message = parsed(text);
      if (!user) void this.#open(socket, message);
      else if (!isMessage(message)) end(socket, "it sent something else than messages");
      else {
        const denial = this.#denialOf(user.held.name, message);
        if (denial) socket.send(JSON.stringify(denial));
        else {
          this.#count(calls, message);
          user.held.receive(user.port, message);
        }
      }
    },
    close: (socket) => {
      socket.data.isOver = true;
      const { user, calls } = socket.data;
      user?.held.detach(user.port);
      this.calls.running -= calls.size;
      calls.clear();
      this.#options.onChange();
    },
  };

  async #open(socket: Socket, message: unknown): Promise<void> {
    const { servers, held, isLeaving, onChange } = this.#options;
    const opening = openingOf(message);
    if (!opening) return refuse(socket, "USAGE", "The first message is to say what is wanted");
    if (isLeaving(opening.version)) {
      const code = isOlder(version, opening.version) ? "OUTDATED" : "LEAVING";
      return refuse(socket, code, "This claudikins is ending: nothing was done");
    }
    const server = servers.get(opening.server);
    if (!server || server.url !== undefined || entryMark(server) !== opening.entry) {
      return refuse(socket, "UNLIKE", "This claudikins has another config");
    }
    const wish = { ...opening, server: server as StdioServer };
    if (opening.startsNothing && !held.find(wish)) return refuse(socket, "UNHELD", "It does not run");
    const port: Port = {
      session: opening.session,
      send: (each) => this.#send(socket, each),
      end(how) {
        socket.data.isOver = true;
        socket.send(JSON.stringify({ end: how }));
        socket.close();
      },
    };
    const user = { held: held.attach(wish, port), port };
    socket.data.user = user;
    onChange();
    try {
      await user.held.started;
      socket.send(JSON.stringify({ opened: { pid: user.held.pid } }));
    } catch (error) {
      const { code, message: words, hint } = toClaudikinsError(error);
      refuse(socket, code, words, hint);
    }
  }

  /** The answer to a call that the config denies. */
  #denialOf(server: string, message: JSONRPCMessage): JSONRPCMessage | undefined {
    if (!("method" in message) || message.method !== "tools/call" || !("id" in message)) return undefined;
    try {
      this.#options.refuseDenied(server, String(message.params?.["name"]));
      return undefined;
    } catch (error) {
      const code = ErrorCode.InvalidRequest;
      return { jsonrpc: "2.0", id: message.id, error: { code, message: messageOf(error) } };
    }
  }

  #count(calls: Set<unknown>, message: JSONRPCMessage): void {
    if (!("method" in message)) return;
    if (message.method === "tools/call" && "id" in message) {
      calls.add(message.id);
      this.calls.running += 1;
    }
    const isCancelled = message.method === "notifications/cancelled" && calls.delete(message.params?.["requestId"]);
    if (isCancelled) this.calls.running -= 1;
  }

  #send(socket: Socket, message: JSONRPCMessage): void {
    socket.send(messageJson(message));
    const isAnswer = !("method" in message) && socket.data.calls.delete(message.id);
    if (!isAnswer) return;
    this.calls.running -= 1;
    this.calls.done += 1;
  }
}

type Socket = Bun.ServerWebSocket<Opened>;

function refuse(socket: Socket, code: ProblemCode, error: string, suggestion?: string): void {
  socket.data.isOver = true;
  socket.send(JSON.stringify({ refused: { error, code, ...(suggestion === undefined ? {} : { suggestion }) } }));
  socket.close();
}

function end(socket: Socket, why: string): void {
  socket.data.isOver = true;
  socket.close(1002, why);
}

function parsed(text: string | Buffer): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

/** More of it is not looked at: it is the server's to understand. */
function isMessage(value: unknown): value is JSONRPCMessage {
  return Object(value)["jsonrpc"] === "2.0";
}

function openingOf(message: unknown): Opening | undefined {
  const { open } = Object(message) as { open?: Partial<Opening> };
  const { version: asked, server, entry, cwd, env, capabilities, session } = open ?? {};
  const areTexts = [asked, server, entry, cwd, session].every((each) => typeof each === "string");
  const areObjects = [env, capabilities].every((each) => typeof each === "object" && each !== null);
  return areTexts && areObjects ? (open as Opening) : undefined;
}
