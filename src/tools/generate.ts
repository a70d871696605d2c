/**
 * `gen`: asks every configured server for its tools and writes the registry. With `--check`, it only finds the changes that it would make.
 * A server that fails is reported and does not stop the others.
 */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { removeFile, removeIfEmpty, writeWhenChanged } from "../base/files.ts";
import { about, list, named, number, oneOf, problem, record, text, texts, type ValueOf } from "../base/json-shape.ts";
import { type AskAllOptions, askAll } from "./catalog/ask-all.ts";
import { inRegistry, isInOwnRegistry } from "./catalog/registries.ts";
import type { CatalogParts, ToolCatalog } from "./catalog/tool-catalog.ts";
import { observedLockName } from "./observed/store.ts";
import { bridgeDifferences } from "./registry/bridge.ts";
import {
  type Difference,
  differencesOf,
  generatedFiles,
  globalsDifference,
  indexDifference,
  removeAbandoned,
  straysIn,
} from "./registry/store.ts";
import { preparedFileName } from "./search/prepared-index.ts";
import { writeSearchFile } from "./search/search.ts";

const asked = { server: text, tools: number, durationMs: number, "problem?": problem };

/** Servers are in the order of the config. */
export const reportShape = named(
  "Report",
  record({
    folder: text,
    servers: list(
      record({
        ...asked,
        written: about("Number of changed files that were written", number),
        removed: about("Number of files that were removed because their tools are gone", number),
        collisions: about("Tools that would have the same identifier in code", list(texts)),
        kept: about("Paths where your own file is in the place of a generated file", texts),
      }),
    ),
    pruned: about("Servers that are no longer in the config", texts),
    "cleaned?": about("With --clean: paths of removed files that belonged to no server", texts),
  }),
);
export type GenerateReport = ValueOf<typeof reportShape>;

const differences = list(named("Difference", record({ path: text, state: oneOf("missing", "stale", "extra") })));

/**
 * Other `differences` are in the index, the shared files and the files of removed servers; with `clean`, also in files that
 * belong to no server.
 */
export const checkShape = named(
  "Check",
  about("With --check", record({ folder: text, servers: list(record({ ...asked, differences })), differences })),
);
export type RegistryCheck = ValueOf<typeof checkShape>;

export interface GenerateOptions extends AskAllOptions {
  /** Servers to generate. The others are not changed. */
  only?: readonly string[] | undefined;
  /** Remove generated files that belong to no server. */
  clean?: boolean | undefined;
}

/**
 * Writes the files of each server when it answers, and the index at the end. If it is interrupted, the old index and only
 * complete files remain. Throws FILE_NOT_WRITABLE if the index cannot be written.
 */
export async function generate(
  { catalog, pool }: CatalogParts,
  options: GenerateOptions = {},
): Promise<GenerateReport> {
  const { only, clean, signal } = options;
  const { registry } = catalog.config.folders;
  // First, so that removed servers do not occupy names of new ones.
  const pruned = only ? [] : await catalog.prune();
  const answers = await askAll(
    only ?? catalog.openServers(),
    pool,
    async (name) => {
      const { server, files, collisions } = await catalog.list(name, { signal, isOneOfMany: true });
      const { written, removed, kept } = files;
      return { tools: server.tools.length, written, removed, collisions, kept };
    },
    options,
  );
  await catalog.writeIndex();
  const nothing = { tools: 0, written: 0, removed: 0, collisions: [], kept: [] };
  const report = { folder: registry, servers: answers.map((answer) => ({ ...nothing, ...answer })), pruned };
  if (signal?.aborted) return report;
  // With `only`, the servers' old files are already removed.
  const cleaned = clean && !only ? removeStrays(catalog) : [];
  removeAbandoned(registry);
  await writeSearchFile(catalog);
  keepOutOfGit(registry);
  return clean ? { ...report, cleaned } : report;
}

/** Removes generated files of no server. */
function removeStrays({ config, index }: ToolCatalog): string[] {
  const { registry } = config.folders;
  const strays = straysIn(registry, inRegistry(config, registry, index.servers));
  for (const path of strays) removeFile(path);
  for (const folder of new Set(strays.map((path) => dirname(path)))) {
    removeIfEmpty(folder);
    removeIfEmpty(dirname(folder));
  }
  return strays;
}

const names = [preparedFileName, observedLockName];

const gitignore = `# claudikins regenerates these files.
${names.join("\n")}
`;

/** Ignores files that are regenerated, so that the registry can be committed. An existing .gitignore is not changed. */
function keepOutOfGit(folder: string): void {
  if (!names.some((name) => existsSync(join(folder, name))) || !isInRepository(folder)) return;
  writeWhenChanged(join(folder, ".gitignore"), gitignore, () => false);
}

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (existsSync(join(at, ".git"))) return true;
    if (at === dirname(at)) return false;
  }
}

/**
 * A server that fails is reported, and its files are not compared. The user's own servers are left out in a project, so that the result is
 * the same for everyone who works on it.
 */
export async function checkRegistry(
  { catalog, pool }: CatalogParts,
  options: GenerateOptions = {},
): Promise<RegistryCheck> {
  const { only, clean, signal } = options;
  const { config } = catalog;
  const { registry } = config.folders;
  const gone = only ? [] : catalog.forgetRemoved();
  const expected = new Map(inRegistry(config, registry, catalog.index.servers).map((server) => [server.name, server]));
  const asked = (only ?? catalog.openServers()).filter((name) => !isInOwnRegistry(config, name));
  const answers = await askAll(
    asked,
    pool,
    async (name) => {
      const { server, before } = await catalog.list(name, { isDry: true, signal });
      expected.set(name, server);
      return { tools: server.tools.length, differences: differencesOf(registry, server, before) };
    },
    options,
  );
  const servers = answers.map((answer) => ({ tools: 0, differences: [], ...answer }));
  const known = [...expected.values()];
  const extra = new Set([
    ...gone.flatMap((server) => generatedFiles(registry, server)),
    ...(clean && !only ? straysIn(registry, known) : []),
  ]);
  for (const { path } of servers.flatMap(({ differences }) => differences)) extra.delete(path);
  return {
    folder: registry,
    servers,
    differences: [
      ...indexDifference(registry, known),
      ...(known.length > 0 ? [...globalsDifference(registry, known), ...bridgeDifferences(registry)] : []),
      ...[...extra].map((path): Difference => ({ path, state: "extra" })),
    ],
  };
}
