/** Decides once whether an `auto` session is served in direct mode, from the stored tools. Loads nothing of the SDK. */

import type { App } from "../../app/app.ts";
import { estimateTokens } from "../../base/token-estimate.ts";
import type { ListedTool } from "../../servers/result.ts";

export function sessionMode(app: App): "code" | "direct" {
  const { mode, servers, directTokens } = app.config;
  if (mode !== "auto") return mode;
  if (servers.size === 0) return "code";
  let tokens = 0;
  for (const { name, needs } of servers.values()) {
    // A server that cannot start or is closed shows no tools.
    if (needs.length > 0 || app.catalog.isClosed(name)) continue;
    const known = app.catalog.find(name);
    // The size of unknown tools is unknown.
    if (!known) return "code";
    for (const tool of known.tools) {
      tokens += definitionTokens(tool);
      if (tokens > directTokens) return "code";
    }
  }
  return "direct";
}

/** Estimated tokens (o200k) of a tool's name, description and schema. */
export function definitionTokens({ name, description, inputSchema }: ListedTool): number {
  return estimateTokens(JSON.stringify({ name, description, inputSchema }));
}
