/**
 * The registry folders of a config. A project that extends the user's own config has two: its own, which may be committed, and the user's,
 * which has the user's servers.
 */

import type { ClaudikinsError } from "../../base/errors.ts";
import { type Config, ownServersOf } from "../../config/load.ts";
import type { RegistryServer } from "../model.ts";
import { tryIndex } from "../registry/store.ts";

export type Registries = Pick<Config, "folders" | "servers" | "extended">;

/** Whether the server is stored in the user's registry although this is the config of a project. */
export function isInOwnRegistry({ extended, servers }: Registries, server: string): boolean {
  return extended !== undefined && servers.get(server)?.own !== undefined;
}

/** The folder with the files of the server. */
export function registryOf(config: Registries, server: string): string {
  const { folders, extended } = config;
  return extended && isInOwnRegistry(config, server) ? extended.registry : folders.registry;
}

/** The servers in a folder that belong to this config. Entries for the user's own servers in a project's registry are ignored. */
export function inRegistry<Named extends { name: string }>(
  config: Registries,
  folder: string,
  servers: readonly Named[],
): Named[] {
  return servers.filter(({ name }) => registryOf(config, name) === folder);
}

/** The folders, the project's first. */
export function registriesOf(config: Registries): string[] {
  const { folders, extended } = config;
  return extended && ownServersOf(config).length > 0 ? [folders.registry, extended.registry] : [folders.registry];
}

/** The stored servers of all folders, and why the project's index cannot be read. Throws VERSION_TOO_OLD. */
export function storedServers(config: Registries): {
  servers: RegistryServer[];
  problem?: ClaudikinsError | undefined;
} {
  const read = registriesOf(config).map((folder) => ({ folder, ...tryIndex(folder) }));
  const servers = read.flatMap(({ folder, index }) => inRegistry(config, folder, index?.servers ?? []));
  return { servers: servers.sort((a, b) => (a.name < b.name ? -1 : 1)), problem: read[0]?.problem };
}
