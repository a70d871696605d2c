/** Of the daemons that run, those that hold one config. */
import { realpathSync } from "node:fs";
import { discoverConfig } from "../../../config/discover.ts";
import type { Peer } from "../../../daemon/peers.ts";
import type { Io } from "../../io.ts";

/** There are several when callers have other values for its variables. Throws CONFIG_NOT_FOUND. */
export function ofConfig(peers: Peer[], flag: string | undefined, { cwd, env }: Io): Peer[] {
  const origin = discoverConfig({ flag, cwd, env });
  const file = origin.kind === "demo" ? null : realpathSync(origin.file);
  return peers.filter(({ status }) => (status.config === null ? null : realOf(status.config)) === file);
}

/** A config that was removed meanwhile is still that of its daemon. */
function realOf(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}
