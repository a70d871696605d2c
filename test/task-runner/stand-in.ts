/**
 * Models that need no network: they read the request like any model, and choose the option that our own search ranks
 * first for the task. They fill in no arguments, and never answer that nothing fits.
 */

import type { App } from "../../src/app/app.ts";
import { estimateTokens } from "../../src/base/token-estimate.ts";
import type { Model, ModelRequest } from "../../src/task-runner/model.ts";
import type { RegistryServer } from "../../src/tools/model.ts";
import { ToolSearch } from "../../src/tools/search/tool-search.ts";
import { serverOf } from "../tools/search-corpus.ts";

/** An option in a prompt. */
export interface ReadOption {
  name: string;
  about?: string;
  /** The arguments of a tool. */
  arguments?: string;
  /** The tools of a server, with their descriptions. */
  tools?: Record<string, string>;
  /** The servers of a category, with their descriptions. */
  servers?: Record<string, string>;
}

/** Ranks the options only by what the registry contains about their tools. */
export function searching(app: App): Model {
  return standIn("search over the options", (request) => {
    const names = new Set(optionsOf(request).map(({ name }) => name));
    const isCategory = request.schemaName === "category_choice";
    const isTool = request.schemaName === "tool_choice";
    const within = withinOf(request);
    const servers = app.catalog.visibleServers.flatMap((server) => {
      if (isTool)
        return server.name === within ? [{ ...server, tools: server.tools.filter(({ name }) => names.has(name)) }] : [];
      return names.has(isCategory ? server.category : server.name) ? [server] : [];
    });
    const best = bestOf(servers, request);
    return isTool ? best?.tool.name : isCategory ? best?.server.category : best?.server.name;
  });
}

/** Ranks the options only by the prompt. */
export const reading: Model = standIn("search over the prompt", (request) => {
  const options = optionsOf(request);
  const isTools = options.every(({ tools, servers }) => !tools && !servers);
  const best = bestOf(isTools ? [toolDocuments(options)] : options.map(serverDocument), request);
  return isTools ? best?.tool.name : best?.server.name;
});

function standIn(name: string, choose: (request: ModelRequest) => string | undefined): Model {
  return {
    name,
    async ask(request) {
      const { system, prompt, schemaName } = request;
      const choice = () => JSON.stringify({ choice: choose(request) ?? optionsOf(request)[0]?.name });
      const text = schemaName === "arguments" ? "{}" : choice();
      const tokens = { prompt: estimateTokens(system + prompt), completion: estimateTokens(text) };
      return { text, tokens, isEstimate: true };
    },
  };
}

function bestOf(servers: RegistryServer[], request: ModelRequest) {
  const task = taskOf(request).replace(/\b(server|category):/g, "$1 ");
  return new ToolSearch({ version: 1, servers }).search(task, 1)[0];
}

export function taskOf({ prompt }: ModelRequest): string {
  return JSON.parse(/^Task: (.*)$/m.exec(prompt)?.[1] ?? '""');
}

/** The server whose tools are offered, or the category whose servers are. */
export function withinOf({ prompt }: ModelRequest): string | undefined {
  const within = /^Options \(\w+ of ("(?:[^"\\]|\\.)*")/m.exec(prompt)?.[1];
  return within && JSON.parse(within);
}

/** The options in the order of the prompt. */
export function optionsOf({ prompt }: ModelRequest): ReadOption[] {
  const lines = /^Options .*:\n((?:\{.*\}\n)+)/m.exec(prompt)?.[1] ?? "";
  return lines
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

function serverDocument({ name, about = "", tools, servers = {} }: ReadOption): RegistryServer {
  return serverOf(name, tools ?? servers, { description: about });
}

/** `status? (pending, paid)` */
const argument = /([^\s,?(]+)\??(?: \(([^)]*)\))?/g;

function toolDocuments(options: ReadOption[]): RegistryServer {
  const drafts = options.map(({ name, about = "", arguments: args = "" }) => {
    const named = [...args.matchAll(argument)].map(([, each, choices]) => [each, { description: choices ?? "" }]);
    return [name, { description: about, parameters: Object.fromEntries(named) }];
  });
  return serverOf("options", Object.fromEntries(drafts));
}
