/** `claudikins call`: calls a tool with words of a command line and returns its whole result. The daemon does the same for it. */
import type { ToolResult } from "../clients/result.ts";
import { ClaudikinsError } from "../errors.ts";
import { hookIn, hookKey } from "../registry/hooks.ts";
import { type RegistryServer, type RegistryTool, toolId } from "../registry/model.ts";
import { TimeLimit } from "../time-limit.ts";
import { argumentsOf, type Given } from "./call-arguments.ts";
import { targetOf, unknownTool } from "./call-target.ts";
import { type CallToolOptions, callTool } from "./call-tool.ts";
import { countedResult, findTool, usedNames } from "./counted-call.ts";
import type { Parts } from "./parts.ts";
import { progressText } from "./progress-text.ts";

export interface ToolCall {
  /** `server.tool`, or the server alone if `tool` is given. */
  target: string;
  tool?: string | undefined;
  given: Given[];
  /** Limit for the start of the server and the call together. Without it, the config's limit applies to the call alone. */
  timeoutMs?: number | undefined;
  /** The mark of the text that led the caller here, as in `registry/hooks.ts`. */
  via?: string | undefined;
}

export interface Called {
  server: string;
  /** The tool's own name. */
  tool: string;
  result: ToolResult;
}

export interface CallOptions {
  signal: AbortSignal;
  /** Called with a line when the server reports progress. */
  onProgress?: ((line: string) => void) | undefined;
}

/** Calls a tool. Throws SERVER_NOT_FOUND, TOOL_NOT_FOUND, INVALID_ARGUMENTS, and what `pool.callTool` throws. */
export async function call(wanted: ToolCall, parts: Parts, { signal, onProgress }: CallOptions): Promise<Called> {
  const { timeoutMs, via = "" } = wanted;
  const hook = hookIn(via);
  if (hook && parts.config.hooks) parts.ledger.found(hookKey("shell", hook));
  const target = targetOf(wanted, parts);
  const { server } = target;
  const id = toolId(server, target.tool);
  const late = new AbortController();
  const limit = timeoutMs === undefined ? undefined : new TimeLimit(timeoutMs, () => late.abort());
  const options: CallToolOptions = {
    signal: limit ? AbortSignal.any([signal, late.signal]) : signal,
    timeoutMs,
    clock: limit,
    argumentsFor: (schema) => argumentsOf(wanted.given, schema),
    onProgress: onProgress && ((progress) => onProgress(progressText(id, progress))),
  };
  const naming = { namespace: server, group: "tools", name: target.tool } as const;
  let { tool } = target;
  try {
    const result = await countedResult(
      () => usedNames(naming, parts),
      { parts, signal },
      async () => {
        const called = await callTool({ ...naming, args: {} }, parts, options);
        tool = called.tool.name;
        return called.result;
      },
    );
    return { server, tool, result };
  } catch (error) {
    if (late.signal.aborted && !signal.aborted) throw timeoutError(id, timeoutMs ?? 0);
    const isUnknown = error instanceof ClaudikinsError && error.code === "TOOL_NOT_FOUND";
    throw isUnknown ? unknownTool(target, parts) : error;
  } finally {
    limit?.end();
  }
}

function timeoutError(id: string, timeoutMs: number): ClaudikinsError {
  return new ClaudikinsError("CALL_TIMEOUT", `${id} did not answer within ${timeoutMs / 1_000} s`, {
    hint: "Raise --timeout, or ask for less in one call.",
  });
}

/** Finds the tool that would be called, to ask a person for its arguments. A server that is not known is listed. */
export async function describe(
  wanted: Pick<ToolCall, "target" | "tool">,
  parts: Parts,
  signal: AbortSignal,
): Promise<{ server: RegistryServer; tool: RegistryTool }> {
  const target = targetOf(wanted, parts);
  parts.pool.refuseDenied(target.server, target.tool);
  const server = parts.catalog.findWithDenied(target.server) ?? (await parts.catalog.fetch(target.server, signal));
  const tool = findTool(server, target.tool);
  if (!tool) throw unknownTool(target, parts);
  parts.pool.refuseDenied(target.server, tool.name);
  return { server, tool };
}
