/** What the definitions of tools cost a model that has them in its context. */
import type { RegistryServer } from "../registry/model.ts";
import type { ToolCatalog } from "./tool-catalog.ts";

interface Definition {
  name?: unknown;
  description?: unknown;
  inputSchema?: unknown;
}

/** What hosts pass on of a tool's definition, as JSON; not what they keep for themselves: titles, annotations, what it gives. */
export function definitionText({ name, description, inputSchema }: Definition): string {
  return JSON.stringify({ name, description, inputSchema });
}

export function definitionChars(tools: readonly Definition[]): number {
  return tools.reduce((sum, tool) => sum + definitionText(tool).length, 0);
}

/** Of an object that stands for what a server said at one time. */
const counted = new WeakMap<RegistryServer, number>();

/** Of all tools that the configured servers have, as far as the registry knows them. */
export function knownDefinitionChars({ knownServers }: ToolCatalog): number {
  return knownServers.reduce((sum, server) => {
    const chars = counted.get(server) ?? definitionChars(server.tools);
    counted.set(server, chars);
    return sum + chars;
  }, 0);
}
