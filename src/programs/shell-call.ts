/** `claudikins call`: calls a tool with words of a command line and returns its whole result. The daemon does the same for it. */

import { durationText } from "../base/duration.ts";
import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import { didYouMean, nearNames } from "../base/near-names.ts";
import { TimeLimit } from "../base/time-limit.ts";
import type { TraceContext } from "../base/trace-context.ts";
import type { ToolResult } from "../servers/result.ts";
import { findTool, type RegistryServer, type RegistryTool, toolId } from "../tools/model.ts";
import { hookIn, hookKey } from "../tools/registry/hooks.ts";
import { type ArgumentWord, argumentsOf, notAnArgument } from "./argument-words.ts";
import { callTool, singleCall, toolNow } from "./call.ts";
import { maxNamedTools } from "./limits.ts";
import type { Parts } from "./parts.ts";
import { progressText } from "./progress-text.ts";

export interface ShellCall {
  /** `server.tool`, or the server alone if `tool` is given. */
  target: string;
  tool?: string | undefined;
  given: ArgumentWord[];
  /** Limit for the start of the server and the call together. Without it, the config's limit applies to the call alone. */
  timeoutMs?: number | undefined;
  /** The mark of the text that led the caller here, as in `tools/registry/hooks.ts`. */
  via?: string | undefined;
}

export interface ShellCallResult {
  server: string;
  /** The tool's own name. */
  tool: string;
  result: ToolResult;
}

export interface ShellCallOptions {
  signal: AbortSignal;
  /** The trace of the command. */
  trace?: TraceContext | undefined;
  /** Called with a line when the server reports progress. */
  onProgress?: ((line: string) => void) | undefined;
}

/** Calls a tool. Throws SERVER_NOT_FOUND, TOOL_NOT_FOUND, INVALID_ARGUMENTS, and what `pool.callTool` throws. */
export async function call(
  wanted: ShellCall,
  parts: Parts,
  { signal, trace, onProgress }: ShellCallOptions,
): Promise<ShellCallResult> {
  const { timeoutMs, via = "" } = wanted;
  const hook = hookIn(via);
  if (hook && parts.config.hooks) parts.ledger.found(hookKey("shell", hook));
  const target = targetOf(wanted, parts);
  const { server } = target;
  const id = toolId(server, target.tool);
  const late = new AbortController();
  const limit = timeoutMs === undefined ? undefined : new TimeLimit(timeoutMs, () => late.abort());
  const request = { namespace: server, group: "tools", name: target.tool, raw: true } as const;
  const argumentsFor = (schema: JsonObject) => argumentsOf(wanted.given, schema);
  const either = limit ? AbortSignal.any([signal, late.signal]) : signal;
  let { tool } = target;
  try {
    const made = { signal, clock: limit, trace };
    const { result } = await singleCall(request, parts, made, {}, async (call, observer) => {
      call.signal = either;
      call.timeoutMs = timeoutMs;
      call.onProgress = onProgress && ((progress) => onProgress(progressText(id, progress)));
      const called = await callTool({ ...request, args: {}, argumentsFor }, parts, call, observer);
      tool = called.tool.name;
      return { result: called.result };
    });
    return { server, tool, result };
  } catch (error) {
    if (late.signal.aborted && !signal.aborted) throw timeoutError(id, timeoutMs ?? 0);
    throw explained(error, target, parts);
  } finally {
    limit?.end();
  }
}

function timeoutError(id: string, timeoutMs: number): ClaudikinsError {
  return new ClaudikinsError("CALL_TIMEOUT", `${id} did not answer within ${durationText(timeoutMs)}`, {
    hint: "Raise --timeout, or ask for less in one call.",
  });
}

/** Finds the tool that would be called, to ask a person for its arguments. A server that is not known is listed. */
export async function describe(
  wanted: Pick<ShellCall, "target" | "tool">,
  parts: Parts,
  signal: AbortSignal,
): Promise<{ server: RegistryServer; tool: RegistryTool }> {
  const target = targetOf(wanted, parts);
  try {
    parts.pool.refuseDenied(target.server, target.tool);
  } catch (error) {
    throw explained(error, target, parts);
  }
  const server = await parts.catalog.tools(target.server, { freshAs: "stored", signal });
  const known = findTool(server, target.tool);
  const found = known
    ? { tool: known, listed: server }
    : await toolNow(target.server, target.tool, parts.catalog, signal);
  if (!found) throw unknownTool(target, parts);
  parts.pool.refuseDenied(target.server, found.tool.name);
  return { server: found.listed, tool: found.tool };
}

