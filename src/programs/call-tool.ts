/**
 * One call of a tool, whoever makes it: find the tool, check its arguments, send the call through the pool, and turn the result
 * into a value. The pool applies the policy and keeps the connection.
 */

import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import { didYouMean } from "../base/near-names.ts";
import type { BindingCall, BindingValue } from "../sandbox/contract.ts";
import { objectJson } from "../servers/decoding/large-json.ts";
import type { CallOptions } from "../servers/pool.ts";
import { type ToolResult, toolValue } from "../servers/result.ts";
import { argumentProblems } from "../tools/arguments/argument-problems.ts";
import type { RegistryServer, RegistryTool } from "../tools/model.ts";
import { signature } from "../tools/signature.ts";
import { argumentsOf, type Given } from "./call-arguments.ts";
import { counted, findTool } from "./counted-call.ts";
import type { Parts } from "./parts.ts";
import { type Tell, tellingEnd } from "./progress-text.ts";

export interface CallToolOptions
  extends Pick<CallOptions, "clock" | "origin" | "made" | "onSend" | "onProgress" | "timeoutMs"> {
  signal: AbortSignal;
  /** Makes the arguments from the tool's schema, and says why they cannot be made. Without it, the call has them. */
  argumentsFor?: (inputSchema: JsonObject) => { args: JsonObject; problems: string[] };
}

/** A tool of a server, by its own name or its name in code. */
type WantedCall = Pick<BindingCall, "namespace" | "name" | "args" | "argsJson">;

/**
 * Calls a tool. Returns its result as it came, `isError` included, and the tool that the call means.
 * Throws TOOL_NOT_FOUND, INVALID_ARGUMENTS, POLICY_DENIED, and what the pool throws.
 */
export async function callTool(
  call: WantedCall,
  parts: Parts,
  options: CallToolOptions,
): Promise<{ tool: RegistryTool; result: ToolResult }> {
  const { namespace: server } = call;
  const { catalog, pool } = parts;
  const { signal, clock, origin, made, onSend, onProgress, timeoutMs } = options;
  const { tool, args } = await checkedCall(call, parts, options);
  const repeatable = isRepeatable(tool);
  let result: ToolResult;
  try {
    result = await pool.callTool(server, tool.name, args, {
      signal,
      clock,
      origin,
      made,
      onProgress,
      timeoutMs,
      repeatable,
      onSend,
    });
  } catch (error) {
    await failIfRemoved(server, tool.name, parts, signal);
    throw withSignature(error, catalog.find(server), tool);
  }
  if (result["isError"] === true) await failIfRemoved(server, tool.name, parts, signal);
  const known = catalog.find(server);
  if (known) catalog.observer.see({ server: known, tool, args, result });
  return { tool, result };
}

/** Calls a tool as a program does. `raw` keeps the whole result instead of its value. */
export async function callForValue(
  call: WantedCall & Pick<BindingCall, "raw">,
  parts: Parts,
  options: CallToolOptions,
): Promise<BindingValue> {
  const { tool, result } = await callTool(call, parts, options);
  return call.raw ? { json: objectJson(result) } : toolValue(result, `${call.namespace}.${tool.name}`);
}

/** One call outside a program, counted. With `given`, the arguments are words of a command line. */
export function callOnce(
  {
    server,
    tool,
    args,
    given,
  }: { server: string; tool: string; args: JsonObject; given?: readonly Given[] | undefined },
  parts: Parts,
  signal: AbortSignal,
  tell?: Tell,
): Promise<BindingValue> {
  const call: BindingCall = { namespace: server, group: "tools", name: tool, args, raw: false };
  const options: CallToolOptions = { signal };
  if (given) options.argumentsFor = (schema) => argumentsOf(given, schema);
  return counted(call, { parts, signal, taken: false }, () =>
    tellingEnd(call, tell, (onProgress) => callForValue(call, parts, { ...options, onProgress })),
  );
}

/**
 * The tool that a call means, with checked arguments. What is stored may be older than the server: before a call is refused for an
 * unknown tool or a wrong argument, the server is asked for its tools. A denied tool is refused before any other error.
 */
async function checkedCall(
  { namespace: server, name, args: written, argsJson }: WantedCall,
  { catalog, pool, config }: Parts,
  { signal, argumentsFor = () => ({ args: written, problems: [] }) }: CallToolOptions,
): Promise<{ tool: RegistryTool; args: JsonObject }> {
  const check = async ({ inputSchema }: RegistryTool) => {
    const { args, problems } = argumentsFor(inputSchema);
    if (problems.length > 0 || config.check === "off") return { args, problems };
    return { args, problems: await argumentProblems(inputSchema, args, args === written ? argsJson : undefined) };
  };
  const stored = catalog.findWithDenied(server);
  if (catalog.isClosed(server)) pool.refuseDenied(server, (stored && findTool(stored, name))?.name ?? name);
  const isListed = catalog.freshness(server) === "listed";
  const storedTool = stored && !isListed ? findTool(stored, name) : undefined;
  if (storedTool) {
    pool.refuseDenied(server, storedTool.name);
    const { args, problems } = await check(storedTool);
    if (problems.length === 0) return { tool: storedTool, args };
  }
  const listed = stored && isListed ? stored : await catalog.fetch(server, signal);
  const tool = findTool(listed, name);
  if (!tool) throw unknownTool(server, name, catalog.find(server));
  pool.refuseDenied(server, tool.name);
  const { args, problems } = await check(tool);
  if (problems.length === 0) return { tool, args };
  throw new ClaudikinsError("INVALID_ARGUMENTS", `${server}.${tool.jsName ?? tool.name}: ${problems.join("; ")}`, {
    hint: signature(listed, tool),
  });
}

/** Throws TOOL_NOT_FOUND if the server has removed the tool: it may answer anything to a call of it. */
async function failIfRemoved(server: string, name: string, { catalog }: Parts, signal: AbortSignal): Promise<void> {
  await catalog.changesListed([server], signal);
  const known = catalog.findWithDenied(server);
  if (known && !findTool(known, name)) throw unknownTool(server, name, catalog.find(server));
}

/** Adds the tool's signature to a refusal of the server, as our own refusals have it. */
function withSignature(error: unknown, server: RegistryServer | undefined, tool: RegistryTool): unknown {
  if (!(error instanceof ClaudikinsError) || error.code !== "INVALID_ARGUMENTS" || !server) return error;
  return new ClaudikinsError(error.code, error.message, { hint: signature(server, tool), cause: error });
}

/** Whether a second call changes nothing, according to the server's annotations. */
export function isRepeatable(tool: RegistryTool | undefined): boolean {
  const { readOnlyHint, idempotentHint } = tool?.annotations ?? {};
  return readOnlyHint === true || idempotentHint === true;
}

/** Tools that an error names at most. */
const maxNames = 20;

function unknownTool(server: string, name: string, known: RegistryServer | undefined): ClaudikinsError {
  const names = known?.tools.map((tool) => tool.jsName ?? tool.name) ?? [];
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : "";
  const all = names.length === 0 ? "It has no tools." : `Its tools: ${names.slice(0, maxNames).join(", ")}${more}`;
  return new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${name}"`, {
    hint: didYouMean(name, names) ?? all,
  });
}
