/** Finds the running daemons and asks them for their status over their sockets. */

import { ClaudikinsError } from "../base/errors.ts";
import { namesIn, readIfThere } from "../base/files.ts";
import { isHeld } from "../base/lock.ts";
import type { Environment } from "../config/environment.ts";
import { type Holder, holderOf } from "./daemon-note.ts";
import { allPlaces, type DaemonPaths, isNobody, refuseForeign } from "./place.ts";
import type { Status } from "./protocol.ts";
import { requestDaemon } from "./transport/connect.ts";

/** Time for a daemon that holds its place to begin listening. */
const peerBeginsMs = 300;

/** Time for a daemon to answer another process. A running daemon answers at once. */
const peerAnswerMs = 2_000;

/** Time for a daemon to take over executions. It starts a worker for each that it continues. */
const adoptMs = 20_000;

export interface Peer {
  place: DaemonPaths;
  status: Status;
}

/** All daemons of this user that answer. */
export async function findPeers(env: Environment): Promise<Peer[]> {
  const asked = allPlaces(env).map(async (place) => ({ place, status: await statusOf(place.socket) }));
  return (await Promise.all(asked)).flatMap(({ place, status }) => (status ? [{ place, status }] : []));
}

/** A daemon that holds its place and does not answer: it was stopped, or hangs. */
export interface SilentDaemon {
  place: DaemonPaths;
  holder: Holder | undefined;
}

/** All daemons of this user. `silent` are the daemons that do not answer. */
export async function findDaemons(env: Environment): Promise<{ peers: Peer[]; silent: SilentDaemon[] }> {
  const found = await Promise.all(
    allPlaces(env).map(async (place) => {
      const status = await statusOf(place.socket);
      if (status) return { peers: [{ place, status }], silent: [] };
      if (!(await isHeld(place.lock, "the daemon"))) return { peers: [], silent: [] };
      // One that has just started may not listen yet.
      await Bun.sleep(peerBeginsMs);
      const late = await statusOf(place.socket);
      if (late) return { peers: [{ place, status: late }], silent: [] };
      return { peers: [], silent: [{ place, holder: holderOf(place) }] };
    }),
  );
  return { peers: found.flatMap(({ peers }) => peers), silent: found.flatMap(({ silent }) => silent) };
}

/** Undefined if no daemon is listening, or if it does not answer in time. */
export async function statusOf(socket: string, withinMs = peerAnswerMs): Promise<Status | undefined> {
  return (await ask(socket, "GET /status", undefined, withinMs)) as Status | undefined;
}

/** Whether a daemon of this user is listening and answers. A silent one is busy, was paused, or hangs. */
export async function lookAt(socket: string): Promise<"answers" | "silent" | "none"> {
  try {
    refuseForeign(socket);
    await requestDaemon(socket, "GET /status", { body: "", signal: AbortSignal.timeout(peerAnswerMs) });
    return "answers";
  } catch (error) {
    return error instanceof ClaudikinsError || isNobody(error) ? "none" : "silent";
  }
}

/** The number of calls that are still running. Undefined if no daemon is listening. */
export async function askToStop(socket: string, now: boolean): Promise<number | undefined> {
  const answer = (await ask(socket, "POST /stop", { now })) as { calls: number } | undefined;
  return answer?.calls;
}

/**
 * Ends a daemon that does not answer, by force. Its servers end with it. Resolves when it is gone, or when the signal is aborted. Returns
 * undefined, and does nothing, if nobody knows its process.
 */
export async function endSilent({ holder }: SilentDaemon, signal: AbortSignal): Promise<Holder | undefined> {
  if (!holder) return undefined;
  process.kill(holder.pid, "SIGKILL");
  await hasEnded(holder.pid, signal);
  return holder;
}

/** Asks a daemon to continue executions. Returns the executions that it runs now. */
export async function adoptAt(socket: string, executions: readonly string[]): Promise<readonly string[]> {
  const answer = (await ask(socket, "POST /adopt", { executions }, adoptMs)) as { executions?: string[] } | undefined;
  return answer?.executions ?? [];
}

async function ask(socket: string, route: string, body?: object, limitMs = peerAnswerMs): Promise<unknown> {
  refuseForeign(socket);
  try {
    const text = body === undefined ? "" : JSON.stringify(body);
    return await requestDaemon(socket, route, { body: text, signal: AbortSignal.timeout(limitMs) });
  } catch {
    // No daemon is there, or it is about to end.
    return undefined;
  }
}

/** Resolves when the process has ended, or when the signal is aborted. */
export async function hasEnded(pid: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && isThere(pid)) await Bun.sleep(20);
}

/** Whether a process runs. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== "linux" || !isZombie(pid);
}

/**
 * Zombie processes count as ended: in a container, a process whose parent is gone may never be reaped. While its other threads are ending,
 * its sockets still accept connections.
 */
function isZombie(pid: number): boolean {
  const stat = readIfThere(`/proc/${pid}/stat`) ?? "";
  const isLast = namesIn(`/proc/${pid}/task`).length <= 1;
  return isLast && stat.slice(stat.lastIndexOf(")")).startsWith(") Z");
}
