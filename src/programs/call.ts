/**
 * One call of a tool, whoever makes it: find the tool, check the arguments, ask the policy, send the call, read the result, give the value.
 * `call-observers.ts` lists the observers of these steps.
 */

import { ClaudikinsError } from "../base/errors.ts";
import type { JsonObject } from "../base/json-object.ts";
import { didYouMean } from "../base/near-names.ts";
import { ownNameOf } from "../config/tool-edits.ts";
import type { Call } from "../policy/call.ts";
import type { Caller } from "../policy/flow/session-reads.ts";
import { heldBack } from "../policy/refusals.ts";
import { observedCall } from "../sandbox/call-events.ts";
import type { BindingCall, BindingValue, CallRequest } from "../sandbox/contract.ts";
import { rawValue, type ToolResult, toolValue } from "../servers/result.ts";
import { areValid, argumentProblems } from "../tools/arguments/argument-problems.ts";
import { exactArguments } from "../tools/arguments/exact-arguments.ts";
import type { ToolCatalog } from "../tools/catalog/tool-catalog.ts";
import { firstAnswerMs } from "../tools/limits.ts";
import { findTool, type RegistryServer, type RegistryTool } from "../tools/model.ts";
import { signature } from "../tools/signature.ts";
import { type ArgumentWord, argumentsOf, type CallArguments } from "./argument-words.ts";
import { callSpans, observersOf, withinSpan } from "./call-observers.ts";
import type { DryRun } from "./dry-run/dry-run.ts";
import { maxNamedTools } from "./limits.ts";
import type { Parts } from "./parts.ts";
import type { Tell } from "./progress-text.ts";
import type { CallValue, ToolCallListener } from "./tool-call-events.ts";

/** Hears what happens to a call. In a dry run, it also decides whether the call is made. */
export interface CallObserver {
  /** The number of the call in its execution. */
  number: number;
  /** Gets what happens to the call. */
  listener: ToolCallListener;
  /** Given for a call of a dry run. */
  dryRun?: DryRun | undefined;
}

/** Lets the call tell the listener what was decided about it, when it leaves, and with `wantsProgress`, how far the server is. Returns the call. */
export function observedBy(call: Call, { number, listener }: CallObserver, wantsProgress: boolean): Call {
  call.onSend = (repeatable) => listener({ type: "sent", call: number, repeatable });
  call.onDecided = (decided) => void listener({ type: "decided", call: number, ...decided });
  if (wantsProgress) call.onProgress = (progress) => void listener({ type: "progress", call: number, progress });
  return call;
}

/** A tool of a server, by its own name or its name in code, and its arguments. */
export interface WantedCall extends Pick<BindingCall, "namespace" | "name" | "args" | "argsJson"> {
  /** The server and the tool, if the caller has found them: a saved program that only this caller sees. */
  known?: { server: RegistryServer; tool: RegistryTool } | undefined;
  /** Makes the arguments from the tool's schema, and says why they cannot be made. Without it, the call has them. */
  argumentsFor?: ((inputSchema: JsonObject) => CallArguments) | undefined;
}

/**
 * Calls a tool. Returns its result as it came, `isError` included, and the tool that the call means.
 * Throws TOOL_NOT_FOUND, INVALID_ARGUMENTS, POLICY_DENIED, and what the pool throws.
 */
export async function callTool(
  wanted: WantedCall,
  parts: Parts,
  call: Call,
  observer: CallObserver,
): Promise<{ tool: RegistryTool; result: ToolResult }> {
  const { namespace: server } = wanted;
  const { tool, args } = knownCall(wanted, parts) ?? (await listedCall(wanted, parts, call));
  const planned =
    observer.dryRun && (await planCall(wanted, { tool, args }, parts, call, { ...observer, dryRun: observer.dryRun }));
  if (planned) return { tool, result: planned };
  call.repeatable ??= isRepeatable(tool);
  let result: ToolResult;
  try {
    // The pool asks the policy, and sends the call once it is allowed.
    result = await parts.pool.callTool(server, tool.name, args, call);
  } catch (error) {
    if (!wanted.known) await failIfRemoved(server, tool.name, parts, call.signal);
    throw withSignature(error, wanted.known?.server ?? parts.catalog.find(server), tool);
  }
  // What only this caller sees is observed for nobody.
  const seen = wanted.known ? undefined : seeResult(server, { tool, args }, result, parts, call, observer);
  if (seen) await seen;
  return { tool, result };
}

/** Calls a tool as a program does. `raw` keeps the whole result instead of its value. */
export async function callForValue(
  wanted: WantedCall & Pick<BindingCall, "raw">,
  parts: Parts,
  call: Call,
  observer: CallObserver,
): Promise<BindingValue> {
  const { tool, result } = await callTool(wanted, parts, call, observer);
  return wanted.raw ? rawValue(result) : toolValue(result, `${wanted.namespace}.${tool.name}`);
}

/**
 * Makes a call outside a program, and tells the observers. The clock of the call then measures how long a person was asked. Without a
 * caller, a command makes the call. `args` are its arguments, if they are known.
 */
