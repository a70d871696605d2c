/** Which way a session is served: `auto` is decided here, once, from what the registry knows. */
import type { JsonObject } from "../../clients/result.ts";
import type { Toolbox } from "../../flows/toolbox.ts";
import { estimateTokens } from "../../token-estimate.ts";
import { ProxiedTools } from "./tools.ts";

export function sessionMode(toolbox: Toolbox): "code" | "direct" {
  const { mode, servers, directTokens } = toolbox.config;
  if (mode !== "auto") return mode;
  const unknown = [...servers.values()].filter(({ name, needs }) => needs.length === 0 && !toolbox.known(name));
  // What nobody has seen may be of any size.
  if (servers.size === 0 || unknown.length > 0) return "code";
  return estimatedTokens(new ProxiedTools(toolbox).definitions()) <= directTokens ? "direct" : "code";
}

/** About what tools take of a model's context, in tokens of o200k: names, descriptions and schemas. */
export function estimatedTokens(tools: readonly JsonObject[]): number {
  const seen = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return Math.ceil(seen.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0));
}
