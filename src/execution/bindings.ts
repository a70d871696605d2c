/** The servers as a program sees them: namespaces of functions, and one way to call any of them. */
import type { CallOptions } from "../clients/pool.ts";
import { requiredArguments } from "../registry/json-schema.ts";
import type { RegistryTool } from "../registry/model.ts";
import { signature } from "../registry/signature.ts";
import type { BindingCall, Bindings, BindingValue, Namespace, Suggestion } from "../sandbox/contract.ts";
import { isSearchQuick, search } from "../search/search.ts";
import { callForValue } from "./call-tool.ts";
import { CodeSubscriptions } from "./code-subscriptions.ts";
import { counted } from "./counted-call.ts";
import type { Parts } from "./parts.ts";
import { type Tell, tellingEnd } from "./progress-text.ts";
import { registryFunction } from "./registry-functions.ts";
import { serverFunction } from "./server-functions.ts";

export interface BindingOptions {
  signal?: AbortSignal | undefined;
  /** Called with a line when a call has ended, or its server reports progress. */
  tell?: Tell | undefined;
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
  { signal, tell, isForAgent = false }: BindingOptions = {},
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
      dispatch(call, parts, { signal: callSignal, clock, subscriptions, tell, isForAgent }),
  };
}

interface DispatchOptions extends Pick<CallOptions, "clock"> {
  signal: AbortSignal;
  /** The subscriptions of the execution. */
  subscriptions: CodeSubscriptions;
  tell: Tell | undefined;
  isForAgent: boolean;
}

/**
 * Makes one call of a program: of a tool, or of a function that a server has beside its tools. Questions about the tools, and what
 * goes on with a subscription, name no server: they are not counted.
 */
async function dispatch(call: BindingCall, parts: Parts, options: DispatchOptions): Promise<BindingValue> {
  const { signal, clock, subscriptions, tell, isForAgent } = options;
  const make = async (onProgress?: CallOptions["onProgress"]): Promise<BindingValue> => {
    if (call.group === "tools") return callForValue(call, parts, { signal, clock, onProgress });
    const value = await serverFunction(call, parts.pool, subscriptions, { signal, clock, onProgress });
    return { json: JSON.stringify(value ?? null) };
  };
  if (call.namespace !== "") {
    return counted(call, { parts, signal, taken: isForAgent }, () => tellingEnd(call, tell, make));
  }
  if (call.group !== "tools") return make();
  return { json: JSON.stringify(await registryFunction(call.name, call.args, parts, signal)) };
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
