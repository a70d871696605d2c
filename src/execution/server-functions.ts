/**
 * The functions that a server has beside its tools: `server.resources.list()`, `server.prompts.get(name, args)`. Calls that
 * continue a subscription name no server.
 */
import type { CallOptions, Pool } from "../clients/pool.ts";
import { ClaudikinsError } from "../errors.ts";
import type { BindingCall } from "../sandbox/contract.ts";
import type { CodeSubscriptions } from "./code-subscriptions.ts";

/** Calls a function by its group and name. Values have the shapes of MCP. Throws what the pool throws. */
export async function serverFunction(
  call: BindingCall,
  pool: Pool,
  subscriptions: CodeSubscriptions,
  options: CallOptions & { signal: AbortSignal },
): Promise<unknown> {
  const { namespace: server, group, name, args } = call;
  switch (`${group}.${name}`) {
    case "resources.list":
      return { resources: await pool.listResources(server, options) };
    case "resources.templates":
      return { resourceTemplates: await pool.listResourceTemplates(server, options) };
    case "resources.read":
      return pool.readResource(server, text(args["uri"], `${server}.resources.read("<uri>")`), options);
    case "resources.subscribe":
      return subscriptions.subscribe(
        server,
        text(args["uri"], `${server}.resources.subscribe("<uri>")`),
        options.signal,
      );
    case "resources.next":
      return subscriptions.next(Number(args["id"]));
    case "resources.unsubscribe":
      return subscriptions.unsubscribe(Number(args["id"]));
    case "prompts.list":
      return { prompts: await pool.listPrompts(server, options) };
    case "prompts.get": {
      const prompt = text(args["name"], `${server}.prompts.get("<name>", { …arguments })`);
      return pool.getPrompt(server, prompt, Object(args["arguments"] ?? {}), options);
    }
    default:
      throw new ClaudikinsError("TOOL_NOT_FOUND", `${server}.${group} has no function "${name}"`);
  }
}

function text(value: unknown, signature: string): string {
  if (typeof value === "string" && value !== "") return value;
  throw new ClaudikinsError(
    "INVALID_ARGUMENTS",
    `${signature.slice(0, signature.indexOf("("))} takes a string, got ${JSON.stringify(value) ?? "nothing"}`,
    {
      hint: signature,
    },
  );
}
