/**
 * Decides whether a server behaves the same in every working directory. Agents in all folders then share one process. Other servers are not
 * shared, because they could open the files of one project to an agent in another.
 */
import { realpathSync } from "node:fs";
import { resolve } from "node:path";
import { usesOwn } from "../../config/credentials.ts";
import type { ServerConfig } from "../../config/load.ts";
import { isWithin } from "../../config/trust/written-folders.ts";

/**
 * `rootsOf` returns the agent's roots, if it announces them. An agent whose roots are inside the server's folders gets its own process, in
 * which the server opens only the roots. Never rejects.
 */
export async function isAnywhere(
  server: ServerConfig,
  rootsOf: (() => Promise<readonly string[]>) | undefined,
): Promise<boolean> {
  if (server.url !== undefined || server.cwd !== undefined || server.box || usesOwn(server)) return false;
  if (server.session === "private") return false;
  const { foldersNamedBy } = await import("../server-catalog.ts");
  const named = foldersNamedBy(server);
  if (named === undefined || named.length === 0 || !rootsOf) return named !== undefined;
  try {
    const roots = (await rootsOf()).map(realPath);
    return !named.some((folder) => roots.some((root) => isWithin(root, realPath(folder))));
  } catch {
    return false;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
