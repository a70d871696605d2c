/** Finds what `gen` would change on disk, and generated files that belong to no server. Changes nothing. */
import { join } from "node:path";
import { ClaudikinsError } from "../errors.ts";
import { isAbandoned, namesIn, readIfThere } from "../files.ts";
import { emitServer, isGenerated } from "./emit.ts";
import { indexFileName, type RegistryIndex, type RegistryServer } from "./model.ts";
import { generatedIn, indexOf, pathOf, readIndex } from "./store.ts";

export interface Difference {
  path: string;
  /** `extra` files would be removed. */
  state: "missing" | "stale" | "extra";
}

/** The differences of one server's files. A user's file with the name of a generated one is not a difference. */
export function differencesOf(
  folder: string,
  server: RegistryServer,
  before: RegistryServer | undefined,
): Difference[] {
  const target = pathOf(folder, server);
  const files = emitServer(server);
  const changed = files.flatMap(({ name, text }): Difference[] => {
    const path = join(target, name);
    const found = readIfThere(path);
    if (found === undefined) return [{ path, state: "missing" }];
    return found === text || !isGenerated(found) ? [] : [{ path, state: "stale" }];
  });
  const extra = generatedIn(target, new Set(files.map(({ name }) => name))).map((name) => join(target, name));
  const moved = before && before.folder !== server.folder ? generatedFiles(folder, before) : [];
  return [...changed, ...[...extra, ...moved].map((path): Difference => ({ path, state: "extra" }))];
}

/** The paths of all generated files of a server. */
export function generatedFiles(folder: string, server: RegistryServer): string[] {
  const target = pathOf(folder, server);
  return generatedIn(target, new Set()).map((name) => join(target, name));
}

/** Ignores fingerprints, because they differ between machines even if the tools are the same. */
export function indexDifference(folder: string, expected: readonly RegistryServer[]): Difference[] {
  const path = join(folder, indexFileName);
  const comparable = ({ servers }: RegistryIndex) => servers.map((server) => ({ ...server, fingerprint: "" }));
  try {
    const found = readIndex(folder);
    if (!found) return [{ path, state: "missing" }];
    return Bun.deepEquals(comparable(found), comparable(indexOf(expected))) ? [] : [{ path, state: "stale" }];
  } catch (error) {
    if (!(error instanceof ClaudikinsError && error.code === "REGISTRY_INVALID")) throw error;
    return [{ path, state: "stale" }];
  }
}

/** Category names that the config allows. Other folders are not categories. */
const categoryName = /^[a-z0-9][a-z0-9-]*$/;

/** Generated files that belong to none of the servers, and temporary files of killed processes. Never a user's file. */
export function straysIn(folder: string, servers: readonly RegistryServer[]): string[] {
  const owned = new Map(servers.map((server) => [server.folder, server]));
  return namesIn(folder)
    .filter((name) => categoryName.test(name))
    .flatMap((category) => namesIn(join(folder, category)).map((name) => `${category}/${name}`))
    .flatMap((below) => {
      const target = join(folder, ...below.split("/"));
      const server = owned.get(below);
      const names = new Set(server ? emitServer(server).map(({ name }) => name) : []);
      const abandoned = namesIn(target).filter(isAbandoned);
      return [...generatedIn(target, names), ...abandoned].map((name) => join(target, name));
    });
}
