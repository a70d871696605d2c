/** The objects for servers: `demo.list_orders(args)`, `servers["my-server"]`, `callTool(…)`. */
import type { Namespace } from "../contract.ts";
import { call, noticed, ToolError, targetOf } from "./calls.ts";
import { guestConsole } from "./console.ts";
import { customInspect, type Inspect, type InspectOptions } from "./inspect.ts";
import { callKind, textFunction } from "./kinds.ts";
import { pagesOf } from "./pages.ts";
import { serverObject } from "./server-functions.ts";

type Tool = ((args?: unknown) => Promise<unknown>) & {
  raw: (args?: unknown) => Promise<unknown>;
  pages: (args?: unknown) => AsyncGenerator<unknown, void, undefined>;
};

function toolOf(namespace: string, name: string): Tool {
  const value = targetOf(namespace, name, callKind.value);
  const { argument } = textFunction;
  const takesText = namespace === textFunction.namespace && name === textFunction.name;
  // `model.ask("…", { schema })` is `model.ask({ prompt: "…", schema })`.
  const given = (args: unknown, more: unknown) =>
    takesText && typeof args === "string" ? { ...Object(more), [argument]: args } : args;
  const tool = ((args?: unknown, more?: unknown) => call(value, given(args, more))) as Tool;
  const raw = (args?: unknown, more?: unknown) => call(targetOf(namespace, name, callKind.raw), given(args, more));
  const pages = (args?: unknown) => pagesOf(targetOf(namespace, name, callKind.page), args);
  Object.defineProperties(tool, { raw: { value: raw }, pages: { value: pages }, name: { value: name } });
  return tool;
}

/** Tools that the program read and that do not exist, such as `demo.nope`. They help to explain a failure. */
export const missed: string[] = [];

/** Properties that the language and the console read from any object. */
const asked = new Set(["then", "toJSON", "constructor", "toString", "valueOf", "inspect"]);

/**
 * Makes the object for a server. It does not inherit from Object, because a tool may be called `constructor`. An unknown tool is
 * undefined, like any missing property, and is recorded. Hidden tools can be used by name.
 */
function objectOf(namespace: Namespace): Record<string, Tool> {
  const { functions, hidden = [] } = namespace;
  const object: Record<string, Tool> = serverObject(namespace.name);
  for (const { name, jsName } of functions === "any" ? [] : functions) {
    const tool = toolOf(namespace.name, name);
    // A getter, because a Proxy around the server could not return anything else for a constant property.
    const shared = { get: () => tool };
    if (jsName !== undefined) Object.defineProperty(object, jsName, { ...shared, enumerable: true });
    if (jsName !== name && !Object.hasOwn(object, name))
      Object.defineProperty(object, name, { ...shared, enumerable: jsName === undefined });
  }
  const unlisted: Record<string, Tool> = Object.create(null);
  for (const { name, jsName } of hidden) {
    const tool = toolOf(namespace.name, name);
    for (const key of [jsName, name]) if (key !== undefined) unlisted[key] ??= tool;
  }
  Object.defineProperty(object, customInspect, { value: showTools });
  const shownName = namespace.jsName ?? namespace.name;
  return new Proxy(Object.freeze(object), {
    has: (target, key) => key in target || key in unlisted || (functions === "any" && !asked.has(String(key))),
    get: (target, key) => {
      if (key in target) return Reflect.get(target, key);
      if (typeof key !== "string") return undefined;
      if (key in unlisted) return unlisted[key];
      // With `then`, `await server` would call a tool.
      if (functions === "any" && key !== "then") return toolOf(namespace.name, key);
      if (!asked.has(key) && missed.push(`${shownName}.${key}`) > 20) missed.shift();
      return undefined;
    },
  });
}

function showTools(this: object, _depth: number, options: InspectOptions, inspect: Inspect): string {
  return inspect({ ...this }, options);
}

/** Every server by its own name and by its JS name. */
export const servers: Record<string, Record<string, Tool>> = Object.create(null);

/** Throws ToolError if there is no such server. */
export function serverCalled(name: string): Record<string, Tool> {
  const found = servers[name];
  if (found) return found;
  throw new ToolError({
    code: "SERVER_NOT_FOUND",
    message: `No server is called "${name}"`,
    hint: `Servers: ${Object.keys(servers).join(", ") || "none"}`,
  });
}

/** Returns the tools that were found, and warns about servers that were not searched. */
function foundTools(result: unknown): unknown {
  const { found, notSearched } = result as { found: unknown; notSearched: Record<string, string> };
  for (const [server, why] of Object.entries(notSearched)) {
    guestConsole.warn(`tools.search: ${server} was not searched: ${why}`);
  }
  return found;
}

/** The tool of that name. Only the host knows whether it exists: the server may have more tools than the guest was given. */
export function toolCalled(server: string, tool: string): Tool {
  return serverCalled(server)[tool] ?? toolOf(server, tool);
}

/** Calls a tool whose name is known only at run time. */
export async function callTool(server: string, tool: string, args?: unknown): Promise<unknown> {
  return toolCalled(server, tool)(args);
}

/** Defines the globals. */
export function defineNamespaces(namespaces: Namespace[]): void {
  const ask = (name: string, args: unknown) => call(targetOf("", name, callKind.value), args);
  for (const namespace of namespaces) {
    const object = objectOf(namespace);
    servers[namespace.name] = object;
    if (namespace.jsName === undefined) continue;
    Object.defineProperty(globalThis, namespace.jsName, { value: object, enumerable: true, configurable: true });
    if (!(namespace.jsName in servers)) Object.defineProperty(servers, namespace.jsName, { value: object });
  }
  Object.freeze(servers);

  const globals = {
    servers,
    tools: Object.freeze({
      search: (query: unknown, limit?: unknown) =>
        noticed(ask("search", { query, limit }).then(foundTools), "tools.search"),
      describe: (id: unknown) => ask("describe", { id }),
      list: (server?: unknown) => ask("list", { server }),
    }),
    callTool,
    __mcp_call: async (name: string, args?: unknown) => {
      // Names of servers and tools may contain "__": the longest name of a server that fits is meant.
      const known = Object.getOwnPropertyNames(servers).filter((server) => name.startsWith(`${server}__`));
      const longest = known.reduce((one, other) => (other.length > one.length ? other : one), "");
      const server = longest || (name.split("__", 1)[0] ?? "");
      return callTool(server, name.slice(server.length + 2), args);
    },
  };
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(globalThis, name, { value, configurable: true });
}
