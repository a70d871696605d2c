/** What the registry takes from a server's entry in the config: where it belongs, what it is for, and a mark by which another entry is known. */
import { createHash } from "node:crypto";
import type { ServerConfig } from "../config/load.ts";
import { version } from "../version.ts";

/** The folder of servers whose config names no category, and that the catalog does not know. */
const defaultCategory = "other";

/** What the config says; where it says nothing, what the catalog says of the server. It is loaded only for that. */
export async function aboutServer(config: ServerConfig): Promise<{ category: string; description: string }> {
  const { category, description } = config;
  if (category !== undefined && description !== undefined) return { category, description };
  const { recognise } = await import("../registry/server-catalog.ts");
  const known = recognise(config);
  return {
    category: category ?? known?.category ?? defaultCategory,
    description: description ?? known?.description ?? "",
  };
}

/**
 * Says whether two entries would give the same tools under the same names. Of variables and headers only the names count;
 * what the catalog says depends on the entry and our version, which are in it. The registry holds the allowed tools only.
 */
export function fingerprintOf(config: ServerConfig, jsName: string | undefined): string {
  const names = [jsName ?? null, config.category ?? null, config.description ?? null];
  const way =
    config.url === undefined
      ? [config.command, config.args, config.cwd ?? null, Object.keys(config.env).sort()]
      : [config.transport, config.url, Object.keys(config.headers).sort()];
  return createHash("sha256")
    .update(JSON.stringify([version, ...way, ...names, ...shownOf(config)]))
    .digest("hex")
    .slice(0, 16);
}

/** Nothing where all tools are allowed. */
function shownOf({ policy }: ServerConfig): string[][] {
  return policy ? [...policy.allow, ...policy.deny].map(({ patterns, line }) => [line, ...patterns]) : [];
}
