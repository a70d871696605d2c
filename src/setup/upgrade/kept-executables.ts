/**
 * Earlier executables. A program that waits is the memory of one build of the engine, which a build with another engine cannot continue.
 * So an upgrade keeps the executable of the earlier engine, for as long as a stored program needs it.
 */
import { constants, existsSync, rmSync, statSync } from "node:fs";
import { chmod, copyFile, link, mkdir, rename, rm, utimes } from "node:fs/promises";
import { join, sep } from "node:path";
import { builtIn } from "../../base/built-in.ts";
import { namesIn } from "../../base/files.ts";
import type { Environment } from "../../config/environment.ts";
import { keptExecutablesFolder, realOf } from "../../config/locations.ts";
import { ownBytes, ownInstallation } from "./installation.ts";

const fileName = process.platform === "win32" ? "claudikins.exe" : "claudikins";

/** An agent that still runs the earlier version may store programs until it ends. */
const keptMs = 30 * 86_400_000;

/** The digest in the mark of an engine. Versions with the same digest continue each other's programs. */
export function digestOf(engine: string): string {
  return /[0-9a-f]+$/.exec(engine)?.[0] ?? "unknown";
}

const folderOf = (env: Environment, engine: string) => join(keptExecutablesFolder(env), digestOf(engine));

/** The executable of this engine, if it was kept. */
export function keptExecutable(env: Environment, engine: string): string | undefined {
  const file = join(folderOf(env, engine), fileName);
  return existsSync(file) ? file : undefined;
}

const keeping = new Map<string, Promise<void>>();

/**
 * Keeps the executable of this process, because it has stored a program: it may be replaced without `claudikins upgrade`, for example by
 * npm. Never rejects: the program can be continued as long as the executable is not replaced.
 */
export function keepOwnExecutable(env: Environment, engine: string): Promise<void> {
  if (builtIn === undefined || keptExecutable(env, engine) !== undefined) return Promise.resolve();
  const known = keeping.get(engine);
  if (known) return known;
  const started = copyOwn(env, engine)
    .catch(() => {})
    .finally(() => keeping.delete(engine));
  keeping.set(engine, started);
  return started;
}

async function copyOwn(env: Environment, engine: string): Promise<void> {
  const path = ownBytes();
  if (path !== undefined) await keepExecutable(env, engine, path);
}

/** Keeps the executable, unless one with this engine was kept before. Returns its path. Rejects with the system's errors. */
export async function keepExecutable(env: Environment, engine: string, path: string): Promise<string> {
  const folder = folderOf(env, engine);
  const file = join(folder, fileName);
  if (existsSync(file)) return file;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const temporary = join(folder, `${process.pid}.tmp`);
  await rm(temporary, { force: true });
  // A link costs nothing. It is not possible to another disk, and on Linux not to a file of another user.
  await link(path, temporary).catch(() => copyFile(path, temporary, constants.COPYFILE_FICLONE));
  await chmod(temporary, 0o755).catch(() => {});
  await rename(temporary, file);
  await utimes(folder, new Date(), new Date());
  return file;
}

/** Removes executables that no stored program needs. `needed` are the marks of programs that are not ended. */
export function removeUnneeded(env: Environment, needed: ReadonlySet<string>, now = Date.now()): void {
  const folders = new Set([...needed].map((engine) => folderOf(env, engine)));
  for (const name of namesIn(keptExecutablesFolder(env))) {
    const folder = join(keptExecutablesFolder(env), name);
    const age = now - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? now);
    if (folders.has(folder) || age < keptMs) continue;
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
