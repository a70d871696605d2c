/** A daemon from its start to its end: alone at its socket, or not at all. */
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
  /** The working directory of servers that name none, for callers who name none either. */
  cwd: string;
  idleMs?: number | undefined;
  madeOf: string[];
  interrupted: AbortSignal;
  log: Log;
  /** Told once, when it listens. */
  onListening?: () => void;
}

/** Of what earlier daemons have said, no more is kept when the next one starts. */
const maxLogBytes = 1_048_576;

/** Ends when the daemon does; where there is one already that is not older than us, at once: then with `"another"`. */
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

/** What the lock is for, in errors. */
const guarded = "the daemon";

/** How long an older daemon may take to make room; its calls it does to their end beside us. */
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
