/** search: query → index → ranked tools with what is needed to call them. Starts nothing. */

import type { RegistryServer } from "../registry/model.ts";
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
  /** Servers that are found as they were before their entry in the config was changed. */
  outdated: string[];
}

const searches = new WeakMap<object, ToolSearch>();

/** Only tools of configured servers are found, whatever else the registry still holds. Throws REGISTRY_INVALID. */
export function search(query: string, limit: number, toolbox: Toolbox): SearchResult {
  if (toolbox.indexProblem && toolbox.index.servers.length === 0) throw toolbox.indexProblem;
  const { index } = toolbox;
  let tools = searches.get(index);
  if (!tools) {
    tools = new ToolSearch({
      ...index,
      servers: configured(toolbox),
    });
    searches.set(index, tools);
  }
  const indexed = new Set(index.servers.map((server) => server.name));
  const unknown = toolbox.unknownServers();
  return {
    query,
    tools: tools.search(query, limit).map(({ id, server, tool, score }) => ({
      id,
      server: server.name,
      name: tool.name,
      description: firstSentence(tool.description || tool.title || ""),
      signature: signature(server, tool),
      example: exampleCall(server, tool),
      score,
    })),
    searched: tools.size,
    notIndexed: unknown.filter((name) => !indexed.has(name)),
    outdated: unknown.filter((name) => indexed.has(name)),
  };
}

/** The servers of the registry that the config has, with the names that they have in code now. */
function configured({ index, names }: Toolbox): RegistryServer[] {
  return names.flatMap(({ name, jsName }) => {
    const server = index.servers.find((known) => known.name === name);
    return server ? [{ ...server, jsName }] : [];
  });
}
