/** One MCP session of the revisions up to 2025-11-25: our two or three tools, or all tools of the servers in direct mode. */
import type { Server } from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { agentOfUser, type RequestingAgent } from "../../programs/execution/asker.ts";
import { CodeServer } from "../code-server.ts";
import { CodeSession } from "../code-session.ts";
import { createDirectSession } from "../proxy/direct-session.ts";
import type { SessionCount } from "../session-count.ts";
import type { Surface } from "../surface/surface.ts";
import { sessionRequests } from "./legacy-host.ts";

/**
 * Makes the SDK's server of one session, not connected yet: in code mode with a surface, else in direct mode. Calls use `app`.
 * They are cancelled when the session ends and when `closing` aborts.
 */
export function createSession(
  app: App,
  closing: AbortSignal,
  surface: Surface | undefined,
  { asker = agentOfUser, count }: { asker?: RequestingAgent; count?: SessionCount | undefined } = {},
): Server {
  app.idleTimer.restart();
  const owner = asker.starter?.owner;
  if (!surface) return createDirectSession(app, closing, owner);
  const session = new CodeSession(app, surface, asker, count);
  const server = new CodeServer(() => session.skills(), { instructions: surface.instructions });
  server.setNotificationHandler("notifications/roots/list_changed", () => session.rootsChanged());
  server.setRequestHandler("tools/list", () => ({ tools: session.tools(server.getClientCapabilities()) }));
  const requestOf = sessionRequests(server, app, closing, owner);
  server.setRequestHandler("tools/call", (received, context) => session.call(requestOf(received, context)));
  return server;
}
