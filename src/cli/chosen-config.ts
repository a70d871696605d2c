/** The config that a command is about, which need not be valid or trusted. */
import { discoverConfig } from "../config/discover.ts";
import { configOwner } from "../servers/logs/place.ts";
import type { Io } from "./io.ts";

/** Its file, under which its tokens, people and approvals are stored; null for the demo. `config` is the file that a flag names. */
export function chosenOwner(config: string | undefined, { cwd, env }: Pick<Io, "cwd" | "env">): string | null {
  return configOwner(discoverConfig({ flag: config, cwd, env }));
}
