/** The size of tool definitions in the context of a model. */
import type { RegistryServer } from "../registry/model.ts";
import type { ToolCatalog } from "./tool-catalog.ts";

interface Definition {
  name?: unknown;
  description?: unknown;
  inputSchema?: unknown;
}

/** The part of a definition that agents give to their model, as JSON. They leave out titles, annotations and output schemas. */
export function definitionText({ name, description, inputSchema }: Definition): string {
  return JSON.stringify({ name, description, inputSchema });
}

export function definitionChars(tools: readonly Definition[]): number {
  return tools.reduce((sum, tool) => sum + definitionText(tool).length, 0);
}

/** Characters by server object. A server that changes becomes a new object. */
const counted = new WeakMap<RegistryServer, number>();

/** Characters of the definitions of all known tools. */
export function knownDefinitionChars({ knownServers }: ToolCatalog): number {
  return knownServers.reduce((sum, server) => {
    const chars = counted.get(server) ?? definitionChars(server.tools);
    counted.set(server, chars);
    return sum + chars;
  }, 0);
}
