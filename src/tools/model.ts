/** The content of the index file: servers and their tools. */
import type { JsonObject } from "../base/json-object.ts";
import type { Label } from "../config/policy.ts";
import type { CatalogResult } from "./server-catalog.ts";

export interface RegistryTool {
  /** The name that agents and people use: the original name, or the one that the config gives. */
  name: string;
  /** The mark of the config's edit that was applied to the definition. Missing if the config does not edit the tool. */
  edit?: string;
  /** The JS name; undefined if two tools would get the same one. */
  jsName?: string;
  title?: string;
  description: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  /** The shape of observed results, as a JSON Schema, if the server does not declare it fully. It is stored in a separate file. */
  observed?: JsonObject;
  /** The result type of a well-known server's tool. Observed shapes take precedence, because another version may return something else. */
  known?: CatalogResult;
  /** Whether most tasks with the server need the tool, from the server catalog. */
  usual?: boolean;
  annotations?: JsonObject;
  /** The labels that the rules give its definition, and lost labels that no person has reviewed yet. Missing if there are none. */
  labels?: readonly Label[];
  icons?: unknown[];
  _meta?: JsonObject;
  /** Fields that no revision of MCP defines. */
  more?: JsonObject;
}

export interface RegistryServer {
  name: string;
  /** The JS name of its global; undefined if it would hide a global, or if two servers would get the same one. */
  jsName?: string | undefined;
  category: string;
  description: string;
  /** The folder below the registry, with forward slashes. */
  folder: string;
  /** The fingerprint of its config entry. If it changes, the tools may have changed. */
  fingerprint: string;
  /** The revision of MCP that the server spoke when it was listed. Missing in an index of an older claudikins. */
  protocol?: string;
  /** The server's own version, when it was listed. */
  version?: string;
  /** Sorted by name, without denied tools. */
  tools: RegistryTool[];
  /** Resources, prompts and skills. Missing if there are none. */
  offers?: Offer[];
  /** Number of denied tools; missing if there are none. */
  denied?: number;
  /** Tools that are neither shown nor called, because their definitions changed after they were accepted. Missing if there are none. */
  held?: HeldTools;
  /** The config's rules for its tools when it was listed. Missing if there were none. */
  rules?: ToolRules;
}

/** Something that a server has beside its tools. */
export interface Offer {
  kind: "resource" | "template" | "prompt" | "skill";
  name: string;
  description: string;
  /** Its address, or a template of addresses. Prompts have none. */
  uri?: string;
  /** The arguments of a prompt. Optional ones end with a question mark. */
  arguments?: string[];
}

export interface HeldTools {
  /** Changes when a definition of the server is accepted. */
  mark: string;
  tools: HeldTool[];
}

export interface HeldTool {
  /** The tool's own name. */
  name: string;
  /** The reasons, without the end of the sentence. */
  why: string;
}

/**
 * The rules as hashes of their patterns, because a pattern may name a denied tool. A tool is allowed if it matches each list of `allow`,
 * and nothing in `deny`.
 */
export interface ToolRules {
  allow: string[][];
  deny: string[];
}

export interface RegistryIndex {
  version: 1;
  /** Sorted by name. */
  servers: RegistryServer[];
}

export const emptyIndex: RegistryIndex = { version: 1, servers: [] };

export const indexFileName = "index.json";

/** The tool with that name, else the one with that name in code. Each call asks several times, and a web API has thousands of tools. */
export function findTool({ tools }: RegistryServer, name: string): RegistryTool | undefined {
  let names = namesOf.get(tools);
  if (!names) {
    names = new Map();
    for (const tool of tools) if (tool.jsName !== undefined && !names.has(tool.jsName)) names.set(tool.jsName, tool);
    for (const tool of tools.toReversed()) names.set(tool.name, tool);
    namesOf.set(tools, names);
  }
  return names.get(name);
}

/** The tools of each list by their names. A list does not change: a server that lists others becomes a new one. */
const namesOf = new WeakMap<readonly RegistryTool[], Map<string, RegistryTool>>();

/** `server.tool`, with the names that agents use. */
export function toolId(server: string, tool: string): string {
  return `${server}.${tool}`;
}

/** The part of a definition that agents give to their model, as JSON. They leave out titles, annotations and output schemas. */
export function definitionJson({ name, description, inputSchema }: Definition): string {
  return JSON.stringify({ name, description, inputSchema });
}

export function definitionChars(tools: readonly Definition[]): number {
  return tools.reduce((sum, tool) => sum + definitionJson(tool).length, 0);
}

interface Definition {
  name?: unknown;
  description?: unknown;
  inputSchema?: unknown;
}