interface CallTarget {
  server: string;
  /** The tool's name as it was written. */
  tool: string;
}

/**
 * Reads `server.tool`, or the two as separate words. The longest matching server name wins; names in code match as well. Throws
 * SERVER_NOT_FOUND, and TOOL_NOT_FOUND if only a server is named.
 */
function targetOf(words: { target: string; tool?: string | undefined }, parts: Parts): CallTarget {
  const { target } = words;
  const fitting = parts.catalog.names
    .flatMap(({ name, jsName }) =>
      [name, ...(jsName === undefined ? [] : [jsName])].map((written) => ({ name, written })),
    )
    .filter(({ written }) => target === written || target.startsWith(`${written}.`))
    .sort((a, b) => b.written.length - a.written.length);
  const [longest] = fitting;
  const exact = fitting.find(({ written }) => target === written);
  if (words.tool !== undefined) {
    if (exact) return { server: exact.name, tool: words.tool };
    throw longest ? notAnArgument(words.tool) : unknownServer(target, `${target}.${words.tool}`, parts);
  }
  const found = fitting.find(({ written }) => target.length > written.length + 1);
  if (found) return { server: found.name, tool: target.slice(found.written.length + 1) };
  throw longest ? missingTool(longest.name, parts) : unknownServer(target, target, parts);
}

/** The error with similar names, if the server does not have the tool. */
function explained(error: unknown, target: CallTarget, parts: Parts): unknown {
  const isUnknown = error instanceof ClaudikinsError && error.code === "TOOL_NOT_FOUND";
  return isUnknown ? unknownTool(target, parts) : error;
}

/** The error for a tool that its server does not have. */
function unknownTool({ server, tool }: CallTarget, parts: Parts): ClaudikinsError {
  const ids = idsOf([server], parts);
  return new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${tool}"`, {
    hint: didYouMean(toolId(server, tool), ids) ?? someOf(ids) ?? "It has no tools.",
  });
}

function missingTool(server: string, parts: Parts): ClaudikinsError {
  const ids = idsOf([server], parts);
  return new ClaudikinsError("TOOL_NOT_FOUND", `${server} is a server: add the name of a tool`, {
    hint: someOf(ids) ?? `To see them: claudikins list tools ${server}`,
  });
}

/** `whole` includes the tool, if one was written. */
function unknownServer(written: string, whole: string, parts: Parts): ClaudikinsError {
  const servers = [...parts.config.servers.keys()];
  const [server = written] = written.split(".", 1);
  const hint =
    didYouMean(whole, idsOf(servers, parts)) ??
    (whole.includes(".") ? undefined : toolsCalled(whole, parts)) ??
    didYouMean(server, servers) ??
    (servers.length > 0 ? `Servers: ${servers.slice(0, maxNamedTools).join(", ")}` : "The config has no servers.");
  return new ClaudikinsError("SERVER_NOT_FOUND", `No server is called "${server}"`, { hint });
}

/** A hint for a tool name that was written without its server. */
function toolsCalled(written: string, parts: Parts): string | undefined {
  const tools = parts.catalog.names.flatMap(({ name: server }) =>
    (parts.catalog.find(server)?.tools ?? []).map(({ name }) => ({ name, id: toolId(server, name) })),
  );
  const near = nearNames(written, new Set(tools.map(({ name }) => name)));
  const ids = near.flatMap((name) => tools.filter((tool) => tool.name === name).map(({ id }) => id));
  return ids.length > 0 ? `Did you mean ${ids.slice(0, 3).join(" or ")}?` : undefined;
}

function someOf(ids: string[]): string | undefined {
  if (ids.length === 0) return undefined;
  const more = ids.length > maxNamedTools ? ` and ${ids.length - maxNamedTools} more` : "";
  return `Available: ${ids.slice(0, maxNamedTools).join(", ")}${more}`;
}

/** The ids of the known tools, without denied ones. */
function idsOf(servers: string[], parts: Parts): string[] {
  return servers.flatMap((server) => parts.catalog.find(server)?.tools.map(({ name }) => toolId(server, name)) ?? []);
}
