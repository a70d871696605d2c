/** What the registry knows of a server and its tools: the content of the index file. */
import type { JsonObject } from "../json-object.ts";

export interface RegistryTool {
  /** The tool's own name. */
  name: string;
  /** Its identifier in code; undefined where two tools would get the same one. */
  jsName?: string;
  title?: string;
  description: string;
  inputSchema: JsonObject;
  outputSchema?: JsonObject;
  /** The shape of results that were seen, as a JSON Schema; only where the server gives none. Kept in a file of its own. */
  observed?: JsonObject;
  annotations?: JsonObject;
  icons?: unknown[];
  _meta?: JsonObject;
}

export interface RegistryServer {
  name: string;
  /** Its global in code; undefined where that would hide something, or where two servers would get the same one. */
  jsName?: string | undefined;
  category: string;
  description: string;
  /** Its folder below the registry, with forward slashes. */
  folder: string;
  /** Of the config entry it was generated from: another one means that the tools may be others. */
  fingerprint: string;
  /** Sorted by name. Tools that the config denies are not among them. */
  tools: RegistryTool[];
  /** How many tools the config denies; left out where it denies none. */
  denied?: number;
}

export interface RegistryIndex {
  version: 1;
  /** Sorted by name. */
  servers: RegistryServer[];
}

export const emptyIndex: RegistryIndex = { version: 1, servers: [] };

export const indexFileName = "index.json";

/** `server.tool`, with the original names. */
export function toolId(server: string, tool: string): string {
  return `${server}.${tool}`;
}