export function singleCall<Value extends CallValue>(
  request: CallRequest,
  parts: Parts,
  { signal, ...passed }: Call & { signal: AbortSignal },
  { tell, args }: { tell?: Tell | undefined; args?: unknown },
  make: (call: Call, observer: CallObserver) => Promise<Value>,
): Promise<Value> {
  const { clock, trace, caller } = passed;
  const spans = callSpans(parts, { trace });
  const maker = { startedBy: caller ? "serve" : "call", caller, args } as const;
  const observer = { number: 1, listener: observersOf({ parts, maker, tell, spans }) };
  return observedCall({ call: observer.number, request, signal, clock, listener: observer.listener }, (clock) =>
    withinSpan(spans, { call: observer.number, trace }, (trace) =>
      make(observedBy({ ...passed, signal, clock, trace }, observer, tell !== undefined), observer),
    ),
  );
}

export interface OnceOptions extends Pick<Call, "trace" | "caller"> {
  tell?: Tell | undefined;
}

/** One call outside a program. With `given`, the arguments are words of a command line. */
export function callOnce(
  {
    server,
    tool,
    args,
    given,
  }: { server: string; tool: string; args: JsonObject; given?: readonly ArgumentWord[] | undefined },
  parts: Parts,
  signal: AbortSignal,
  { tell, ...made }: OnceOptions = {},
): Promise<BindingValue> {
  const request = { namespace: server, group: "tools", name: tool, raw: false } as const;
  const argumentsFor = given && ((schema: JsonObject) => argumentsOf(given, schema));
  return singleCall(request, parts, { signal, ...made }, { tell, ...(given ? {} : { args }) }, (call, observer) =>
    callForValue({ ...request, args, argumentsFor }, parts, call, observer),
  );
}

interface FoundCall {
  tool: RegistryTool;
  args: JsonObject;
}

/** The tool that a call means, if it is known and the arguments are certainly valid. A denied tool is refused before any other error. */
export function knownCall(wanted: WantedCall, parts: Parts): FoundCall | undefined {
  const { namespace, name, args, argsJson, argumentsFor } = wanted;
  if (wanted.known) return undefined;
  const tool = knownTool(namespace, name, parts);
  if (!tool || argsJson === undefined || argumentsFor) return undefined;
  const exact = exactArguments(tool.inputSchema, args, argsJson);
  const isValid = parts.config.check === "off" || areValid(tool.inputSchema, exact.checked, argsJson);
  return isValid ? { tool, args: exact.args } : undefined;
}

/**
 * The tool that a call means, with checked arguments. What is stored may be older than the server: before a call is refused for an
 * unknown tool or a wrong argument, the server is asked for its tools.
 */
export async function listedCall(wanted: WantedCall, parts: Parts, call: Call): Promise<FoundCall> {
  if (wanted.known) {
    const { server, tool } = wanted.known;
    parts.pool.refuseDenied(server.name, tool.name);
    const { args, problems } = await checkedArguments(wanted, tool, parts);
    if (problems.length === 0) return { tool, args };
    throw wrongArguments(server, tool, problems);
  }
  const find = async (): Promise<FoundCall> => {
    const { namespace: server, name } = wanted;
    const known = knownTool(server, name, parts);
    if (known) {
      const { args, problems } = await checkedArguments(wanted, known, parts);
      if (problems.length === 0) return { tool: known, args };
    }
    const { tool, listed } = await listedTool(server, name, parts, call.signal);
    const { args, problems } = await checkedArguments(wanted, tool, parts);
    if (problems.length === 0) return { tool, args };
    throw wrongArguments(listed, tool, problems);
  };
  return parts.pool.signedIn(wanted.namespace, find, call);
}

function wrongArguments(server: RegistryServer, tool: RegistryTool, problems: readonly string[]): ClaudikinsError {
  const what = `${server.name}.${tool.jsName ?? tool.name}`;
  return new ClaudikinsError("INVALID_ARGUMENTS", `${what}: ${problems.join("; ")}`, { hint: signature(server, tool) });
}

/** The tool as it is known. Throws POLICY_DENIED. */
function knownTool(server: string, name: string, { catalog, pool }: Parts): RegistryTool | undefined {
  const known = catalog.findWithDenied(server);
  const tool = known && findTool(known, name);
  if (tool || catalog.isClosed(server)) pool.refuseDenied(server, tool?.name ?? name);
  return tool;
}

/** The tool as its server lists it. Throws TOOL_NOT_FOUND, POLICY_DENIED, and what the pool throws. */
async function listedTool(
  server: string,
  name: string,
  { catalog, pool }: Parts,
  signal: AbortSignal | undefined,
): Promise<{ tool: RegistryTool; listed: RegistryServer }> {
  // A held tool may be as before by now.
  if (catalog.heldCalled(server, name))
    await catalog.tools(server, { freshAs: "listed", waitMs: firstAnswerMs, signal });
  const known = catalog.freshness(server) === "listed" ? catalog.findWithDenied(server) : undefined;
  const listed = known ?? (await catalog.tools(server, { signal }));
  const tool = findTool(listed, name);
  const found = tool ? { tool, listed } : known && (await toolNow(server, name, catalog, signal));
  if (!found) throw unknownTool(server, name, catalog);
  pool.refuseDenied(server, found.tool.name);
  return found;
}

