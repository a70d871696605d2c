/** `gen --check`: finds what `gen` would change, and changes nothing. */

import { askAll, type Problem } from "../catalog/ask-all.ts";
import type { ToolCatalog } from "../catalog/tool-catalog.ts";
import type { Pool } from "../clients/pool.ts";
import { bridgeDifferences } from "../registry/bridge.ts";
import { type Difference, differencesOf, generatedFiles, indexDifference, straysIn } from "../registry/differences.ts";
import type { GenerateOptions } from "./generate.ts";

export interface CheckedServer {
  server: string;
  tools: number;
  durationMs: number;
  differences: Difference[];
  problem?: Problem;
}

export interface RegistryCheck {
  folder: string;
  /** In the order of the config. */
  servers: CheckedServer[];
  /** Differences of the index, the shared files and removed servers; with `clean`, also of files that belong to no server. */
  differences: Difference[];
}

/** A server that fails is reported, and its files are not compared. */
export async function checkRegistry(
  { catalog, pool }: { catalog: ToolCatalog; pool: Pool },
  options: GenerateOptions = {},
): Promise<RegistryCheck> {
  const { only, clean, signal } = options;
  const { registry } = catalog.config.folders;
  const gone = only ? [] : catalog.forgetRemoved();
  const expected = new Map(catalog.index.servers.map((server) => [server.name, server]));
  const answers = await askAll(
    only ?? catalog.openServers(),
    pool,
    async (name) => {
      const { server, before } = await catalog.preview(name, { signal });
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
      ...(known.length > 0 ? bridgeDifferences(registry) : []),
      ...[...extra].map((path): Difference => ({ path, state: "extra" })),
    ],
  };
}
