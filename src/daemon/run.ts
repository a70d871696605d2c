/** Runs a daemon from start to end, and makes sure that it is the only one at its socket. */
import { statSync, truncateSync } from "node:fs";
import { dirname } from "node:path";
import type { Environment } from "../config/environment.ts";
import { type Lock, takeLock } from "../lock.ts";
import type { Log } from "../log.ts";
import type { Toolbox } from "../toolbox/toolbox.ts";
import { version } from "../version.ts";
import { Daemon } from "./daemon.ts";
import type { HeldServers } from "./held/held-servers.ts";
import { askToStop, statusOf } from "./peers.ts";
import { makePrivate, type Place, refuseForeign } from "./place.ts";
import { isOlder } from "./protocol.ts";

export interface RunOptions {
  place: Place;
  held: HeldServers;
  env: Environment;
  /** The working directory of servers that name none, unless the caller names one. */
  cwd: string;
  idleMs?: number | undefined;
  madeOf: string[];
  interrupted: AbortSignal;
  log: Log;
  /** Called once, when the daemon listens. */
  onListening?: () => void;
}

/** Bytes of earlier daemons' logs that are kept when the next daemon starts. */
const maxLogBytes = 1_048_576;

/** Resolves when the daemon has ended, or at once with `"another"` if one that is not older is running. */
export async function runDaemon(toolbox: Toolbox, options: RunOptions): Promise<"ended" | "another"> {
  const { place, interrupted } = options;
  makePrivate(dirname(place.lock));
  for (const path of [place.socket, place.lock, place.log]) refuseForeign(path);
  const lock = (await takeLock(place.lock, guarded)) ?? (await takeOver(place));
  if (!lock) return "another";
  if ((statSync(place.log, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) truncateSync(place.log);
  const daemon = new Daemon({ ...options, socket: place.socket, lock, toolbox });
  options.onListening?.();
  options.log.info(`version ${version} is listening (process ${process.pid})`);
  await daemon.ended(interrupted);
  return "ended";
}

/** The guarded thing, as errors name it. */
const guarded = "the daemon";

/** Maximum time until an older daemon has freed the socket. It finishes its calls meanwhile. */
const takeOverMs = 5_000;

async function takeOver({ socket, lock }: Place): Promise<Lock | undefined> {
  const running = await statusOf(socket);
  if (!running || !isOlder(running.version, version)) return undefined;
  await askToStop(socket, false);
  for (const deadline = performance.now() + takeOverMs; performance.now() < deadline; await Bun.sleep(10)) {
    const taken = await takeLock(lock, guarded);
    if (taken) return taken;
  }
  return undefined;
}
