/** The servers as the sandbox sees them: namespaces of functions, and one way to call any of them. */
import { type ToolResult, toolValue } from "../clients/result.ts";
import { ClaudikinsError } from "../errors.ts";
import { didYouMean } from "../near-names.ts";
import type { RegistryServer, RegistryTool } from "../registry/model.ts";
import { signature } from "../registry/signature.ts";
import { argumentProblems } from "../registry/validate-arguments.ts";
import type { BindingCall, Bindings, BindingValue, Namespace, Suggestion } from "../sandbox/contract.ts";
import { registryFunction } from "./registry-functions.ts";
import { search } from "./search.ts";
import { serverFunction } from "./server-functions.ts";
import type { Toolbox } from "./toolbox.ts";

/** How long code waits for servers that it names and that nobody has asked for their tools yet. */
const firstLookMs = 10_000;

/**
 * Bindings for one piece of code. A server that the code names and the registry does not know is asked for its tools
 * first, so that exact names are known before anything runs; one that cannot answer fails only where it is called.
 */
export async function bindingsFor(source: string, toolbox: Toolbox, signal?: AbortSignal): Promise<Bindings> {
  await learnAll(
    mentionedServers(source, toolbox).filter((name) => !toolbox.known(name)),
    toolbox,
    signal,
  );
  return {
    namespaces: toolbox.names.map(({ name, jsName }) => {
      const { description } = toolbox.config.servers.get(name) ?? {};
      return { ...namespaceOf(name, jsName, toolbox.known(name)), description };
    }),
    suggest: (words, limit) => suggestions(words, limit, toolbox),
    call: (call, callSignal) => callTool(toolbox, call, callSignal),
  };
}

/**
 * Asks the servers that the code names once more, those that this process has not asked yet: what the registry says of
 * them may be old. False when there was nobody to ask.
 */
export async function askAgain(source: string, toolbox: Toolbox, signal?: AbortSignal): Promise<boolean> {
  const old = mentionedServers(source, toolbox).filter((name) => !toolbox.asked(name));
  await learnAll(old, toolbox, signal);
  return old.length > 0;
}

function mentionedServers(source: string, { names }: Toolbox): string[] {
  return names
    .filter(({ name, jsName }) => mentions(source, name) || (jsName && mentions(source, jsName)))
    .map(({ name }) => name);
}

async function learnAll(names: string[], toolbox: Toolbox, signal: AbortSignal | undefined): Promise<void> {
  if (names.length === 0) return;
  const patience = AbortSignal.any([AbortSignal.timeout(firstLookMs), ...(signal ? [signal] : [])]);
  await Promise.all(names.map((name) => toolbox.learn(name, patience).catch(() => {})));
}

/** True when the text has the name as a whole word; also in strings and comments, which costs a question too many at most. */
function mentions(source: string, name: string): boolean {
  for (let at = source.indexOf(name); at !== -1; at = source.indexOf(name, at + 1)) {
    if (!/[\w$]/.test(source[at - 1] ?? "") && !/[\w$]/.test(source[at + name.length] ?? "")) return true;
  }
  return false;
}

function namespaceOf(name: string, jsName: string | undefined, known: RegistryServer | undefined): Namespace {
  if (!known) return { name, jsName, functions: "any" };
  const server = { ...known, jsName };
  return {
    name,
    jsName,
    functions: known.tools.map((tool) => ({
      name: tool.name,
      jsName: tool.jsName,
      inputSchema: tool.inputSchema,
      get signature() {
        return signature(server, tool);
      },
    })),
  };
}

/** Of the best one's score; below it tools share a word with what was written, and little more. */
const suggestedFrom = 0.4;

/** Nothing is started for it, and a damaged registry suggests nothing. */
function suggestions(words: string, limit: number, toolbox: Toolbox): Suggestion[] {
  if (toolbox.index.servers.length === 0) return [];
  const { tools } = search(words, limit, toolbox);
  const best = tools[0]?.score ?? 0;
  return tools
    .filter(({ kind, score }) => kind === "tool" && score >= best * suggestedFrom)
    .map(({ server, name, signature: shown }) => {
      const tool = toolbox.known(server)?.tools.find((each) => each.name === name);
      return { server, name: tool?.jsName ?? name, signature: shown };
    });
}

async function callTool(toolbox: Toolbox, call: BindingCall, signal: AbortSignal): Promise<BindingValue> {
  const { namespace, args } = call;
  if (namespace === "") return { json: JSON.stringify(await registryFunction(call.name, args, toolbox, signal)) };
  if (call.group !== "tools") return { json: JSON.stringify(await serverFunction(call, toolbox.pool, signal)) };
  const found = await wantedTool(toolbox, call, signal);
  const result: ToolResult = await toolbox.pool.callTool(namespace, found.name, args, {
    signal,
    repeatable: isRepeatable(found),
  });
  return call.raw ? { json: JSON.stringify(result) } : toolValue(result, `${namespace}.${found.name}`);
}

/** What the server itself says of the tool: calling it a second time changes nothing. */
function isRepeatable({ annotations }: RegistryTool): boolean {
  return annotations?.["readOnlyHint"] === true || annotations?.["idempotentHint"] === true;
}

/** The tool that a call means, its arguments checked. What the registry refuses, the server is asked about first. */
async function wantedTool(toolbox: Toolbox, call: BindingCall, signal: AbortSignal): Promise<RegistryTool> {
  const { namespace } = call;
  const known = toolbox.known(namespace);
  if (known && !toolbox.asked(namespace)) {
    const tool = findTool(known, call.name);
    if (tool && (await problemsOf(tool, call, toolbox)).length === 0) return tool;
  }
  const server = toolbox.asked(namespace) && known ? known : await toolbox.learn(namespace, signal);
  const tool = findTool(server, call.name);
  if (!tool) throw unknownTool(server, call.name);
  const problems = await problemsOf(tool, call, toolbox);
  if (problems.length === 0) return tool;
  throw new ClaudikinsError("INVALID_ARGUMENTS", `${namespace}.${tool.jsName ?? tool.name}: ${problems.join("; ")}`, {
    hint: signature(server, tool),
  });
}

async function problemsOf(
  { inputSchema }: RegistryTool,
  { args }: BindingCall,
  { config }: Toolbox,
): Promise<string[]> {
  return config.check === "off" ? [] : argumentProblems(inputSchema, args);
}

/** By its own name, else by its name in code. */
function findTool({ tools }: RegistryServer, name: string): RegistryTool | undefined {
  return tools.find((tool) => tool.name === name) ?? tools.find((tool) => tool.jsName === name);
}

function unknownTool({ name: server, tools }: RegistryServer, name: string): ClaudikinsError {
  const names = tools.map((tool) => tool.jsName ?? tool.name);
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
