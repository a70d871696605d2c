/** The MCP server of revision 2026-07-28 on stdin and stdout: one host, all requests over the process's own connections. */
import {
  CLIENT_CAPABILITIES_META_KEY,
  type JSONRPCMessage,
  type Notification,
  type RequestId,
  type Server,
} from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { isObject } from "../../base/json-object.ts";
import { personMs } from "../../base/limits.ts";
import { agentOfUser } from "../../programs/execution/asker.ts";
import { CodeSession } from "../code-session.ts";
import { maxStdioRequests } from "../limits.ts";
import { DirectAnswers } from "../proxy/direct-answers.ts";
import { listenerWith } from "../proxy/notices.ts";
import { SessionCount } from "../session-count.ts";
import { directInstructions } from "../surface/instructions.ts";
import type { Surface } from "../surface/surface.ts";
import type { ModernClient } from "./client.ts";
import { modernCodeServer } from "./code-mode.ts";
import { modernDirectServer } from "./direct-mode.ts";
import { listenedTo, metaIn } from "./envelope.ts";
import { ListenedResources } from "./listened-resources.ts";
import { ModernHost } from "./modern-host.ts";
import { ParkedRequests } from "./parked-requests.ts";
import { TaskListeners } from "./task-notices.ts";
import { Tasks } from "./tasks.ts";

const limits = { answerMs: personMs, maxRunning: maxStdioRequests, maxOpen: maxStdioRequests };

/** The connection to the host, below the SDK. */
export interface HostWire {
  /** Shows all messages of the host. The SDK does not get those for which `received` returns false. */
  watch(received: (message: JSONRPCMessage) => unknown): void;
  /** Changes messages to the host. */
  rewrite(change: (message: JSONRPCMessage) => JSONRPCMessage): void;
  send(message: JSONRPCMessage): Promise<void>;
}

/** Makes the SDK's server, not connected yet. Calls are cancelled when `closing` aborts. */
export function modernStdioServer(
  app: App,
  { surface, count }: { surface?: Surface | undefined; count?: SessionCount | undefined },
  wire: HostWire,
  closing: AbortSignal,
): Server {
  app.idleTimer.restart();
  const host = new ModernHost({}, closing);
  const client: ModernClient = {
    parked: new ParkedRequests({ ...limits, closing }),
    tasks: new Tasks({ keepMs: personMs, maxWorking: limits.maxOpen, maxKept: 2 * limits.maxOpen, owner: "" }),
    connections(capabilities) {
      host.capabilities = capabilities;
      // A server that is connected later gets what the host supports now.
      app.pool.setHost({ responder: host });
      return { app, host };
    },
  };
  const listeners = new TaskListeners(client.tasks, (message) => void wire.send(message).catch(() => {}));
  wire.rewrite((message) => listeners.completed(message));
  if (surface) {
    const session = new CodeSession(app, surface, agentOfUser, count);
    const server = modernCodeServer(session, client, surface.instructions);
    wire.watch((message) => {
      server.host = capabilitiesIn(message) ?? server.host;
      return listeners.received(message);
    });
    return server;
  }
  const send = (notification: Notification) => void server.notification(notification).catch(() => {});
  const counted = new SessionCount(app, directInstructions(app));
  const answers = new DirectAnswers(app, counted, listenerWith(send), closing);
  const { server } = modernDirectServer({ answers, client, app, closing });
  const listened = new ListenedResources(answers, app.log);
  const open = new Map<RequestId, () => void>();
  wire.watch((message) => {
    const isForSdk = listeners.received(message);
    if (isForSdk) listenWith(listened, open, message);
    return isForSdk;
  });
  return server;
}

/** The host's capabilities in a request. */
function capabilitiesIn(message: JSONRPCMessage): object | undefined {
  const capabilities = metaIn(message)[CLIENT_CAPABILITIES_META_KEY];
  return isObject(capabilities) ? capabilities : undefined;
}

/** The SDK answers `subscriptions/listen` and tells the host of updates, but only the servers know when a resource is updated. */
function listenWith(listened: ListenedResources, open: Map<RequestId, () => void>, message: JSONRPCMessage): void {
  const { resources } = listenedTo(message) ?? {};
  if (resources && "id" in message && message.id !== undefined && !open.has(message.id))
    open.set(message.id, listened.begin(resources));
  if (!("method" in message) || message.method !== "notifications/cancelled") return;
  const id = message.params?.["requestId"] as RequestId;
  open.get(id)?.();
  open.delete(id);
}
