/** The servers as the sandbox sees them: namespaces of functions, and one way to call any of them. */
import type { Progress } from "@modelcontextprotocol/sdk/types.js";
import { objectJson } from "../clients/decoding/large-json.ts";
import { oneLine } from "../clients/notices.ts";
import type { CallOptions } from "../clients/pool.ts";
import { type ToolResult, toolValue } from "../clients/result.ts";
import { ClaudikinsError } from "../errors.ts";
import type { JsonObject } from "../json-object.ts";
import { didYouMean } from "../near-names.ts";
import { argumentProblems } from "../registry/arguments/argument-problems.ts";
import { requiredArguments } from "../registry/json-schema.ts";
import type { RegistryServer, RegistryTool } from "../registry/model.ts";
import { signature } from "../registry/signature.ts";
import type { BindingCall, Bindings, BindingValue, Namespace, Suggestion } from "../sandbox/contract.ts";
import { isSearchQuick, search } from "../search/search.ts";
import { argumentsOf, type Given } from "./call-arguments.ts";
import { CodeSubscriptions } from "./code-subscriptions.ts";
import { counted } from "./counted-call.ts";
import type { Parts } from "./parts.ts";
import { progressText } from "./progress-text.ts";
import { registryFunction } from "./registry-functions.ts";
import { serverFunction } from "./server-functions.ts";

export interface BindingOptions {
  signal?: AbortSignal | undefined;
  /** Told in a line what has happened: a call has ended, or its server says how far it is. */
  onProgress?: ((line: string) => void) | undefined;
  /** Whether the results would have gone into the context of an agent's model. */
  isForAgent?: boolean | undefined;
}

/**
 * Bindings for one piece of code. A server that the code names and the registry does not know is asked for its tools
 * first, so that exact names are known before anything runs; one that cannot answer fails only where it is called.
 */
export async function bindingsFor(
  written: string,
  parts: Parts,
  { signal, onProgress, isForAgent = false }: BindingOptions = {},
): Promise<Bindings> {
  const source = written.slice(0, maxSource);
  const mentioned = mentionedServers(source, parts);
  // Which tools are denied is written down nowhere: the server is asked, so that a call of one is told why it is not made.
  const isPartlyKnown = (name: string) =>
    parts.catalog.freshness(name) !== "listed" && parts.catalog.find(name)?.denied !== undefined;
  await learnAll(
    mentioned.filter((name) => !parts.catalog.find(name) || isPartlyKnown(name)),
    parts,
    signal,
  );
  await parts.catalog.changesListed(mentioned, signal);
  const subscriptions = new CodeSubscriptions(parts.pool);
  return {
    namespaces: parts.catalog.names.map(({ name, jsName }) => {
      const { description } = parts.config.servers.get(name) ?? {};
      return { ...namespaceOf(name, jsName, source, parts), description };
    }),
    suggest: (words, limit) => suggestions(words, limit, parts),
    call: (call, callSignal, clock) =>
      counted(call, { parts, signal: callSignal, taken: isForAgent }, () =>
        toldCall(parts, call, { signal: callSignal, clock, subscriptions }, onProgress),
      ),
  };
}

/**
 * Asks the servers that the code names once more, those that this process has not asked yet: what the registry says of
 * them may be old. False when there was nobody to ask.
 */
export async function askAgain(source: string, parts: Parts, signal?: AbortSignal): Promise<boolean> {
  const old = mentionedServers(source, parts).filter((name) => parts.catalog.freshness(name) !== "listed");
  await learnAll(old, parts, signal);
  return old.length > 0;
}

/** Without those that are closed, which nobody asks. */
function mentionedServers(written: string, parts: Parts): string[] {
  const source = written.slice(0, maxSource);
  return parts.catalog.names
    .filter(({ name }) => !parts.catalog.isClosed(name))
    .filter(({ name, jsName }) => mentions(source, name) || (jsName && mentions(source, jsName)))
    .map(({ name }) => name);
}

async function learnAll(names: string[], parts: Parts, signal: AbortSignal | undefined): Promise<void> {
  await Promise.all(names.map((name) => parts.catalog.fetchPatiently(name, signal)));
}

/** Programs are not longer; of what is, nothing is run. */
const maxSource = 500_000;

/** True when the text has the name as a whole word; also in strings and comments, which costs a question too many at most. */
function mentions(source: string, name: string): boolean {
  for (let at = source.indexOf(name); at !== -1; at = source.indexOf(name, at + 1)) {
    if (!isWordAt(source, at - 1) && !isWordAt(source, at + name.length)) return true;
  }
  return false;
}

/** A letter of ASCII, a digit, `_` or `$`. Without a regular expression: it is asked for every place that has the name. */
function isWordAt(source: string, at: number): boolean {
  const code = source.charCodeAt(at);
  const isLetter = (code | 32) >= 97 && (code | 32) <= 122;
  return isLetter || (code >= 48 && code <= 57) || code === 95 || code === 36;
}

