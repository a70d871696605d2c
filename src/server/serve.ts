/** The MCP front door: two tools over stdio, answered at once, whatever state the user's servers are in. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  RootsListChangedNotificationSchema,
  type Tool,
} from "@modelcontextprotocol/sdk/types.js";
import { toClaudikinsError } from "../errors.ts";
import type { Toolbox } from "../flows/toolbox.ts";
import { version } from "../version.ts";
import { hostOf } from "./host.ts";
import { instructionsFor } from "./instructions.ts";
import { ProgressReporter } from "./progress.ts";
import { callExecuteCode, executeCode } from "./tools/execute-code.ts";
import { callSearchTools, searchTools } from "./tools/search-tools.ts";

type Handler = (
  args: Record<string, unknown>,
  toolbox: Toolbox,
  signal: AbortSignal,
  onProgress?: (line: string) => void,
) => Promise<CallToolResult>;

const tools: { tool: Tool; call: Handler }[] = [
  { tool: searchTools, call: callSearchTools },
  { tool: executeCode, call: callExecuteCode },
];

/** Serves until the host closes stdin or `interrupted` is aborted; executions that run then are cancelled. */
export async function serveStdio(toolbox: Toolbox, interrupted: AbortSignal): Promise<void> {
  const ended = Promise.withResolvers<void>();
  const closing = new AbortController();
  const server = createServer(toolbox, closing.signal);
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

function createServer(toolbox: Toolbox, closing: AbortSignal): Server {
  const server = new Server(
    { name: "claudikins", title: "claudikins", version },
    { capabilities: { tools: {} }, instructions: instructionsFor(toolbox) },
  );
  toolbox.pool.host = hostOf(server);
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => toolbox.pool.rootsChanged());
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(({ tool }) => tool) }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification }) => {
    const found = tools.find(({ tool }) => tool.name === params.name);
    if (!found) {
      const names = tools.map(({ tool }) => tool.name).join(" and ");
      throw new McpError(ErrorCode.InvalidParams, `No tool is called "${params.name}": there are ${names}`);
    }
    const progressToken = params._meta?.progressToken;
    const reporter = new ProgressReporter((progress, message) => {
      const notice = { progressToken: progressToken!, progress, message };
      void sendNotification({ method: "notifications/progress", params: notice }).catch(() => {});
    });
    const onProgress = progressToken === undefined ? undefined : (line: string) => reporter.report(line);
    try {
      return await found.call(params.arguments ?? {}, toolbox, AbortSignal.any([signal, closing]), onProgress);
    } catch (thrown) {
      const error = toClaudikinsError(thrown);
      const text = error.hint ? `${error.message}\nHint: ${error.hint}` : error.message;
      return { content: [{ type: "text", text }], isError: true };
    } finally {
      reporter.end();
    }
  });
  return server;
}
