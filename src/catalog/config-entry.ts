/** What the registry takes from a server's config entry: category, description, and a fingerprint of the entry. */
import { createHash } from "node:crypto";
import type { ServerConfig } from "../config/load.ts";
import { version } from "../version.ts";

/** The category of servers that have none in the config and are not in the server catalog. */
const defaultCategory = "other";

/** Takes what the config leaves out from the server catalog, which is loaded only then. */
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
 * Two entries with the same fingerprint have the same tools under the same names. Variables and headers count by name only, so
 * that a fingerprint contains no secret. The policy counts because the registry holds only allowed tools, and our version because
 * the server catalog may differ in another one.
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

/** Empty if all tools are allowed. */
function shownOf({ policy }: ServerConfig): string[][] {
  return policy ? [...policy.allow, ...policy.deny].map(({ patterns, line }) => [line, ...patterns]) : [];
}
