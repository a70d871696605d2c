/** Direct mode: one session of the revisions up to 2025-11-25 in which the agent sees the servers' own tools, resources and prompts. */
import {
  type JSONRPCMessage,
  type Notification,
  type RequestId,
  Server,
  type Transport,
} from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { WatchedTransport } from "../../servers/connection/watched-transport.ts";
import { openRequestsOf, sessionRequests } from "../legacy/legacy-host.ts";
import { SessionCount } from "../session-count.ts";
import { directInstructions } from "../surface/instructions.ts";
import { serverInfo, skillsExtension } from "../surface/surface.ts";
import { HostError, resourceNotFound } from "./answers.ts";
import { passedExtensions } from "./apps.ts";
import { DirectAnswers } from "./direct-answers.ts";
import { HostLog, listenerWith } from "./notices.ts";

/** The servers have not answered when the agent asks, so all capabilities are declared. */
export const directCapabilities = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { listChanged: true, subscribe: true },
  completions: {},
  logging: {},
  extensions: { [skillsExtension]: {} },
};

/**
 * Makes the SDK's server of one session, not connected yet. `app` must have connections of its own, since logs and
 * subscriptions belong to the session. Calls are cancelled when `closing` aborts.
 */
export function createDirectSession(app: App, closing: AbortSignal, owner?: string): Server {
  const instructions = directInstructions(app);
  const server = new DirectServer(serverInfo, { capabilities: directCapabilities, instructions });
  const requests = openRequestsOf(server);
  const send = (notification: Notification, about?: string) => {
    const related = about === undefined ? undefined : requests.latestOf(about);
    const options = related === undefined ? {} : { relatedRequestId: related };
    return server.notification(notification, options).catch(() => {});
  };
  const log = new HostLog(send);
  const answers = new DirectAnswers(app, new SessionCount(app, instructions), listenerWith(send), closing);
  app.pool.onLog((name, message) => log.pass(name, message));
  server.setNotificationHandler("notifications/roots/list_changed", () => app.pool.rootsChanged());
  // The SDK's own handlers drop unknown fields of results. This handler passes results unchanged.
  server.removeRequestHandler("logging/setLevel");
  const requestOf = sessionRequests(server, app, closing, owner);
  server.answerWith((received, context) => {
    app.pool.setHost({ extensions: passedExtensions(server.getClientCapabilities()) });
    return answers.answer(requestOf(received, context), log);
  });
  return server;
}

type FallbackHandler = NonNullable<Server["fallbackRequestHandler"]>;

/** The SDK's server of direct mode. It sends the errors of other servers unchanged. */
class DirectServer extends Server {
  /** Requests that end with the error `resourceNotFound`. The SDK would send the code of a later revision instead. */
  readonly #notFound = new Set<RequestId>();

  /** Answers all requests for which the SDK has no handler. */
  answerWith(answer: FallbackHandler): void {
    this.fallbackRequestHandler = async (request, context) => {
      try {
        return await answer(request, context);
      } catch (error) {
        if (error instanceof HostError && error.code === resourceNotFound && !context.mcpReq.signal.aborted) {
          this.#notFound.add(context.mcpReq.id);
        }
        throw error;
      }
    };
  }

  override connect(transport: Transport): Promise<void> {
    return super.connect(new WatchedTransport(transport, { sent: (message) => this.#restore(message) }));
  }

  #restore(message: JSONRPCMessage): void {
    if ("error" in message && message.id !== undefined && this.#notFound.delete(message.id)) {
      message.error.code = resourceNotFound;
    }
  }
}
