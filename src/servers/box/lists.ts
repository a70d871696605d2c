/** The paths that an entry opens to its server. Refuses those that would open more than they say. */
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { ClaudikinsError } from "../../base/errors.ts";
import type { Environment } from "../../config/environment.ts";
import { homeOf, userConfigFile, userDataFolder } from "../../config/locations.ts";
import type { Box } from "../../config/sandbox.ts";
import { followed, isWithin } from "./paths.ts";

export interface OpenPaths {
  read: string[];
  write: string[];
  /** Those of `write`, without links. */
  writable: string[];
}

/**
 * The absolute paths of a box. Paths to read that do not exist are left out. Throws CONFIG_INVALID for a path to write that does not exist, for one
 * that holds a home, temporary files of other programs or files of claudikins, and for one inside of another folder that is writable.
 */
export function openPaths(box: Box, { cwd, env }: { cwd: string; env: Environment }): OpenPaths {
  const home = homeOf(env);
  if ([...box.write, ...box.read].includes("")) {
    refuse("one of its paths", "is empty", 'Set its variable, or remove it from "sandbox".');
  }
  const absolute = (path: string) =>
    resolve(
      cwd,
      path.replace(/^~(?=\/|$)/, () => home),
    );
  const write = [...new Set(box.write.map(absolute))];
  const read = [...new Set(box.read.map(absolute))].filter((path) => followed(path));
  const writable = write.map((path) => followed(path)?.real ?? missing(path));
  const own = [userDataFolder(env), dirname(userConfigFile(env)), ...daemonFolders(env)].map(realOf);
  for (const path of [...write, ...read]) {
    for (const shown of [path, realOf(path)]) {
      const wide = [home, tmpdir(), "/tmp"].find((folder) => isWithin(realOf(folder), shown));
      if (wide) refuse(path, `holds everything in ${wide}`, "Name the folders that the server needs.");
      const ours = own.find((folder) => isWithin(folder, shown) || isWithin(shown, folder));
      if (ours) refuse(path, `gives access to files of claudikins in ${ours}`, "Name other folders.");
    }
    const steps = stepsOf(path);
    const around = writable.find((folder) => steps.some((step) => step !== folder && isWithin(step, folder)));
    if (around) {
      const why = `leads through ${around}, which the server may write to, so that it could put a link there`;
      refuse(path, why, `Remove one of the two.`);
    }
  }
  return { read, write, writable };
}

/** The path itself, and where its links lead. */
function stepsOf(path: string): string[] {
  const { real = path, links = [] } = followed(path) ?? {};
  return [path, ...links.flatMap(({ at, to }) => [at, to]), real];
}

function realOf(path: string): string {
  return followed(path)?.real ?? path;
}

/** Where sockets of the daemon are. */
function daemonFolders(env: Environment): string[] {
  const { XDG_RUNTIME_DIR: runtime } = env;
  return [`/tmp/claudikins-${process.getuid?.()}`, ...(runtime ? [join(runtime, "claudikins")] : [])];
}

function missing(path: string): never {
  return refuse(path, "does not exist", `Create it first: mkdir for a folder, touch for a file.`);
}

function refuse(path: string, why: string, hint: string): never {
  throw new ClaudikinsError("CONFIG_INVALID", `its sandbox cannot be made: ${path} ${why}`, { hint });
}
