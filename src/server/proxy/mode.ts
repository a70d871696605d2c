/** Which way a session is served: `auto` is decided here, once, from what the registry knows. Loads nothing of the SDK. */
import type { ListedTool } from "../../clients/result.ts";
import { estimateTokens } from "../../token-estimate.ts";
import type { Toolbox } from "../../toolbox/toolbox.ts";

export function sessionMode(toolbox: Toolbox): "code" | "direct" {
  const { mode, servers, directTokens } = toolbox.config;
  if (mode !== "auto") return mode;
  if (servers.size === 0) return "code";
  let tokens = 0;
  for (const { name, needs } of servers.values()) {
    // It cannot be started, or nobody may use it: none of its tools is shown.
    if (needs.length > 0 || toolbox.catalog.isClosed(name)) continue;
    const known = toolbox.catalog.find(name);
    // What nobody has seen may be of any size.
    if (!known) return "code";
    for (const tool of known.tools) {
      tokens += definitionTokens(tool);
      if (tokens > directTokens) return "code";
    }
  }
  return "direct";
}

/** About what a tool takes of a model's context, in tokens of o200k: its name, description and schema. */
export function definitionTokens({ name, description, inputSchema }: ListedTool): number {
  return estimateTokens(JSON.stringify({ name, description, inputSchema }));
}
