/** The MCP front door on stdin and stdout: one session, as long as the process. */
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import type { Toolbox } from "../flows/toolbox.ts";
import { hostOf } from "./host.ts";
import { sessionMode } from "./proxy/mode.ts";
import { createSession } from "./session.ts";

/** Serves until the host closes stdin or `interrupted` is aborted; executions that run then are cancelled. */
export async function serveStdio(toolbox: Toolbox, interrupted: AbortSignal): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const closing = new AbortController();
  const server = createSession(toolbox, closing.signal, sessionMode(toolbox));
  toolbox.pool.host = hostOf(server);
  server.onclose = () => ended.resolve();
  const end = () => ended.resolve();
  process.stdin.on("end", end);
  process.stdin.on("close", end);
  process.stdout.on("error", end);
  if (interrupted.aborted) end();
  interrupted.addEventListener("abort", end, { once: true });
  await server.connect(new StdioServerTransport());
  await ended.promise;
  closing.abort();
  await server.close();
  process.stdin.destroy();
}
