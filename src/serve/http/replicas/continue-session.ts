/** Brings a session that was taken over to where its client has left it. */
import type { InitializeRequest, Notification, Server } from "@modelcontextprotocol/server";
import { listenerWith } from "../../proxy/notices.ts";
import type { SessionTransport } from "../transport.ts";
import type { SessionMemory } from "./session-memory.ts";

interface BegunSession {
  transport: SessionTransport;
  server: Server;
  initialize: InitializeRequest["params"];
  memory: SessionMemory;
  isDirect: boolean;
}

/** In direct mode, the client is told to look again at what may have changed meanwhile. Resolves when the session can be used. */
export async function continueSession(begun: BegunSession): Promise<void> {
  const { transport, server, initialize, memory, isDirect } = begun;
  await transport.replay({ method: "initialize", params: initialize });
  transport.onmessage?.({ jsonrpc: "2.0", method: "notifications/initialized" });
  // Servers may have to start first.
  const again = Promise.all(memory.requests().map((request) => transport.replay(request)));
  if (!isDirect) return;
  const send = (notification: Notification) => void server.notification(notification).catch(() => {});
  const { listChanged, resourceUpdated } = listenerWith(send);
  for (const what of ["tools", "prompts", "resources"] as const) listChanged(what);
  void again.then(() => memory.resources.forEach(resourceUpdated));
}
