/** One MCP session over any transport: two tools, answered at once, whatever state the user's servers are in; or, in direct mode, all of theirs. */
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import {
  CallToolRequestSchema,
  type CallToolResult,
  ErrorCode,
  ListToolsRequestSchema,
  McpError,
  RootsListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { toClaudikinsError } from "../errors.ts";
import type { Toolbox } from "../flows/toolbox.ts";
import { withFigures } from "./figures.ts";
import { hostRequestsOf } from "./host-requests.ts";
import { ProgressReporter } from "./progress.ts";
import { createDirectSession } from "./proxy/direct-session.ts";
import { SessionCount } from "./session-count.ts";
import { capabilities, type Surface, serverInfo, surfaceOf } from "./surface.ts";
import { callExecuteCode } from "./tools/execute-code.ts";
import { callSearchTools } from "./tools/search-tools.ts";

type Handler = (
  args: Record<string, unknown>,
  toolbox: Toolbox,
  signal: AbortSignal,
  onProgress?: (line: string) => void,
) => Promise<CallToolResult>;

const handlers: ReadonlyMap<string, Handler> = new Map([
  ["search_tools", callSearchTools],
  ["execute_code", callExecuteCode],
]);

/**
 * The SDK's server of one session, not connected yet. Its calls are those of `toolbox`; they are cancelled when the session
 * ends, and when `closing` is aborted.
 */
export function createSession(
  toolbox: Toolbox,
  closing: AbortSignal,
  mode: "code" | "direct",
  surface?: Surface,
  counted?: SessionCount,
): Server {
  if (mode === "direct") return createDirectSession(toolbox, closing);
  const { tools, instructions } = surface ?? surfaceOf(toolbox);
  const count = counted ?? new SessionCount(toolbox, instructions);
  const server = new Server(serverInfo, { capabilities, instructions });
  server.setNotificationHandler(RootsListChangedNotificationSchema, () => toolbox.pool.rootsChanged());
  server.setRequestHandler(ListToolsRequestSchema, () => {
    count.listed(tools);
    return { tools };
  });
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { requestId, signal, sendNotification }) => {
    const call = handlers.get(params.name);
    if (!call) {
      const names = [...handlers.keys()].join(" and ");
      throw new McpError(ErrorCode.InvalidParams, `No tool is called "${params.name}": there are ${names}`);
    }
    using _ = hostRequestsOf(server).begin(requestId);
    const progressToken = params._meta?.progressToken;
    const reporter = new ProgressReporter((progress, message) => {
      const notice = { progressToken: progressToken!, progress, message };
      void sendNotification({ method: "notifications/progress", params: notice }).catch(() => {});
    });
    const onProgress = progressToken === undefined ? undefined : (line: string) => reporter.report(line);
    try {
      const args = params.arguments ?? {};
      const startedAt = performance.now();
      const called = await call(args, toolbox, AbortSignal.any([signal, closing]), onProgress);
      const result = withFigures(called, startedAt);
      count.answered(params.name, args, result);
      return result;
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
