/**
 * Continues a program that was saved by a build of claudikins with another format. The kept executable of that build runs as a daemon of
 * the same config at a separate place, and ends when no program needs it any more.
 */
import type { Environment } from "../config/environment.ts";
import { startDaemon } from "./launch.ts";
import { adoptAt, statusOf } from "./peers.ts";
import { besides, placeOf } from "./place.ts";

interface OlderBuild {
  /** Its format of saved programs: a number, or a hash. */
  format: string;
  /** The path of its executable. */
  command: string;
  /** The config file; undefined for the demo. */
  config: string | undefined;
  env: Environment;
}

/** Characters of a hash that are enough for the name of a socket. */
const nameLength = 8;

/** Returns whether the execution runs there. Throws what `startDaemon` throws. */
export async function continueInOlderDaemon(
  id: string,
  { format, command, config, env }: OlderBuild,
): Promise<boolean> {
  // A number alone would be a process id, see `besides`.
  const place = besides(placeOf(config, env), `f${format}`.slice(0, nameLength));
  const status = () => statusOf(place.socket);
  if (!(await status())) await startDaemon({ place, config, env, command: [command], status });
  return (await adoptAt(place.socket, [id])).includes(id);
}
