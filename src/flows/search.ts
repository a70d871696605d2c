/** search: query → index → ranked tools with what is needed to call them. Starts nothing. */

import { ToolSearch } from "../registry/search.ts";
import { exampleCall, firstSentence, signature } from "../registry/signature.ts";
import type { Toolbox } from "./toolbox.ts";

export interface FoundTool {
  /** `server.tool`, with the original names. */
  id: string;
  server: string;
  name: string;
  description: string;
  signature: string;
  example: string;
  score: number;
}

export interface SearchResult {
  query: string;
  tools: FoundTool[];
  /** Tools that were searched. */
  searched: number;
  /** Configured servers whose tools are not known yet. */
  notIndexed: string[];
}

const searches = new WeakMap<object, ToolSearch>();

/** Only tools of configured servers are found, whatever else the registry still holds. */
export function search(query: string, limit: number, toolbox: Toolbox): SearchResult {
  const { index } = toolbox;
  let tools = searches.get(index);
  if (!tools) {
    tools = new ToolSearch({
      ...index,
      servers: index.servers.filter((server) => toolbox.config.servers.has(server.name)),
    });
    searches.set(index, tools);
  }
  return {
    query,
    tools: tools.search(query, limit).map(({ id, server, tool, score }) => ({
      id,
      server: server.name,
      name: tool.name,
      description: firstSentence(tool.description || tool.title || ""),
      signature: signature(server.name, tool),
      example: exampleCall(server.name, tool),
      score,
    })),
    searched: tools.size,
    notIndexed: toolbox.unknownServers(),
  };
}