function namespaceOf(name: string, jsName: string | undefined, source: string, parts: Parts): Namespace {
  const known = parts.catalog.find(name);
  if (!known) return { name, jsName, functions: "any" };
  const server = { ...known, jsName };
  const all = parts.catalog.findWithDenied(name)?.tools ?? [];
  const shown = new Set(known.tools.map((tool) => tool.name));
  // The code is told of no denied tool that it does not name itself.
  const isNamed = (tool: RegistryTool) =>
    mentions(source, tool.name) || (tool.jsName !== undefined && mentions(source, tool.jsName));
  return {
    name,
    jsName,
    hidden: all
      .filter((tool) => !shown.has(tool.name) && isNamed(tool))
      .map((tool) => ({ name: tool.name, jsName: tool.jsName })),
    mayHide: parts.catalog.mayHide(name),
    functions: known.tools.map((tool) => ({
      name: tool.name,
      jsName: tool.jsName,
      get inputSchema() {
        const { inputSchema } = tool;
        return { ...inputSchema, required: [...requiredArguments(inputSchema, inputSchema)] };
      },
      get signature() {
        return signature(server, tool);
      },
    })),
  };
}

/** Of the best one's score; below it tools share a word with what was written, and little more. */
const suggestedFrom = 0.4;

/** Nothing is started for it, and a damaged registry suggests nothing. */
function suggestions(words: string, limit: number, parts: Parts): Suggestion[] {
  if (parts.catalog.index.servers.length === 0 || !isSearchQuick(parts.catalog)) return [];
  const { tools } = search(words, limit, parts.catalog);
  const best = tools[0]?.score ?? 0;
  return tools
    .filter(({ kind, score }) => kind === "tool" && score >= best * suggestedFrom)
    .map(({ server, name, signature: shown }) => {
      const tool = parts.catalog.find(server)?.tools.find((each) => each.name === name);
      return { server, name: tool?.jsName ?? name, signature: shown };
    });
}

/** One call of a tool by itself: its arguments are checked and its result becomes a value as those of code. */
export async function callOnce(
  { server, tool, args, given }: OneCall,
  parts: Parts,
  signal: AbortSignal,
  onProgress?: BindingOptions["onProgress"],
): Promise<BindingValue> {
  const call: BindingCall = { namespace: server, group: "tools", name: tool, args, raw: false };
  const surroundings: CallSurroundings = { signal, subscriptions: new CodeSubscriptions(parts.pool) };
  if (given) surroundings.argumentsFor = (schema) => argumentsOf(given, schema);
  return counted(call, { parts, signal, taken: false }, () => toldCall(parts, call, surroundings, onProgress));
}

interface OneCall {
  server: string;
  tool: string;
  args: Record<string, unknown>;
  /** In the place of `args`: words of a command line, which become what the tool's schema says. */
  given?: readonly Given[] | undefined;
}

/** Questions about the tools are no calls, and not told of. */
async function toldCall(
  parts: Parts,
  call: BindingCall,
  options: CallSurroundings,
  tell: BindingOptions["onProgress"],
): Promise<BindingValue> {
  const { namespace, group, name } = call;
  if (!tell || namespace === "") return callTool(parts, call, options);
  const tool = oneLine(group === "tools" ? `${namespace}.${name}` : `${namespace}.${group}.${name}`, 100);
  const onProgress = (progress: Progress) => tell(progressText(tool, progress));
  try {
    const value = await callTool(parts, call, { ...options, onProgress });
    tell(`${tool}: done`);
    return value;
  } catch (error) {
    tell(`${tool}: failed`);
    throw error;
  }
}

/** Arguments by what the tool takes, and why they cannot be made. */
export type ArgumentsFor = (inputSchema: JsonObject) => { args: JsonObject; problems: string[] };

export interface CallSurroundings extends Pick<CallOptions, "clock" | "onProgress" | "timeoutMs"> {
  signal: AbortSignal;
  /** Of the execution. */
  subscriptions: CodeSubscriptions;
  /** Where the call's own arguments are not yet what the tool takes. */
  argumentsFor?: ArgumentsFor;
}

async function callTool(parts: Parts, call: BindingCall, options: CallSurroundings): Promise<BindingValue> {
  const { namespace } = call;
  const { signal, subscriptions } = options;
  if (call.group !== "tools") {
    const value = await serverFunction(call, parts.pool, subscriptions, options);
    return { json: JSON.stringify(value ?? null) };
  }
  if (namespace === "") return { json: JSON.stringify(await registryFunction(call.name, call.args, parts, signal)) };
  const { tool, result } = await toolResult(parts, call, options);
  return call.raw ? { json: objectJson(result) } : toolValue(result, `${namespace}.${tool.name}`);
}

