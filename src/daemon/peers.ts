/** The daemons that run, asked over their sockets. */
import type { Environment } from "../config/environment.ts";
import { readIfThere } from "../files.ts";
import { allPlaces, type Place, refuseForeign } from "./place.ts";
import type { Status } from "./protocol.ts";

export interface Peer {
  place: Place;
  status: Status;
}

/** A daemon that is there answers at once. */
const answerMs = 2_000;

/** All of this user that answer. */
export async function findPeers(env: Environment): Promise<Peer[]> {
  const asked = allPlaces(env).map(async (place) => ({ place, status: await statusOf(place.socket) }));
  return (await Promise.all(asked)).flatMap(({ place, status }) => (status ? [{ place, status }] : []));
}

/** Undefined where nobody listens. */
export async function statusOf(socket: string): Promise<Status | undefined> {
  return (await ask(socket, "GET", "/status")) as Status | undefined;
}

/** How many calls it still has to do; undefined where nobody listens. */
export async function askToStop(socket: string, now: boolean): Promise<number | undefined> {
  const answer = (await ask(socket, "POST", "/stop", { now })) as { calls: number } | undefined;
  return answer?.calls;
}

async function ask(socket: string, method: string, path: string, body?: object): Promise<unknown> {
  refuseForeign(socket);
  try {
    const answer = await fetch(`http://localhost${path}`, {
      unix: socket,
      method,
      keepalive: false,
      signal: AbortSignal.timeout(answerMs),
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    return await answer.json();
  } catch {
    // Nobody is there, or it is about to go.
    return undefined;
  }
}

/** Resolves when the process is gone, at the latest when the signal is aborted. */
export async function hasEnded(pid: number, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && isThere(pid)) await Bun.sleep(20);
}

function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return process.platform !== "linux" || !isZombie(pid);
}

/** Ended, and never asked how: in a container there may be nobody who does that for processes whose parent is gone. */
function isZombie(pid: number): boolean {
  const stat = readIfThere(`/proc/${pid}/stat`) ?? "";
  return stat.slice(stat.lastIndexOf(")")).startsWith(") Z");
}
