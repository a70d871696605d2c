/** How much of a model's context all tools take when each is shown as itself. */
import type { JsonObject } from "../../clients/result.ts";
import type { Toolbox } from "../../flows/toolbox.ts";
import { estimateTokens } from "../../token-estimate.ts";
import { ProxiedTools } from "./tools.ts";

/** Whether they are within `directTokens` of the config. */
export function fitsDirectly(toolbox: Toolbox): boolean {
  return estimatedTokens(new ProxiedTools(toolbox).definitions()) <= toolbox.config.directTokens;
}

/** In tokens of o200k, about: names, descriptions and schemas. */
export function estimatedTokens(tools: readonly JsonObject[]): number {
  const seen = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  return Math.ceil(seen.reduce((sum, tool) => sum + estimateTokens(JSON.stringify(tool)), 0));
}
