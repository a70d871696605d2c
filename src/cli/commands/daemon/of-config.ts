/** Finds the running daemons of one config. */
import { realpathSync } from "node:fs";
import { discoverConfig } from "../../../config/discover.ts";
import type { Peer } from "../../../daemon/peers.ts";
import type { Io } from "../../io.ts";

/** Callers with different values of its variables have different daemons. Throws CONFIG_NOT_FOUND. */
export function ofConfig(peers: Peer[], flag: string | undefined, { cwd, env }: Io): Peer[] {
  const origin = discoverConfig({ flag, cwd, env });
  const file = origin.kind === "demo" ? null : realpathSync(origin.file);
  return peers.filter(({ status }) => (status.config === null ? null : realOf(status.config)) === file);
}

/** A daemon still belongs to a config that was removed. */
function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
