/** The registry on disk: reads and writes the index and the files of servers. A failure leaves the old files. */
import { dirname, join } from "node:path";
import { ClaudikinsError } from "../errors.ts";
import {
  changeTime,
  isAbandoned,
  namesIn,
  readIfThere,
  removeFile,
  removeIfEmpty,
  statsOf,
  writeWhenChanged,
} from "../files.ts";
import { isObject, parsedJson } from "../json-object.ts";
import { emitServer, isGenerated, isProgramText } from "./emit.ts";
import { indexFileName, type RegistryIndex, type RegistryServer, type RegistryTool } from "./model.ts";
import { assignFileNames } from "./names.ts";

/** Undefined if nothing was generated yet. Throws REGISTRY_INVALID if the file is damaged. */
export function readIndex(folder: string): RegistryIndex | undefined {
  const path = join(folder, indexFileName);
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  const index = parsedJson(text);
  if (isIndex(index)) return index;
  throw new ClaudikinsError("REGISTRY_INVALID", `${path} is damaged or from another version`, {
    hint: "Regenerate it: claudikins gen",
  });
}

/** Checks the main parts of the index. The rest was written with them. */
function isIndex(value: unknown): value is RegistryIndex {
  if (!isObject(value) || value["version"] !== 1 || !Array.isArray(value["servers"])) return false;
  return value["servers"].every(
    (server) =>
      isObject(server) &&
      typeof server["name"] === "string" &&
      // Files in this folder may be removed, so it must be below the registry.
      /^[\w-]+\/[\w-][\w.-]*$/.test(String(server["folder"])) &&
      Array.isArray(server["tools"]) &&
      server["tools"].every(
        (tool) => isObject(tool) && typeof tool["name"] === "string" && isObject(tool["inputSchema"]),
      ),
  );
}

export interface Written {
  written: number;
  unchanged: number;
  removed: number;
  /** Paths where the user's file has the name of a generated one. */
  kept: string[];
}

/** Writes the changed files of one server and removes generated files of tools that are gone. Throws FILE_NOT_WRITABLE. */
export function writeServer(folder: string, server: RegistryServer, before: RegistryServer | undefined): Written {
  const target = pathOf(folder, server);
  const files = emitServer(server);
  // First, because on some file systems `Get.ts` and `get.ts` are one file.
  let removed = removeGenerated(target, new Set(files.map((file) => file.name)));
  const results = files.map(({ name, text }) => {
    const path = join(target, name);
    return { path, result: writeGenerated(path, text) };
  });
  if (before && before.folder !== server.folder) removed += removeServer(folder, before);
  const count = (wanted: string) => results.filter(({ result }) => result === wanted).length;
  const kept = results.filter(({ result }) => result === "kept").map(({ path }) => path);
  return { written: count("written"), unchanged: count("unchanged"), removed, kept };
}

/** Writes the file of one tool again, if it exists. Throws FILE_NOT_WRITABLE. */
export function rewriteTool(folder: string, server: RegistryServer, tool: RegistryTool): void {
  const names = assignFileNames(server.tools.map(({ name }) => name));
  const path = join(pathOf(folder, server), `${names.get(tool.name)}.ts`);
  const [alone] = assignFileNames([tool.name]).values();
  const text = emitServer({ ...server, tools: [tool] }).find(({ name }) => name === `${alone}.ts`)?.text;
  if (text !== undefined && readIfThere(path) !== undefined) writeGenerated(path, text);
}

function writeGenerated(path: string, text: string): ReturnType<typeof writeWhenChanged> {
  return writeWhenChanged(path, text, isGenerated, isProgramText(text) ? 0o777 : 0o666);
}

/** Removes the generated files of a server that is no longer configured. */
export function removeServer(folder: string, server: RegistryServer): number {
  const target = pathOf(folder, server);
  const removed = removeGenerated(target, new Set());
  removeIfEmpty(target);
  removeIfEmpty(dirname(target));
  return removed;
}

/**
 * Replaces the servers with these names by `ours` and keeps the rest, which another process may have changed. A damaged index
 * is replaced. Throws FILE_NOT_WRITABLE.
 */
export function updateIndex(folder: string, names: readonly string[], ours: readonly RegistryServer[]): void {
  const changed = new Set(names);
  writeIndex(folder, [...serversOnDisk(folder).filter(({ name }) => !changed.has(name)), ...ours]);
}

function serversOnDisk(folder: string): readonly RegistryServer[] {
  try {
    return readIndex(folder)?.servers ?? [];
  } catch (error) {
    if (error instanceof ClaudikinsError && error.code === "REGISTRY_INVALID") return [];
    throw error;
  }
}

/** Writes the index. The file is not touched if nothing has changed. */
export function writeIndex(folder: string, servers: Iterable<RegistryServer>): void {
  writeWhenChanged(join(folder, indexFileName), `${JSON.stringify(indexOf(servers), null, 1)}\n`);
}

/** The content of the index file: servers are sorted, without observed shapes. */
export function indexOf(servers: Iterable<RegistryServer>): RegistryIndex {
  const sorted = [...servers].sort((a, b) => (a.name < b.name ? -1 : 1));
  return { version: 1, servers: sorted.map(withoutObserved) };
}

function withoutObserved(server: RegistryServer): RegistryServer {
  if (!server.tools.some((tool) => tool.observed)) return server;
  return { ...server, tools: server.tools.map(({ observed: _, ...tool }) => tool) };
}

/** Records that the server was just asked, as the modification time of one of its files. */
export function markAsked(folder: string, server: RegistryServer): void {
  try {
    changeTime(join(pathOf(folder, server), "index.ts"), new Date());
  } catch {
    // Without the time, the tools only look older than they are.
  }
}

/** When the server was last asked for its tools, in milliseconds since 1970; undefined if unknown. */
export function askedAt(folder: string, server: RegistryServer): number | undefined {
  return statsOf(join(pathOf(folder, server), "index.ts"))?.mtimeMs;
}

export function pathOf(folder: string, server: RegistryServer): string {
  return join(folder, ...server.folder.split("/"));
}

/** Names of the generated files in a folder, except `but`. */
export function generatedIn(folder: string, but: ReadonlySet<string>): string[] {
  return namesIn(folder).filter(
    (name) => name.endsWith(".ts") && !but.has(name) && isGenerated(readIfThere(join(folder, name)) ?? ""),
  );
}

function removeGenerated(folder: string, keep: ReadonlySet<string>): number {
  removeAbandoned(folder);
  const stale = generatedIn(folder, keep);
  for (const name of stale) removeFile(join(folder, name));
  return stale.length;
}

/** Removes temporary files of processes that were killed while writing. */
export function removeAbandoned(folder: string): void {
  for (const name of namesIn(folder).filter(isAbandoned)) removeFile(join(folder, name));
}
