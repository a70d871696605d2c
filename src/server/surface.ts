/** All that a host loads of us, and its model may pay for: two tools and the instructions, in a budget of tokens; one more where the user wants it. */
import type { Tool } from "@modelcontextprotocol/sdk/types.js";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { version } from "../version.ts";
import { instructionsFor } from "./instructions.ts";
import { executeCode } from "./tools/execute-code.ts";
import { executeTask, offersTasks } from "./tools/execute-task.ts";
import { searchTools } from "./tools/search-tools.ts";

export const serverInfo = { name: "claudikins", title: "claudikins", version };
export const capabilities = { tools: {} };

/** What both definitions take, as JSON in o200k: counted by a test. */
export const definitionTokens = 310;

/** What `execute_task` takes beside them. */
export const taskTokens = 120;

export interface Surface {
  tools: Tool[];
  /** Of hosts that lend us their model. */
  toolsWithSampling: Tool[];
  instructions: string;
}

/** The same for the whole session, since hosts keep what they have read. Within `surfaceTokens` of the config. */
export function surfaceOf(toolbox: Toolbox): Surface {
  const { limits, surfaceTokens } = toolbox.config;
  const toolsOf = (host: { sampling: boolean }) => {
    const task = offersTasks(toolbox.config, host) ? [executeTask] : [];
    return [searchTools, executeCode, ...task].map((tool) => withMeta(tool, limits.outputChars));
  };
  const instructions = instructionsFor(toolbox, surfaceTokens - definitionTokens);
  return { tools: toolsOf({ sampling: false }), toolsWithSampling: toolsOf({ sampling: true }), instructions };
}

/** `capabilities` are those that the host has said it has. */
export function toolsFor(
  surface: Pick<Surface, "tools" | "toolsWithSampling">,
  capabilities: object | undefined,
): Tool[] {
  const { sampling } = (capabilities ?? {}) as { sampling?: unknown };
  return typeof sampling === "object" && sampling !== null ? surface.toolsWithSampling : surface.tools;
}

/** For Claude Code: the tools are there from the start, not behind a search of its own, and it does not cut what we have bounded. */
function withMeta(tool: Tool, outputChars: number): Tool {
  return {
    ...tool,
    _meta: { "anthropic/alwaysLoad": true, "anthropic/maxResultSizeChars": outputChars + 10_000 },
  };
}
