/** Saved programs as tools: those that the server lists, and those that one caller sees. */
import type { Tool } from "@modelcontextprotocol/server";
import { ClaudikinsError } from "../../base/errors.ts";
import type { SavedProgramsPlace } from "../../config/saved-programs-place.ts";
import type { KnownFunction, Namespace } from "../../sandbox/contract.ts";
import type { ToolCatalog } from "../../tools/catalog/tool-catalog.ts";
import { findTool, type RegistryIndex, type RegistryServer, type RegistryTool } from "../../tools/model.ts";
import { assignNames } from "../../tools/names.ts";
import type { SearchResult } from "../../tools/search/search.ts";
import { foundTool } from "../../tools/search/search.ts";
import { type Match, ToolSearch } from "../../tools/search/tool-search.ts";
import { signature } from "../../tools/signature.ts";
import type { Parts } from "../parts.ts";
import { lastChange } from "./differences.ts";
import { agentMark, programsServer, type SavedProgram } from "./model.ts";
import { isTaken } from "./namespace.ts";
import type { RequestingProgram } from "./requesting-program.ts";
import { Schedules } from "./schedules.ts";
import { callerOwner, VisiblePrograms } from "./visible-programs.ts";

export function toolOf(
  program: SavedProgram,
  { place, parts: { catalog } }: { place: SavedProgramsPlace; parts: Pick<Parts, "catalog"> },
): Tool {
  const { name, description, input, output, calls, savedBy } = program;
  const change = lastChange(program);
  const schedules = program.owner ? [] : new Schedules(place).of(name);
  const times = schedules.map(({ cron, zone }) => `"${cron}" (${zone})`);
  const runs = times.length === 0 ? "" : `Runs at ${times.join(", ")}; programs.runs({ name }) has the results.`;
  const isReading = calls.every((id) => {
    const server = catalog.names.find((each) => id.startsWith(`${each.name}.`))?.name ?? "";
    const tool = catalog.find(server)?.tools.find((each) => `${server}.${each.name}` === id);
    return tool?.annotations?.["readOnlyHint"] === true;
  });
  return {
    name,
    description: [description, change, runs].filter(Boolean).join(" "),
    inputSchema: { ...input, type: "object" },
    ...(output?.["type"] === "object" ? { outputSchema: { ...output, type: "object" } } : {}),
    annotations: { readOnlyHint: isReading },
    ...(savedBy === "agent" ? { _meta: { [agentMark]: true } } : {}),
  };
}

/**
 * The programs of a caller who is not the user, as a server. The registry has only the user's programs, because everybody shares it. Undefined for
 * the user, and if the config has a server of that name.
 */
export function programsFor(
  caller: Pick<RequestingProgram, "program" | "starter"> | undefined,
  parts: Parts,
): RegistryServer | undefined {
  const owner = callerOwner(caller, parts);
  if (owner === undefined || isTaken(parts)) return undefined;
  const place = parts.config.savedPrograms;
  const programs = place.documents.areKnown ? new VisiblePrograms(place, owner).all() : [];
  const { names } = assignNames(programs.map(({ name }) => name));
  const jsNames = new Map(names.map(({ name, jsName }) => [name, jsName]));
  const tools = programs.map((program) => registryTool(program, jsNames.get(program.name), parts));
  return serverWith(tools, parts);
}

/** The programs as a server. */
export function serverWith(tools: RegistryTool[], { config }: Pick<Parts, "config">): RegistryServer {
  const { category = "", description = "" } = config.servers.get(programsServer) ?? {};
  return { name: programsServer, jsName: programsServer, category, description, folder: "", fingerprint: "", tools };
}

/** A program as the registry has its tool. */
export function registryTool(program: SavedProgram, jsName: string | undefined, parts: Parts): RegistryTool {
  const place = parts.config.savedPrograms;
  const { name, description = "", inputSchema, outputSchema, annotations } = toolOf(program, { place, parts });
  return {
    name,
    description,
    inputSchema,
    ...(jsName === undefined ? {} : { jsName }),
    ...(outputSchema ? { outputSchema } : {}),
    ...(annotations ? { annotations: { ...annotations } } : {}),
  };
}

/** The program that a caller means, which may have been saved since. Throws PROGRAM_NOT_FOUND. */
export function calledProgram(
  name: string,
  own: RegistryServer,
  caller: Pick<RequestingProgram, "program" | "starter">,
  parts: Parts,
): { server: RegistryServer; tool: RegistryTool } {
  for (const server of [own, programsFor(caller, parts) ?? own]) {
    const tool = findTool(server, name);
    if (tool) return { server, tool };
  }
  const { name: found } = new VisiblePrograms(parts.config.savedPrograms, callerOwner(caller, parts)).called(name);
  throw new ClaudikinsError("PROGRAM_NOT_FOUND", `The program "${found}" was saved at this moment: call it again`);
}

/** The namespaces with the caller's programs in place of the user's. */
export function withPrograms(namespaces: readonly Namespace[], own: RegistryServer): Namespace[] {
  const functions = own.tools.map((tool): KnownFunction => {
    const { name, jsName, inputSchema } = tool;
    return { name, jsName, inputSchema, signature: signature(own, tool) };
  });
  return namespaces.map((each) =>
    each.name === programsServer ? { name: each.name, jsName: each.jsName, functions } : each,
  );
}

/** The catalog for texts about tools, with the caller's programs in place of the user's. */
export function catalogWith(own: RegistryServer, catalog: ToolCatalog): ToolCatalog {
  const find = (server: string) => (server === own.name ? own : catalog.find(server));
  const others = catalog.visibleServers.filter(({ name }) => name !== own.name);
  const visibleServers = own.tools.length === 0 ? others : [...others, own];
  const seen: Partial<ToolCatalog> = { find, findWithDenied: find, visibleServers };
  return new Proxy(catalog, {
    get(_, key) {
      if (Object.hasOwn(seen, key)) return seen[key as keyof ToolCatalog];
      const value: unknown = Reflect.get(catalog, key, catalog);
      return typeof value === "function" ? value.bind(catalog) : value;
    },
  });
}

/** What a search has found, with the caller's programs in place of the user's. */
export function withFoundPrograms(result: SearchResult, limit: number, own: RegistryServer): SearchResult {
  const others = result.tools.filter(({ server }) => server !== programsServer);
  const programs = foundIn(own, result.query, limit).map(foundTool);
  return { ...result, tools: [...programs, ...others].slice(0, limit) };
}

/** A query for other servers finds none. */
function foundIn(own: RegistryServer, query: string, limit: number): Match[] {
  if (own.tools.length === 0) return [];
  try {
    return new ToolSearch({ version: 1, servers: [own] } as RegistryIndex).search(query, limit);
  } catch {
    return [];
  }
}