/** The result of a tool as it came, `isError` included, and the tool that the call means. */
export async function toolResult(
  parts: Parts,
  call: BindingCall,
  options: CallSurroundings,
): Promise<{ tool: RegistryTool; result: ToolResult }> {
  const { namespace } = call;
  const { signal, clock, onProgress, timeoutMs } = options;
  const { tool: found, args } = await wantedTool(parts, call, options);
  const repeatable = isRepeatable(found);
  const calling = parts.pool.callTool(namespace, found.name, args, {
    signal,
    clock,
    onProgress,
    timeoutMs,
    repeatable,
  });
  const result: ToolResult = await calling.catch(async (error: unknown) => {
    await failIfGone(parts, namespace, found.name, signal);
    throw withSignature(error, parts.catalog.find(namespace), found);
  });
  if (result["isError"] === true) await failIfGone(parts, namespace, found.name, signal);
  const server = parts.catalog.find(namespace);
  if (server) parts.catalog.observer.see({ server, tool: found, args, result });
  return { tool: found, result };
}

/** A server that takes a tool away may answer anything to a call of it. */
async function failIfGone(parts: Parts, namespace: string, name: string, signal: AbortSignal): Promise<void> {
  await parts.catalog.changesListed([namespace], signal);
  const server = parts.catalog.findWithDenied(namespace);
  if (server && !findTool(server, name)) throw unknownTool(parts, namespace, name);
}

/** What the server refuses shows what it takes, as what we refuse does. */
function withSignature(error: unknown, server: RegistryServer | undefined, tool: RegistryTool): unknown {
  if (!(error instanceof ClaudikinsError) || error.code !== "INVALID_ARGUMENTS" || !server) return error;
  return new ClaudikinsError(error.code, error.message, { hint: signature(server, tool), cause: error });
}

/** What the server itself says of the tool: calling it a second time changes nothing. */
function isRepeatable({ annotations }: RegistryTool): boolean {
  return annotations?.["readOnlyHint"] === true || annotations?.["idempotentHint"] === true;
}

interface Wanted {
  tool: RegistryTool;
  args: JsonObject;
}

/**
 * The tool that a call means, its arguments checked. What the registry refuses, the server is asked about first; of what the
 * config denies nothing more is said. Throws what it is denied with.
 */
async function wantedTool(parts: Parts, call: BindingCall, options: CallSurroundings): Promise<Wanted> {
  const { namespace } = call;
  // Whatever the name means.
  const known = parts.catalog.findWithDenied(namespace);
  if (parts.catalog.isClosed(namespace)) {
    parts.pool.refuseDenied(namespace, (known && findTool(known, call.name))?.name ?? call.name);
  }
  const isListed = parts.catalog.freshness(namespace) === "listed";
  if (known && !isListed) {
    const tool = findTool(known, call.name);
    if (tool) parts.pool.refuseDenied(namespace, tool.name);
    const { args, problems } = tool ? await checkedArguments(tool, call, parts, options) : nothing;
    if (tool && problems.length === 0) return { tool, args };
  }
  const server = isListed && known ? known : await parts.catalog.fetch(namespace, options.signal);
  const tool = findTool(server, call.name);
  if (!tool) throw unknownTool(parts, namespace, call.name);
  parts.pool.refuseDenied(namespace, tool.name);
  const { args, problems } = await checkedArguments(tool, call, parts, options);
  if (problems.length === 0) return { tool, args };
  throw new ClaudikinsError("INVALID_ARGUMENTS", `${namespace}.${tool.jsName ?? tool.name}: ${problems.join("; ")}`, {
    hint: signature(server, tool),
  });
}

const nothing = { args: {}, problems: [] };

async function checkedArguments(
  { inputSchema }: RegistryTool,
  call: BindingCall,
  { config }: Parts,
  { argumentsFor }: CallSurroundings,
): Promise<{ args: JsonObject; problems: string[] }> {
  const { args, problems } = argumentsFor?.(inputSchema) ?? { args: call.args, problems: [] };
  if (problems.length > 0 || config.check === "off") return { args, problems };
  return { args, problems: await argumentProblems(inputSchema, args) };
}

/** By its own name, else by its name in code. */
function findTool({ tools }: RegistryServer, name: string): RegistryTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.jsName === name);
}

function unknownTool(parts: Parts, server: string, name: string): ClaudikinsError {
  const names = parts.catalog.find(server)?.tools.map((tool) => tool.jsName ?? tool.name) ?? [];
  return new ClaudikinsError("TOOL_NOT_FOUND", `${server} has no tool "${name}"`, {
    hint: didYouMean(name, names) ?? toolsText(names),
  });
}

/** Tools that an error names at most. */
const maxNames = 20;

function toolsText(names: string[]): string {
  if (names.length === 0) return "It has no tools.";
  const more = names.length > maxNames ? ` and ${names.length - maxNames} more` : "";
  return `Its tools: ${names.slice(0, maxNames).join(", ")}${more}`;
}
