/** Doctor check of the daemons: their folder, running daemons, and leftovers of killed ones. */
import { existsSync, lstatSync } from "node:fs";
import { dirname } from "node:path";
import { durationText } from "../../base/duration.ts";
import { isHeld } from "../../base/lock.ts";
import { isOlder } from "../../base/newer.ts";
import { inShell, shellWord } from "../../base/shell-word.ts";
import { version } from "../../base/version.ts";
import { holderOf } from "../../daemon/daemon-note.ts";
import { statusOf } from "../../daemon/peers.ts";
import { allPlaces, type DaemonPaths, placeOf } from "../../daemon/place.ts";
import type { Status } from "../../daemon/protocol.ts";
import { type CheckContext, type Finding, findingsOf } from "./finding.ts";

/** Milliseconds that doctor gives a daemon to answer when it is asked again. */
const lateAnswerMs = 10_000;

const { ok, warning, problem } = findingsOf("daemon");

const isWindows = process.platform === "win32";

export async function daemonFindings({ env }: CheckContext): Promise<Finding[]> {
  const folder = dirname(placeOf(undefined, env).lock);
  if (!existsSync(folder)) return [ok("daemon.none", "No daemon has run yet; generated files start one on demand")];
  const wrong = folderFindings(folder);
  if (wrong.some(({ state }) => state === "problem")) return wrong;
  const found = await Promise.all(allPlaces(env).map((place) => placeFindings(place)));
  const all = [...wrong, ...found.flat()];
  return all.length > 0 ? all : [ok("daemon.none", "No daemon is running; generated files start one on demand")];
}

function folderFindings(folder: string): Finding[] {
  if (isWindows) return [];
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) {
    const text = `The daemon folder is ignored because it does not belong to you: ${folder}`;
    return [problem("daemon.folder", text, "FILE_NOT_WRITABLE", `rm -r ${shellWord(folder)}`)];
  }
  if ((found.mode & 0o077) === 0) return [];
  const text = `Other users of this machine can access the daemon folder: ${folder}`;
  return [warning("daemon.folder", text, `chmod 700 ${shellWord(folder)}`)];
}

async function placeFindings(place: DaemonPaths): Promise<Finding[]> {
  const { socket, lock } = place;
  const status = await statusOf(socket);
  if (status) return [running(status)];
  if (await isHeld(lock, "the daemon")) {
    // On a busy machine, a healthy daemon may need more time.
    const late = await statusOf(socket, lateAnswerMs);
    return [late ? running(late) : silent(place)];
  }
  if (!existsSync(socket)) return [];
  const text = `A killed daemon left a stale socket behind: ${socket}`;
  return [warning("daemon.socket", text, `rm ${shellWord(socket)}`)];
}

/** It may still work for programs, so nothing that would interrupt them is advised as a repair. */
function silent(place: DaemonPaths): Finding {
  const holder = holderOf(place);
  const process = holder ? ` (process ${holder.pid} of ${holder.config ?? "the demo"})` : "";
  const text = `A daemon${process} runs, and did not answer within ${durationText(lateAnswerMs)}: it is busy, was paused, or hangs`;
  const of = holder?.config ? `--config ${shellWord(holder.config)}` : "--all";
  const read = `Its last log lines: ${inShell("tail", "Get-Content -Tail 10")} ${shellWord(place.log)}`;
  const end = `If it stays silent, this ends it and interrupts its programs: claudikins daemon stop --now ${of}`;
  return { ...problem("daemon.silent", text, "SERVER_UNAVAILABLE", undefined), details: holder ? [read, end] : [read] };
}

function running(status: Status): Finding {
  const { pid, calls, config } = status;
  const of = config ?? "the demo";
  const stop =
    config === null ? "claudikins daemon stop --all" : `claudikins daemon stop --config ${shellWord(config)}`;
  const id = `daemon.${pid}`;
  if (isOlder(status.version, version)) {
    return warning(
      id,
      `A daemon of an older claudikins (${status.version}) is still running for ${of}: process ${pid}`,
      stop,
    );
  }
  if (config !== null && !existsSync(config)) {
    return warning(id, `A daemon is running for a config that no longer exists: ${config} (process ${pid})`, stop);
  }
  return ok(id, `A daemon is running for ${of}: process ${pid}, ${calls.done} calls done, ${calls.running} running`);
}
