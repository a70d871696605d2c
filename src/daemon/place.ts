/**
 * Where the daemon of a config listens. Generated files find it without us, so `registry/runtime/bridge.ts` says the same
 * in its own words.
 */
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { readConfigFile } from "../config/discover.ts";
import type { Environment } from "../config/environment.ts";
import { userDataFolder } from "../config/locations.ts";
import { ClaudikinsError, messageOf } from "../errors.ts";
import { namesIn } from "../files.ts";

const isWindows = process.platform === "win32";

/** Systems refuse paths of sockets with more than about a hundred characters. */
const maxFolderLength = 70;

/** Where all daemons of this user have their files. It need not exist. */
function runFolder(env: Environment): string {
  const runtime = env["XDG_RUNTIME_DIR"];
  const folder =
    runtime && isAbsolute(runtime) && isOwnFolder(runtime)
      ? join(runtime, "claudikins")
      : join(userDataFolder(env), "run");
  return isWindows || Buffer.byteLength(folder) <= maxFolderLength ? folder : `/tmp/claudikins-${process.getuid?.()}`;
}

export interface Place {
  /** On Windows a pipe, which is in no folder. */
  socket: string;
  /** Held by whoever may listen. */
  lock: string;
  /** What the daemon says on stderr, when nobody is there to read it. */
  log: string;
}

/** `config` is its file, undefined for the demo's. Throws what reading it throws. */
export function placeOf(config: string | undefined, env: Environment): Place {
  return placeNamed(keyOf(config, env), env);
}

/** Of whom somebody has said where it is to listen. */
export function placeAt(socket: string, env: Environment): Place {
  const name = basename(socket, ".sock").replace(/^claudikins-/, "");
  const folder = isWindows ? runFolder(env) : dirname(resolve(socket));
  return { socket, lock: join(folder, `${name}.lock`), log: join(folder, `${name}.log`) };
}

/** All that was ever listened at. */
export function allPlaces(env: Environment): Place[] {
  return namesIn(runFolder(env))
    .filter((file) => file.endsWith(".lock"))
    .map((file) => placeNamed(file.slice(0, -".lock".length), env));
}

function placeNamed(name: string, env: Environment): Place {
  return placeAt(isWindows ? `\\\\.\\pipe\\claudikins-${name}` : join(runFolder(env), `${name}.sock`), env);
}

/**
 * One daemon for each user and config, and for each set of values of the variables that the config refers to: who has
 * other ones set is another person to the servers.
 */
function keyOf(config: string | undefined, env: Environment): string {
  const file = config === undefined ? undefined : realpathSync(config);
  const text = file === undefined ? "" : readConfigFile(file);
  const names = [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, name]) => name ?? "");
  const values = [...new Set([...names, "HOME", "USERPROFILE", "XDG_DATA_HOME"])]
    .sort()
    .map((name) => [name, env[name] ?? null]);
  return createHash("sha256")
    .update(JSON.stringify([file ?? null, values]))
    .digest("hex")
    .slice(0, 16);
}

/** Makes the folder; throws FILE_NOT_WRITABLE where it is not ours alone: who can write there could take our place. */
export function makePrivate(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new ClaudikinsError(
      "FILE_NOT_WRITABLE",
      `Cannot create the folder for the daemon's socket: ${messageOf(cause)}`,
      {
        hint: "Use --no-daemon or CLAUDIKINS_DAEMON=off to do without it.",
      },
    );
  }
  if (isWindows) return;
  const found = lstatSync(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.()) throw foreign(folder);
  if ((found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** Throws FILE_NOT_WRITABLE where something of somebody else stands at the path. */
export function refuseForeign(path: string): void {
  const found = isWindows ? undefined : foundAt(path);
  if (found && (found.isSymbolicLink() || found.uid !== process.getuid?.())) throw foreign(path);
}

/** Undefined where nothing can be, either. */
function foundAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
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
