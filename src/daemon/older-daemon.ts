/**
 * Continues a program that an earlier build of claudikins has saved. The executable of that build was kept by an upgrade. It runs as a
 * daemon of the same config at a place of its own, and ends when no program needs it any more.
 */
import type { Environment } from "../config/environment.ts";
import { startDaemon } from "./launch.ts";
import { adoptAt, statusOf } from "./peers.ts";
import { besides, placeOf } from "./place.ts";

interface OlderBuild {
  /** The digest of its engine. */
  engine: string;
  /** The path of its executable. */
  command: string;
  /** The config file; undefined for the demo. */
  config: string | undefined;
  env: Environment;
}

/** Characters of a digest that are enough for the name of a socket. */
const nameLength = 8;

/** Returns whether the execution runs there. Throws what `startDaemon` throws. */
export async function continueInOlderDaemon(
  id: string,
  { engine, command, config, env }: OlderBuild,
): Promise<boolean> {
  const place = besides(placeOf(config, env), engine.slice(0, nameLength));
  const status = () => statusOf(place.socket);
  if (!(await status())) await startDaemon({ place, config, env, command: [command], status });
  return (await adoptAt(place.socket, [id])).includes(id);
}
