/** One MCP session over any transport: our two or three tools, or all tools of the servers in direct mode. */
import { type CallToolResult, ProtocolError, ProtocolErrorCode, Server } from "@modelcontextprotocol/server";
import { toClaudikinsError } from "../errors.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { textResult, withFigures } from "./content/content.ts";
import { hostRequestsOf } from "./host.ts";
import { ProgressReporter } from "./progress.ts";
import { createDirectSession } from "./proxy/direct-session.ts";
import { SessionCount } from "./session-count.ts";
import { capabilities, type Surface, serverInfo, toolsFor } from "./surface.ts";
import { callExecuteCode } from "./tools/execute-code.ts";
import { callExecuteTask } from "./tools/execute-task.ts";
import { callSearchTools } from "./tools/search-tools.ts";

type Handler = (
  args: Record<string, unknown>,
  toolbox: Toolbox,
  signal: AbortSignal,
  onProgress?: (line: string) => void,
  told?: Set<string>,
) => Promise<CallToolResult>;

const handlers: ReadonlyMap<string, Handler> = new Map([
  ["search_tools", callSearchTools],
  ["execute_code", callExecuteCode],
  ["execute_task", callExecuteTask],
]);

/**
 * Makes the SDK's server of one session, not connected yet: in code mode with a surface, else in direct mode. Calls use `toolbox`.
 * They are cancelled when the session ends and when `closing` aborts.
 */
export function createSession(
  toolbox: Toolbox,
  closing: AbortSignal,
  surface: Surface | undefined,
  counted?: SessionCount,
): Server {
  toolbox.restTimer.restart();
  if (!surface) return createDirectSession(toolbox, closing);
  const { instructions } = surface;
  let current = toolbox;
  let count = counted ?? new SessionCount(toolbox, instructions);
  const server = new Server(serverInfo, { capabilities, instructions });
  const toolsOfHost = () => toolsFor(surface, server.getClientCapabilities());
  /** Replaces a locked toolbox once its config is trusted. Throws CONFIG_NOT_TRUSTED until then. */
  const unlocked = async (signal: AbortSignal): Promise<Toolbox> => {
    const opened = await current.unlock(signal);
    // Another call may have replaced it meanwhile.
    if (opened === current) return opened;
    current = opened;
    count = new SessionCount(opened, instructions);
    count.listed(toolsOfHost());
    return opened;
  };
  /** Unusable servers that the model has been told about. */
  const toldServers = new Set<string>();
  let told: string | undefined;
  /** Reports a problem with a changed config once. */
  const withProblem = (result: CallToolResult, problem: string | undefined): CallToolResult => {
    const isNew = problem !== undefined && problem !== told;
    told = problem;
    return isNew ? { ...result, content: [...result.content, { type: "text", text: `Note: ${problem}` }] } : result;
  };
  server.setNotificationHandler("notifications/roots/list_changed", () => current.pool.rootsChanged());
  server.setRequestHandler("tools/list", () => {
    const tools = toolsOfHost();
    count.listed(tools);
    return { tools };
  });
  server.setRequestHandler("tools/call", async ({ params }, { mcpReq: { id, signal, notify } }) => {
    const names = toolsOfHost().map(({ name }) => name);
    const call = names.includes(params.name) ? handlers.get(params.name) : undefined;
    if (!call) {
      const message = `There is no tool "${params.name}", only ${names.join(" and ")}`;
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, message);
    }
    using _ = hostRequestsOf(server).begin(id);
    const progressToken = params._meta?.progressToken;
    const reporter = new ProgressReporter((progress, message) => {
      const notice = { progressToken: progressToken!, progress, message };
      void notify({ method: "notifications/progress", params: notice }).catch(() => {});
    });
    const onProgress = progressToken === undefined ? undefined : (line: string) => reporter.report(line);
    try {
      const args = params.arguments ?? {};
      const startedAt = performance.now();
      const over = AbortSignal.any([signal, closing]);
      const opened = await unlocked(over);
      using _work = opened.restTimer.running();
      await opened.reload?.refresh();
      const called = await call(args, opened, over, onProgress, toldServers);
      const result = withFigures(withProblem(called, opened.reload?.problem), startedAt);
      count.answered(params.name, args, result);
      return result;
    } catch (thrown) {
      return textResult(toClaudikinsError(thrown).text, true);
    } finally {
      reporter.end();
    }
  });
  return server;
}
