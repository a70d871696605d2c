/** The registry on disk: reading its index, and writing one server's files so that the old ones survive a failure. */
import { existsSync, readdirSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ClaudikinsError } from "../errors.ts";
import { readIfThere, writeWhenChanged } from "../files.ts";
import { emitServer, generatedMark } from "./emit.ts";
import { indexFileName, type RegistryIndex, type RegistryServer } from "./model.ts";

/** Undefined when nothing was generated yet. Throws REGISTRY_INVALID when the file is not what gen writes. */
export function readIndex(folder: string): RegistryIndex | undefined {
  const path = join(folder, indexFileName);
  const text = readIfThere(path);
  if (text === undefined) return undefined;
  try {
    const index = JSON.parse(text) as RegistryIndex;
    if (index.version === 1 && Array.isArray(index.servers)) return index;
  } catch {
    // Not JSON: the same answer as for another version.
  }
  throw new ClaudikinsError("REGISTRY_INVALID", `${path} is damaged or of another version`, {
    hint: "Generate it again: claudikins gen",
  });
}

export interface Written {
  written: number;
  unchanged: number;
  removed: number;
}

/** Writes the changed files of one server and removes generated files of tools that are gone. */
export function writeServer(folder: string, server: RegistryServer, before: RegistryServer | undefined): Written {
  const target = join(folder, ...server.folder.split("/"));
  const files = emitServer(server);
  let written = 0;
  for (const { name, text } of files) if (writeWhenChanged(join(target, name), text)) written += 1;
  let removed = removeGenerated(target, new Set(files.map((file) => file.name)));
  if (before && before.folder !== server.folder) removed += removeServer(folder, before);
  return { written, unchanged: files.length - written, removed };
}

/** Removes the generated files of a server that is no longer configured. */
export function removeServer(folder: string, server: RegistryServer): number {
  const target = join(folder, ...server.folder.split("/"));
  const removed = removeGenerated(target, new Set());
  removeIfEmpty(target);
  removeIfEmpty(dirname(target));
  return removed;
}

/** Servers are sorted; the file changes only when they do. */
export function writeIndex(folder: string, servers: Iterable<RegistryServer>): void {
  const index: RegistryIndex = { version: 1, servers: [...servers].sort((a, b) => (a.name < b.name ? -1 : 1)) };
  writeWhenChanged(join(folder, indexFileName), `${JSON.stringify(index, null, 1)}\n`);
}

function removeGenerated(folder: string, keep: ReadonlySet<string>): number {
  if (!existsSync(folder)) return 0;
  const stale = readdirSync(folder).filter((name) => {
    if (!name.endsWith(".ts") || keep.has(name)) return false;
    return readIfThere(join(folder, name))?.startsWith(generatedMark) ?? false;
  });
  for (const name of stale) rmSync(join(folder, name));
  return stale.length;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It is not empty or not there: both are fine.
  }
}
