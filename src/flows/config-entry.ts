/** What the registry takes from a server's entry in the config: its category, and a mark by which another entry is known. */
import { createHash } from "node:crypto";
import type { ServerConfig } from "../config/load.ts";
import { version } from "../version.ts";

/** The folder of servers whose config names no category, and that the catalog does not know. */
const defaultCategory = "other";

/** What the config says; where it says nothing, what the catalog says of the server. It is loaded only for that. */
export async function categoryOf(config: ServerConfig): Promise<string> {
  if (config.category !== undefined) return config.category;
  const { recognise } = await import("../registry/catalog.ts");
  return recognise(config)?.category ?? defaultCategory;
}

/**
 * Says whether two entries would give the same tools under the same names. Of variables and headers only the names count;
 * the catalog's category depends on the entry and our version, which are in it.
 */
export function fingerprintOf(config: ServerConfig, jsName: string | undefined): string {
  const names = [jsName ?? null, config.category ?? null, config.description ?? null];
  const way =
    config.url === undefined
      ? [config.command, config.args, config.cwd ?? null, Object.keys(config.env).sort()]
      : [config.transport, config.url, Object.keys(config.headers).sort()];
  return createHash("sha256")
    .update(JSON.stringify([version, ...way, ...names]))
    .digest("hex")
    .slice(0, 16);
}
