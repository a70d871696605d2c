/** The daemon's connections for messages. Over each one, another process uses one shared server. */
import {
  type JSONRPCMessage,
  type JSONRPCNotification,
  type JSONRPCRequest,
  ProtocolErrorCode,
} from "@modelcontextprotocol/client";
import { messageOf, toClaudikinsError } from "../../base/errors.ts";
import { parsedExact } from "../../base/exact-json.ts";
import { messageJson } from "../../base/large-json.ts";
import type { ServerConfig, StdioServer } from "../../config/load.ts";
import { openingIn } from "../messages.ts";
import { entryMark, leavingText, type ProblemCode } from "../protocol.ts";
import type { MessageConnection, MessageHandler } from "../transport/message-connection.ts";
import type { Port, SharedServer } from "./shared-server.ts";
import type { SharedServers } from "./shared-servers.ts";

interface ServerSocketsOptions {
  servers: ReadonlyMap<string, ServerConfig>;
  /** Throws POLICY_DENIED for requests that the config denies. The other process has already asked for permissions. */
  refuseDenied: (server: string, request: { method: string; params?: unknown }) => void;
  sharedServers: SharedServers;
  /** Why the daemon takes no more users: it is ending, or the caller has a newer version. */
  whyLeaving: (asked?: string) => "LEAVING" | "OUTDATED" | undefined;
  /** Called when a user has come or gone, and when a tool call begins or ends. */
  onUse: () => void;
}

interface Socket {
  readonly connection: MessageConnection;
  user?: { server: SharedServer; port: Port };
  /** Ids of tool calls that are not answered yet. */
  readonly calls: Set<unknown>;
  /** Nothing is read or answered any more. */
  isOver: boolean;
}

export class ServerSockets {
  readonly #options: ServerSocketsOptions;
  readonly #sockets = new Set<Socket>();
  /** Tool calls that were answered. */
  done = 0;

  constructor(options: ServerSocketsOptions) {
    this.#options = options;
  }

  /** Tool calls of all sockets that are not answered yet. */
  get running(): number {
    return this.#sockets.values().reduce((sum, { calls }) => sum + calls.size, 0);
  }

  /** Begins a new connection. */
  readonly begin = (connection: MessageConnection): MessageHandler => {
    const socket: Socket = { connection, calls: new Set(), isOver: false };
    this.#sockets.add(socket);
    return {
      message: (bytes) => {
        if (!socket.isOver) this.#read(socket, parsedExact(bytes.toString()));
      },
      close: () => {
        socket.isOver = true;
        this.#sockets.delete(socket);
        socket.user?.server.detach(socket.user.port);
        this.#options.onUse();
      },
    };
  };

  #read(socket: Socket, message: unknown): void {
    const { user, calls } = socket;
    if (!user) void this.#open(socket, message);
    else if (!isMessage(message)) close(socket);
    else if ("method" in message) {
      // The config may have changed. Then the next daemon is asked, and this request has no effect.
      if (this.#options.whyLeaving() && socket.isOver) return;
      const denial = this.#denialOf(user.server.name, message);
      if (denial && "id" in message) socket.connection.send(JSON.stringify(denial));
      if (denial) return;
      if (message.method === "tools/call" && "id" in message) {
        calls.add(message.id);
        this.#options.onUse();
      }
      if (message.method === "notifications/cancelled") calls.delete(message.params?.["requestId"]);
      user.server.receive(user.port, message);
    } else user.server.receive(user.port, message);
  }

  async #open(socket: Socket, message: unknown): Promise<void> {
    const { servers, sharedServers, whyLeaving, onUse } = this.#options;
    const opening = openingIn(message);
    if (!opening) return refuse(socket, "USAGE", "The first message must say which server to open");
    const leaving = whyLeaving(opening.version);
    if (leaving) return refuse(socket, leaving, leavingText);
    const shared = servers.get(opening.server);
    if (!shared || shared.url !== undefined || entryMark(shared) !== opening.entry) {
      return refuse(socket, "UNLIKE", "This daemon has a different config");
    }
    const server = opening.door === undefined ? shared : { ...shared, door: opening.door };
    // A server that the config closes is not even started.
    const denial = this.#denialOf(opening.server, { jsonrpc: "2.0", id: "", method: "resources/list" });
    if (denial && "error" in denial) return refuse(socket, "POLICY_DENIED", denial.error.message);
    const isPrivate = await sharedServers.isPrivate(server as StdioServer);
    if (socket.isOver) return;
    const wish = { ...opening, server: server as StdioServer, isPrivate };
    if (opening.startsNothing && !sharedServers.find(wish))
      return refuse(socket, "UNHELD", "The server is not running");
    const port: Port = {
      session: opening.session,
      send: (each) => this.#send(socket, each),
      end: (how) => close(socket, { end: how }),
    };
    const user = { server: sharedServers.attach(wish, port), port };
    socket.user = user;
    onUse();
    try {
      await user.server.started;
      socket.connection.send(JSON.stringify({ opened: { pid: user.server.pid } }));
    } catch (error) {
      const { code, message: words, hint } = toClaudikinsError(error);
      refuse(socket, code, words, hint);
    }
  }

  /** The answer to a request that the config denies. A request without an id is not a notification, and is denied as well. */
  #denialOf(server: string, message: JSONRPCRequest | JSONRPCNotification): JSONRPCMessage | undefined {
    const id = "id" in message ? message.id : "";
    try {
      const isNotification = message.method.startsWith("notifications/");
      if (isNotification && !("id" in message)) return undefined;
      this.#options.refuseDenied(server, message);
      if ("id" in message) return undefined;
      throw new Error(`${message.method} has no id`);
    } catch (error) {
      return { jsonrpc: "2.0", id, error: { code: ProtocolErrorCode.InvalidRequest, message: messageOf(error) } };
    }
  }

  #send(socket: Socket, message: JSONRPCMessage): void {
    socket.connection.send(messageJson(message));
    if ("method" in message || !socket.calls.delete(message.id)) return;
    this.done += 1;
    this.#options.onUse();
  }
}

function refuse(socket: Socket, code: ProblemCode, error: string, suggestion?: string): void {
  close(socket, { refused: { error, code, suggestion } });
}

function close(socket: Socket, last?: object): void {
  socket.isOver = true;
  if (last) socket.connection.send(JSON.stringify(last));
  socket.connection.close();
}

/** Only the form is checked here; the server checks the rest. */
function isMessage(value: unknown): value is JSONRPCMessage {
  const { jsonrpc, method } = Object(value) as { jsonrpc?: unknown; method?: unknown };
  return jsonrpc === "2.0" && (method === undefined || typeof method === "string");
}
