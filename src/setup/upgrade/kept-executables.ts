/**
 * Keeps earlier executables. Only a build with the same format of saved programs can continue a waiting program. So the newest executable
 * of each earlier format is kept for as long as a stored program needs it.
 */

import { constants, existsSync, rmSync, statSync } from "node:fs";
import { chmod, copyFile, link, mkdir, rename, rm, utimes } from "node:fs/promises";
import { join, sep } from "node:path";
import { builtIn } from "../../base/built-in.ts";
import { namesIn, readIfThere } from "../../base/files.ts";
import { buildMark, formatOf } from "../../base/program-format.ts";
import { dayMs } from "../../base/units.ts";
import type { Environment } from "../../config/environment.ts";
import { keptExecutablesFolder, realOf } from "../../config/locations.ts";
import { ownBytes, ownInstallation } from "./installation.ts";
import { compareVersions, isVersion } from "./versions.ts";

/** How long an executable is kept after an upgrade. An agent that still runs the earlier version may store programs until it ends. */
const executableKeptMs = 30 * dayMs;

const fileName = process.platform === "win32" ? "claudikins.exe" : "claudikins";

/** Has the version of the executable beside it. */
const versionName = "version";

const folderOf = (env: Environment, mark: string) => join(keptExecutablesFolder(env), formatOf(mark));

/** The executable that continues programs with this mark, if it was kept. */
export function keptExecutable(env: Environment, mark: string): string | undefined {
  const file = join(folderOf(env, mark), fileName);
  return existsSync(file) ? file : undefined;
}

/**
 * The kept executable for this mark's format, if it is as new as the build with the mark. An older one may be unable to read newer data.
 */
function keptAsNew(env: Environment, mark: string): string | undefined {
  const [version] = mark.split(" ");
  const kept = readIfThere(join(folderOf(env, mark), versionName));
  return isVersion(version) && isVersion(kept) && compareVersions(kept, version) >= 0
    ? keptExecutable(env, mark)
    : undefined;
}

let keeping: Promise<void> | undefined;

/**
 * Keeps the executable of this process, because it has stored a program: it may be replaced without `claudikins upgrade`, for example by
 * npm. Never rejects: the program can be continued as long as the executable is not replaced.
 */
export function keepOwnExecutable(env: Environment): Promise<void> {
  if (builtIn === undefined) return Promise.resolve();
  keeping ??= copyOwn(env)
    .catch(() => {})
    .finally(() => {
      keeping = undefined;
    });
  return keeping;
}

async function copyOwn(env: Environment): Promise<void> {
  const path = ownBytes();
  if (path !== undefined) await keepExecutable(env, buildMark, path);
}

/**
 * Keeps the executable of the build with this mark. It replaces an older one with the same format. Returns its path. Rejects with the
 * system's errors.
 */
export async function keepExecutable(env: Environment, mark: string, path: string): Promise<string> {
  const known = keptAsNew(env, mark);
  if (known !== undefined) return known;
  const folder = folderOf(env, mark);
  const file = join(folder, fileName);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `${process.pid}.tmp`);
  await rm(temporary, { force: true });
  // A link costs nothing. It is not possible to another disk, and on Linux not to a file of another user.
  await link(path, temporary).catch(() => copyFile(path, temporary, constants.COPYFILE_FICLONE));
  await chmod(temporary, 0o755).catch(() => {});
  await rename(temporary, file);
  await Bun.write(join(folder, versionName), mark.split(" ")[0] ?? "");
  await utimes(folder, new Date(), new Date());
  return file;
}

/** Removes executables that no stored program needs. `needed` are the marks of programs that have not ended. */
export function removeUnneeded(env: Environment, needed: ReadonlySet<string>, now = Date.now()): void {
  const folders = new Set([...needed].map((mark) => folderOf(env, mark)));
  for (const name of namesIn(keptExecutablesFolder(env))) {
    const folder = join(keptExecutablesFolder(env), name);
    const age = now - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? now);
    if (folders.has(folder) || age < executableKeptMs) continue;
    // A program that still runs cannot be removed on Windows.
    try {
      rmSync(folder, { recursive: true, force: true });
    } catch {}
  }
}

/** Whether this process runs a kept executable. */
export function isKept(env: Environment): boolean {
  return ownInstallation().path.startsWith(join(realOf(keptExecutablesFolder(env)), sep));
}
