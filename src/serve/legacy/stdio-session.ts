/**
 * The session on stdin and stdout with the SDK's server, after the first answers. The first message that was not answered here
 * decides the revision of the protocol.
 */
import type { Readable } from "node:stream";
import {
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type McpRequestContext,
  type Server,
  type TransportSendOptions,
} from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import type { App } from "../../app/app.ts";
import { eventLoopTurn } from "../../base/event-loop.ts";
import { restoreExact } from "../../base/exact-json.ts";
import { WatchedTransport, type Watcher } from "../../servers/connection/watched-transport.ts";
import { HostLines } from "../host-lines.ts";
import { maxStdioRequests } from "../limits.ts";
import type { HostWire } from "../modern/stdio.ts";
import type { SessionCount } from "../session-count.ts";
import type { Surface } from "../surface/surface.ts";
import { hostOf } from "./legacy-host.ts";
import { createSession } from "./session.ts";

/** The answers that were given before the SDK was loaded. */
export interface Begun {
  /** The stream that the SDK's transport reads instead of stdin: everything that was not answered here. */
  input: Readable;
  /** The id of the `initialize` request. The SDK's server will answer it again, and that answer must not be sent. */
  initializeId: string | number | undefined;
  /** The tools that the agent was given, if it has asked for them. */
  listed: Surface["tools"] | undefined;
}

/** The parts of a session in code mode before the SDK is loaded. Empty in direct mode. */
interface SessionStart {
  surface?: Surface | undefined;
  count?: SessionCount | undefined;
  begun?: Begun | undefined;
}

/** Serves until `over` aborts, which also happens when the connection is closed from inside. */
export async function serveSession(app: App, beginning: SessionStart, over: AbortController): Promise<void> {
  const { surface, count, begun } = beginning;
  // The server is made for the first message, and sees it too.
  const first: JSONRPCMessage[] = [];
  const watcher: Watcher = { received: (message) => void first.push(message) };
  const watch = (received: (message: JSONRPCMessage) => unknown) => {
    for (const message of first.splice(0)) received(message);
    watcher.received = received;
  };
  const transport = new HostTransport(
    begun ? new BegunTransport(begun) : new StdioServerTransport(hostLines()),
    { received: restoreExact },
    watcher,
  );
  const wire: HostWire = {
    watch,
    rewrite: (change) => {
      transport.change = change;
    },
    send: (message) => transport.send(message),
  };
  const newServer = async ({ era }: McpRequestContext): Promise<Server> => {
    if (era === "modern") {
      const { modernStdioServer } = await import("../modern/stdio.ts");
      return modernStdioServer(app, beginning, wire, over.signal);
    }
    watch(() => {});
    const server = createSession(app, over.signal, surface, { count });
    app.pool.setHost({ responder: hostOf(server) });
    return server;
  };
  watcher.closed = () => over.abort();
  const handle = serveStdio(newServer, { transport, maxSubscriptions: maxStdioRequests });
  if (!over.signal.aborted) {
    await new Promise((resolve) => over.signal.addEventListener("abort", resolve, { once: true }));
  }
  await handle.close();
}

function hostLines(): typeof process.stdin {
  return process.stdin.pipe(new HostLines(process.stdout)) as Readable as typeof process.stdin;
}

class HostTransport extends WatchedTransport {
  /** Changes messages to the host. */
  change: ((message: JSONRPCMessage) => JSONRPCMessage) | undefined;
  /** The last list that was sent. */
  #list: Promise<void> = Promise.resolve();

  override send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const sent = this.change?.(message) ?? message;
    return isList(sent) ? this.#sendList(sent, options) : super.send(sent, options);
  }

  /**
   * Writes lists one after the other, and lets other messages be answered in between. Lists of megabytes that are sent together would delay
   * a ping by 100 ms and more.
   */
  #sendList(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    const sent = this.#list.then(eventLoopTurn).then(() => super.send(message, options));
    this.#list = sent.catch(() => {});
    return sent;
  }
}

/** Whether the message is a page of tools, prompts, resources or skills. */
function isList(message: JSONRPCMessage): boolean {
  return "result" in message && listKeys.some((key) => Array.isArray(message.result[key]));
}

const listKeys = ["tools", "prompts", "resources", "resourceTemplates", "skills"];

/** Drops the server's answer to `initialize`: the agent has one already. */
class BegunTransport extends StdioServerTransport {
  #answered: string | number | undefined;

  constructor({ input, initializeId }: Begun) {
    super(input as typeof process.stdin, process.stdout);
    this.#answered = initializeId;
  }

  override async send(message: JSONRPCMessage): Promise<void> {
    if (this.#answered !== undefined && isJSONRPCResultResponse(message) && message.id === this.#answered) {
      this.#answered = undefined;
      return;
    }
    await super.send(message);
  }
}
