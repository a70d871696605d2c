/** gen: every configured server is asked for its tools; one that fails is reported and the rest goes on. */
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
  /** Files written because they changed, and removed because their tools are gone. */
  written: number;
  removed: number;
  /** Tools of which only one can have the identifier; each group by name. */
  collisions: string[][];
  /** Paths where somebody's own file stands in the place of a generated one: left alone. */
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
  /** Servers of the registry that the config has no more. */
  pruned: string[];
  /** With `clean`: paths of generated files that belonged to no server, and are gone. */
  cleaned?: string[];
}

export interface GenerateOptions extends AskOptions {
  /** Names of configured servers: nothing of the others is touched. */
  only?: readonly string[] | undefined;
  /** Generated files that belong to no server are removed. */
  clean?: boolean | undefined;
}

/**
 * The files of each server are written when it has answered, and the index when all have: whatever ends this in between,
 * the index is the old one, and every file is whole. Throws FILE_NOT_WRITABLE where the index cannot be written.
 */
export async function generate({ catalog, pool }: Parts, options: GenerateOptions = {}): Promise<GenerateReport> {
  const { only, clean, signal } = options;
  const { registry } = catalog.config.folders;
  // First, so that what is gone takes no name from what is new.
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

/** With chosen servers, these have had theirs removed already. */
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

/** Once there is one of them; a .gitignore that stands there already is somebody's own. */
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
