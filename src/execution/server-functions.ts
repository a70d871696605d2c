/**
 * The functions that a server has beside its tools: `server.resources.list()`, `server.prompts.get(name, args)`. Values have the
 * shapes of MCP.
 */
import type { CallOptions, Pool } from "../clients/pool.ts";
import { ClaudikinsError } from "../errors.ts";
import type { JsonObject } from "../json-object.ts";
import type { BindingCall } from "../sandbox/contract.ts";
import type { CodeSubscriptions } from "./code-subscriptions.ts";

interface Around {
  pool: Pool;
  subscriptions: CodeSubscriptions;
  options: CallOptions & { signal: AbortSignal };
}

type ServerFunction = (server: string, args: JsonObject, around: Around) => unknown;

/** By group and name. Calls that continue a subscription name no server. */
const functions: Record<string, ServerFunction> = {
  "resources.list": async (server, _, { pool, options }) => ({ resources: await pool.listResources(server, options) }),
  "resources.templates": async (server, _, { pool, options }) => ({
    resourceTemplates: await pool.listResourceTemplates(server, options),
  }),
  "resources.read": (server, { uri }, { pool, options }) =>
    pool.readResource(server, text(uri, `${server}.resources.read("<uri>")`), options),
  "resources.subscribe": (server, { uri }, { subscriptions, options }) =>
    subscriptions.subscribe(server, text(uri, `${server}.resources.subscribe("<uri>")`), options.signal),
  "resources.next": (_, { id }, { subscriptions }) => subscriptions.next(Number(id)),
  "resources.unsubscribe": (_, { id }, { subscriptions }) => subscriptions.unsubscribe(Number(id)),
  "prompts.list": async (server, _, { pool, options }) => ({ prompts: await pool.listPrompts(server, options) }),
  "prompts.get": (server, { name, arguments: given = {} }, { pool, options }) =>
    pool.getPrompt(server, text(name, `${server}.prompts.get("<name>", { …arguments })`), Object(given), options),
};

export function isServerFunction(group: string, name: string): boolean {
  return Object.hasOwn(functions, `${group}.${name}`);
}

/** Throws what the pool throws. */
export async function serverFunction(call: BindingCall, around: Around): Promise<unknown> {
  const { namespace: server, group, name, args } = call;
  if (isServerFunction(group, name)) return functions[`${group}.${name}`]?.(server, args, around);
  throw new ClaudikinsError("TOOL_NOT_FOUND", `${server}.${group} has no function "${name}"`);
}

function text(value: unknown, signature: string): string {
  if (typeof value === "string" && value !== "") return value;
  const name = signature.slice(0, signature.indexOf("("));
  throw new ClaudikinsError("INVALID_ARGUMENTS", `${name} takes a string, got ${JSON.stringify(value) ?? "nothing"}`, {
    hint: signature,
  });
}
