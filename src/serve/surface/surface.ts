/** Everything that an agent loads of claudikins: two tools and the instructions, within a token budget; a third tool on request. */
import type { Tool } from "@modelcontextprotocol/server";
import type { App } from "../../app/app.ts";
import { isObject } from "../../base/json-object.ts";
import { version } from "../../base/version.ts";
import { executeCode } from "../tools/execute-code.ts";
import { executeTask, offersTasks } from "../tools/execute-task.ts";
import { searchTools } from "../tools/search-tools.ts";
import { instructionsFor } from "./instructions.ts";

export const serverInfo = { name: "claudikins", title: "claudikins", version };

/** The extension of the protocol for skills. */
export const skillsExtension = "io.modelcontextprotocol/skills";

/** With skills, whose files are resources. */
export const skillCapabilities = { tools: {}, resources: {}, extensions: { [skillsExtension]: {} } };

/**
 * Our capabilities for an agent with these ones. Resources are announced only to agents that read skills: others give their model
 * more tools when a server has resources.
 */
export function capabilitiesFor(capabilities: object | undefined): { tools: object } {
  const { extensions } = (capabilities ?? {}) as { extensions?: unknown };
  return isObject(extensions) && isObject(extensions[skillsExtension]) ? skillCapabilities : { tools: {} };
}

/** How long hosts of revision 2026-07-28 may keep our definitions: they change only with the config, which is read at the start. */
export const cacheHint = { ttlMs: 300_000, cacheScope: "private" as const };

export interface Surface {
  tools: Tool[];
  /** For agents that offer sampling. */
  toolsWithSampling: Tool[];
  instructions: string;
}

/** Made once per session, because agents do not read it again. Limited in tokens, see surface-tokens.ts. */
export async function surfaceOf(app: App): Promise<Surface> {
  const { limits } = app.config;
  const toolsOf = (host: { sampling: boolean }) => {
    const task = offersTasks(app.config, host) ? [executeTask] : [];
    return [searchTools, executeCode, ...task].map((tool) => withMeta(tool, limits.outputChars));
  };
  const instructions = await instructionsFor(app);
  return { tools: toolsOf({ sampling: false }), toolsWithSampling: toolsOf({ sampling: true }), instructions };
}

/**
 * The capabilities that decide the tools of hosts of revision 2026-07-28: its lists may not depend on the host, so each host is shown
 * every tool that some host is shown.
 */
export const anyHost = { sampling: {} };

/** `capabilities` are the agent's. */
export function toolsFor(
  surface: Pick<Surface, "tools" | "toolsWithSampling">,
  capabilities: object | undefined,
): Tool[] {
  const { sampling } = (capabilities ?? {}) as { sampling?: unknown };
  return typeof sampling === "object" && sampling !== null ? surface.toolsWithSampling : surface.tools;
}

/** For Claude Code: load the tools from the start instead of deferring them, and do not cut results that we limit ourselves. */
function withMeta(tool: Tool, outputChars: number): Tool {
  return {
    ...tool,
    _meta: { "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": outputChars + 10_000 },
  };
}
