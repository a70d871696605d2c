/** call: a tool by its name and words of a command line, its result as it came. What `claudikins call` and the daemon do for it. */
import type { ToolResult } from "../clients/result.ts";
import { ClaudikinsError } from "../errors.ts";
import { hookIn, hookKey } from "../registry/hooks.ts";
import { type RegistryServer, type RegistryTool, toolId } from "../registry/model.ts";
import type { BindingCall } from "../sandbox/contract.ts";
import { type CallSurroundings, toolResult } from "./bindings.ts";
import { argumentsOf, type Given } from "./call-arguments.ts";
import { type Target, targetOf, unknownTool } from "./call-target.ts";
import { CodeSubscriptions } from "./code-subscriptions.ts";
import { countedResult, usedNames } from "./counted-call.ts";
import { progressText } from "./progress-text.ts";
import type { Toolbox } from "./toolbox.ts";

export interface ToolCall {
  /** `server.tool`; the server alone where `tool` is a word of its own. */
  target: string;
  tool?: string | undefined;
  given: Given[];
  timeoutMs?: number | undefined;
  /** Where its caller has read of it, as a mark of `registry/hooks.ts`. */
  via?: string | undefined;
}

export interface Called {
  server: string;
  /** Its own name. */
  tool: string;
  result: ToolResult;
}

export interface CallOptions {
  signal: AbortSignal;
  /** Told in a line how far the server says it is. */
  onProgress?: ((line: string) => void) | undefined;
}

/** Throws SERVER_NOT_FOUND, TOOL_NOT_FOUND, INVALID_ARGUMENTS, and what `pool.callTool` throws. */
export async function call(wanted: ToolCall, toolbox: Toolbox, { signal, onProgress }: CallOptions): Promise<Called> {
  const { given, timeoutMs, via = "" } = wanted;
  const hook = hookIn(via);
  if (hook && toolbox.config.hooks) toolbox.ledger.found(hookKey("shell", hook));
  const target = targetOf(wanted, toolbox);
  const id = toolId(target.server, target.tool);
  try {
    return await callTarget(target, toolbox, {
      signal,
      timeoutMs,
      argumentsFor: (schema) => argumentsOf(given, schema),
      subscriptions: new CodeSubscriptions(toolbox.pool),
      onProgress: onProgress && ((progress) => onProgress(progressText(id, progress))),
    });
  } catch (error) {
    const isUnknown = error instanceof ClaudikinsError && error.code === "TOOL_NOT_FOUND";
    throw isUnknown ? unknownTool(target, toolbox) : error;
  }
}

async function callTarget({ server, tool }: Target, toolbox: Toolbox, surroundings: CallSurroundings): Promise<Called> {
  const call: BindingCall = { namespace: server, group: "tools", name: tool, args: {}, raw: true };
  const { signal } = surroundings;
  let name = tool;
  const names = () => usedNames(call, toolbox);
  const result = await countedResult(names, { toolbox, signal }, async () => {
    const called = await toolResult(toolbox, call, surroundings);
    name = called.tool.name;
    return called.result;
  });
  return { server, tool: name, result };
}

/** What is known of the tool that would be called, for who is asked for its arguments; a server that nobody has asked yet is asked. */
export async function describe(
  wanted: Pick<ToolCall, "target" | "tool">,
  toolbox: Toolbox,
  signal: AbortSignal,
): Promise<{ server: RegistryServer; tool: RegistryTool }> {
  const target = targetOf(wanted, toolbox);
  toolbox.pool.refuseDenied(target.server, target.tool);
  const server = toolbox.knownWhole(target.server) ?? (await toolbox.learn(target.server, signal));
  const { tools } = server;
  const tool = tools.find(({ name }) => name === target.tool) ?? tools.find(({ jsName }) => jsName === target.tool);
  if (!tool) throw unknownTool(target, toolbox);
  toolbox.pool.refuseDenied(target.server, tool.name);
  return { server, tool };
}
