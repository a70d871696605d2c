/** `gen`: asks every configured server for its tools and writes the registry. A server that fails is reported and does not stop the others. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type AskOptions, askAll, type Problem } from "../catalog/ask-all.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { Pool } from "../clients/pool.ts";
import { removeFile, removeIfEmpty, writeWhenChanged } from "../files.ts";
import { straysIn } from "../registry/differences.ts";
import { observedLockName } from "../registry/observed/store.ts";
import { preparedFileName } from "../registry/search/prepared.ts";
import { removeAbandoned } from "../registry/store.ts";
import { prepareSearch } from "../search/search.ts";

export interface ServerReport {
  server: string;
  tools: number;
  durationMs: number;
  /** Number of changed files that were written, and of files removed because their tools are gone. */
  written: number;
  removed: number;
  /** Groups of tools that would get the same identifier. */
  collisions: string[][];
  /** Paths where the user's file has the name of a generated one. They are not changed. */
  kept: string[];
  problem?: Problem;
}

interface Parts {
  catalog: ToolCatalog;
  pool: Pool;
}

export interface GenerateReport {
  folder: string;
  /** In the order of the config. */
  servers: ServerReport[];
  /** Servers of the registry that are no longer in the config. */
  pruned: string[];
  /** With `clean`: the removed files that belonged to no server. */
  cleaned?: string[];
}

export interface GenerateOptions extends AskOptions {
  /** Servers to generate. The others are not changed. */
  only?: readonly string[] | undefined;
  /** Remove generated files that belong to no server. */
  clean?: boolean | undefined;
}

/**
 * Writes the files of each server when it answers, and the index at the end. If it is interrupted, the old index and only
 * complete files remain. Throws FILE_NOT_WRITABLE if the index cannot be written.
 */
export async function generate({ catalog, pool }: Parts, options: GenerateOptions = {}): Promise<GenerateReport> {
  const { only, clean, signal } = options;
  const { registry } = catalog.config.folders;
  // First, so that removed servers do not occupy names of new ones.
  const pruned = only ? [] : await catalog.prune();
  const names = only ?? catalog.openServers();
  const answers = await askAll(
    names,
    pool,
    async (name) => {
      const { server, files, collisions } = await catalog.refresh(name, signal, {
        indexLater: true,
        writesWhole: true,
      });
      const { written, removed, kept } = files;
      return { tools: server.tools.length, written, removed, collisions, kept };
    },
    options,
  );
  await catalog.writeIndex();
  const nothing = { tools: 0, written: 0, removed: 0, collisions: [], kept: [] };
  const report = { folder: registry, servers: answers.map((answer) => ({ ...nothing, ...answer })), pruned };
  if (signal?.aborted) return report;
  const cleaned = clean ? removeStrays(catalog, only) : [];
  removeAbandoned(registry);
  await prepareSearch(catalog);
  keepOutOfGit(registry);
  return clean ? { ...report, cleaned } : report;
}

/** Removes generated files of no server. With `only`, the servers' old files are already removed. */
function removeStrays(catalog: ToolCatalog, only: readonly string[] | undefined): string[] {
  if (only) return [];
  const strays = straysIn(catalog.config.folders.registry, catalog.index.servers);
  for (const path of strays) removeFile(path);
  for (const folder of new Set(strays.map((path) => dirname(path)))) {
    removeIfEmpty(folder);
    removeIfEmpty(dirname(folder));
  }
  return strays;
}

const names = [preparedFileName, observedLockName];

const text = `# claudikins regenerates these files.
${names.join("\n")}
`;

/** Ignores files that are regenerated, so that the registry can be committed. An existing .gitignore is not changed. */
function keepOutOfGit(folder: string): void {
  if (!names.some((name) => existsSync(join(folder, name))) || !isInRepository(folder)) return;
  writeWhenChanged(join(folder, ".gitignore"), text, () => false);
}

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (at === dirname(at)) return false;
  }
}