/** The tool in a list that the server gives now: a call may have added it. Undefined if it is not there. */
export async function toolNow(
  server: string,
  name: string,
  catalog: ToolCatalog,
  signal: AbortSignal | undefined,
): Promise<{ tool: RegistryTool; listed: RegistryServer } | undefined> {
  await catalog.verify(server, signal);
  const listed = catalog.findWithDenied(server);
  const tool = listed && findTool(listed, name);
  return tool && { tool, listed };
}

async function checkedArguments(
  { args: written, argsJson, argumentsFor }: WantedCall,
  { inputSchema }: RegistryTool,
  { config }: Parts,
): Promise<CallArguments> {
  const given = argumentsFor?.(inputSchema) ?? { args: written, problems: [] };
  const json = given.args === written ? argsJson : undefined;
  const { args, checked } = exactArguments(inputSchema, given.args, json);
  if (given.problems.length > 0 || config.check === "off") return { args, problems: given.problems };
  return { args, problems: await argumentProblems(inputSchema, checked, checked === written ? json : undefined) };
}

/** The made-up result of a dry run; undefined if the call is made. */
async function planCall(
  { namespace: server, argsJson }: WantedCall,
  found: FoundCall,
  parts: Parts,
  { made, caller }: Call,
  { number, listener, dryRun }: CallObserver & { dryRun: DryRun },
): Promise<ToolResult | undefined> {
  const { plannedResult } = await import("./dry-run/plan.ts");
  const recorder = { dryRun, call: number, line: made?.line, listener, caller };
  return plannedResult({ server, ...found, argsJson }, parts, recorder);
}

/** A promise if the server has answered with an error, or a listener needs time. */
function seeResult(
  server: string,
  { tool, args }: FoundCall,
  result: ToolResult,
  parts: Parts,
  { signal, caller }: Call,
  { number, listener }: CallObserver,
): void | Promise<void> {
  const isPrivate = isPrivateResult(server, tool, caller, parts);
  const tell = () => {
    const known = parts.catalog.find(server);
    return known && listener({ type: "answered", call: number, server: known, tool, args, result, isPrivate });
  };
  return result["isError"] === true ? failIfRemoved(server, tool.name, parts, signal).then(tell) : tell();
}

/** A saved program returns what its session has read, in any form. */
export function isPrivateResult(
  server: string,
  tool: RegistryTool,
  caller: Caller | undefined,
  { config, pool }: Parts,
): boolean {
  const entry = config.servers.get(server);
  // Its results have another type for each call.
  if (entry?.isModel) return true;
  if (entry?.isSavedPrograms) return (caller?.reads ?? pool.reads).hasRead("private");
  return pool.isSaidPrivate(server, ownNameOf(entry?.edits, tool) ?? tool.name);
}

/** Throws TOOL_NOT_FOUND if the server has removed the tool, and DEFINITION_CHANGED if it is held: the server may answer anything to a call of it. */
async function failIfRemoved(
  server: string,
  name: string,
  { catalog }: Parts,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (!catalog.findWithDenied(server)) return;
  const known = await catalog.tools(server, { freshAs: "stored", waitMs: firstAnswerMs, signal });
  if (!findTool(known, name)) throw unknownTool(server, name, catalog);
}

/** Adds the tool's signature to a refusal of the server, as our own refusals have it. */
function withSignature(error: unknown, server: RegistryServer | undefined, tool: RegistryTool): unknown {
  if (!(error instanceof ClaudikinsError) || error.code !== "INVALID_ARGUMENTS" || !server) return error;
  return new ClaudikinsError(error.code, error.message, {
    hint: signature(server, tool),
    cause: error,
    data: error.data,
  });
}

/** Whether a second call changes nothing, according to the server's annotations. */
export function isRepeatable(tool: RegistryTool | undefined): boolean {
  const { readOnlyHint, idempotentHint } = tool?.annotations ?? {};
  return readOnlyHint === true || idempotentHint === true;
}

/** The error for a tool that the server does not list, or that is held. */
function unknownTool(server: string, name: string, catalog: ToolCatalog): ClaudikinsError {
  const held = catalog.heldCalled(server, name);
  if (held) return heldBack({ server, tool: name }, held.why);
  const names = catalog.find(server)?.tools.map((tool) => tool.jsName ?? tool.name) ?? [];
  const more = names.length > maxNamedTools ? ` and ${names.length - maxNamedTools} more` : "";
  const all = names.length === 0 ? "It has no tools." : `Its tools: ${names.slice(0, maxNamedTools).join(", ")}${more}`;
  return new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${name}"`, {
    hint: didYouMean(name, names) ?? all,
  });
}
