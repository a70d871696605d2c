/** The place where the daemon of a config listens. Generated files use it too, so this file must not need Bun. */

import { chmodSync, lstatSync, mkdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { durationText } from "../base/duration.ts";
import { ClaudikinsError, messageOf, systemCodeOf } from "../base/errors.ts";
import { namesIn, readIfThere } from "../base/files.ts";
import { sha256 } from "../base/sha256.ts";
import { readConfigFile } from "../config/discover.ts";
import type { Environment } from "../config/environment.ts";
import { userConfigFile, userDataFolder } from "../config/locations.ts";
import { matches } from "../config/pattern.ts";
import { daemonStartMs } from "./limits.ts";

/** Bytes of the folder of a socket. Systems refuse socket paths of more than about a hundred characters. */
const maxSocketFolderBytes = 70;

const isWindows = process.platform === "win32";

/** The end of hints about a daemon that cannot run. */
export const doWithout = "Commands do without the daemon with --no-daemon or CLAUDIKINS_DAEMON=off.";

/** The folder of all daemons of this user. It may not exist. */
function runFolder(env: Environment): string {
  const runtime = env["XDG_RUNTIME_DIR"];
  const folder =
    runtime && isAbsolute(runtime) && isOwnFolder(runtime)
      ? join(runtime, "claudikins")
      : join(userDataFolder(env), "run");
  return isWindows || Buffer.byteLength(folder) <= maxSocketFolderBytes
    ? folder
    : `/tmp/claudikins-${process.getuid?.()}`;
}

export interface DaemonPaths {
  /** The path of the socket; on Windows, of the file with the name of the pipe: see `transport/address.ts`. */
  socket: string;
  /** The lock that a daemon must hold to listen. */
  lock: string;
  /** The file with the daemon's stderr. */
  log: string;
  /** The file that names the process that listens there, for people whose daemon does not answer. */
  holder: string;
}

/** `config` is the config file, undefined for the demo. Throws errors of reading it. */
export function placeOf(config: string | undefined, env: Environment): DaemonPaths {
  return placeNamed(keyOf(config, env), env);
}

/** The place of a daemon whose socket the user has chosen. */
export function placeAt(socket: string): DaemonPaths {
  const name = basename(socket, ".sock").replace(/^claudikins-/, "");
  const folder = dirname(resolve(socket));
  const file = (ending: string) => join(folder, `${name}${ending}`);
  return { socket, lock: file(".lock"), log: file(".log"), holder: file(".json") };
}

/**
 * The place of a second daemon beside the usual one: a daemon that has left its place and has not ended yet, or a daemon of an earlier
 * build.
 */
export function besides({ socket, lock, log, holder }: DaemonPaths, name: number | string): DaemonPaths {
  const named = (path: string, ending: string) => `${path.slice(0, -ending.length)}-${name}${ending}`;
  return { socket: named(socket, ".sock"), lock: named(lock, ".lock"), log, holder: named(holder, ".json") };
}

/** All sockets on which a daemon ever listened. */
export function allPlaces(env: Environment): DaemonPaths[] {
  return namesIn(runFolder(env))
    .filter((file) => file.endsWith(".lock"))
    .map((file) => placeNamed(file.slice(0, -".lock".length), env));
}

function placeNamed(name: string, env: Environment): DaemonPaths {
  return placeAt(join(runFolder(env), `${name}.sock`));
}

/**
 * The key of a daemon's place. There is one daemon for each user, config, and set of values of the variables that the config refers to or
 * that its servers inherit. A caller with other values is another user for the servers.
 */
function keyOf(config: string | undefined, env: Environment): string {
  const file = config === undefined ? undefined : realpathSync(config);
  // A project's config may use the servers of the user's own.
  const text = file === undefined ? "" : readConfigFile(file) + (readIfThere(userConfigFile(env)) ?? "");
  const names = [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name]) => name ?? "");
  const values = [...new Set([...names, ...inheritedIn(text, env), "HOME", "USERPROFILE", "XDG_DATA_HOME"])]
    .sort()
    .map((name) => [name, env[name] ?? null]);
  return sha256(JSON.stringify([file ?? null, values])).slice(0, 16);
}

/**
 * The variables that servers inherit by their entries. `*` alone is ignored, because it would include temporary variables of the shell,
 * such as its folder.
 */
function inheritedIn(text: string, env: Environment): string[] {
  const lists = [...text.matchAll(/"inherit"\s*:\s*\[([^\]]*)\]/g)].map(([, list]) => list ?? "");
  const patterns = lists.flatMap((list) => [...list.matchAll(/"([^"]*)"/g)].map(([, pattern]) => pattern ?? ""));
  const chosen = patterns.filter((pattern) => !/^\*+$/.test(pattern));
  return Object.keys(env).filter((name) => chosen.some((pattern) => matches(pattern, name)));
}

/** Creates the folder. Throws FILE_NOT_WRITABLE if others may write to it: they could replace the socket. */
export function makePrivate(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new ClaudikinsError(
      "FILE_NOT_WRITABLE",
      `Cannot create the folder for the daemon's socket: ${messageOf(cause)}`,
      { hint: doWithout },
    );
  }
  if (isWindows) return;
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw foreign(folder);
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** Throws FILE_NOT_WRITABLE if the path belongs to another user. */
export function refuseForeign(path: string): void {
  const found = isWindows ? undefined : foundAt(path);
  if (found && (found.isSymbolicLink() || found.uid !== process.getuid?.())) throw foreign(path);
}

/** Errors of a connection that was not made. On Windows, a pipe with too many callers fails with one of the last two. */
const notConnected: ReadonlySet<string> = new Set([
  "ENOENT",
  "ENOTDIR",
  "ECONNREFUSED",
  "EAGAIN",
  "EBUSY",
  "ETIMEDOUT",
]);

/**
 * Whether a connection failed because the socket does not exist, its daemon is gone, or too many callers wait for it. Nothing was sent in
 * these cases.
 */
export function isNobody(error: unknown): boolean {
  return notConnected.has(systemCodeOf(error) ?? "");
}

/** Undefined if the file does not exist. */
function foundAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The error for a daemon that does not listen in time. */
export function notListening({ log }: DaemonPaths): ClaudikinsError {
  return new ClaudikinsError("SERVER_UNAVAILABLE", `The daemon is not listening after ${durationText(daemonStartMs)}`, {
    hint: `Read ${log}. ${doWithout}`,
  });
}

function foreign(path: string): ClaudikinsError {
  return new ClaudikinsError("FILE_NOT_WRITABLE", `${path} does not belong to you`, {
    hint: "Remove it, or set XDG_RUNTIME_DIR to a folder of your own.",
  });
}

function isOwnFolder(path: string): boolean {
  const found = statSync(path, { throwIfNoEntry: false });
  return found?.isDirectory() === true && (isWindows || found.uid === process.getuid?.());
}
