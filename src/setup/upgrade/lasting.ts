/**
 * Finds a lasting path of the executable for other programs' files. A path in the cache of a package runner such as npx disappears, so the
 * executable is first installed where install.sh would install it.
 */
import { chmodSync, copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, isAbsolute, join } from "node:path";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { readIfThere, removeFile, writeWhenChanged } from "../../base/files.ts";
import { parsedJson } from "../../base/json-object.ts";
import { shellWord } from "../../base/shell-word.ts";
import { version } from "../../base/version.ts";
import type { Environment } from "../../config/environment.ts";
import { homeOf, programsOnPath, upgradeFolder } from "../../config/locations.ts";
import { selfCommand } from "../../config/self.ts";
import { type Installation, isLasting, ownInstallation } from "./installation.ts";
import { runProgram } from "./run.ts";
import { compareVersions, isVersion } from "./versions.ts";

/** Time for an installed executable to say its version. */
const lastingVersionMs = 10_000;

const fileName = process.platform === "win32" ? "claudikins.exe" : "claudikins";

function installedPath(env: Environment): string {
  const chosen = env["CLAUDIKINS_INSTALL"];
  return join(chosen && isAbsolute(chosen) ? chosen : join(homeOf(env), ".local", "bin"), fileName);
}

/** The command that starts claudikins from a path that lasts. It may not exist before `installLasting`. */
export function lastingCommand(env: Environment, ...args: string[]): [string, ...string[]] {
  return isLasting(ownInstallation()) ? selfCommand(...args) : [installedPath(env), ...args];
}

/** The command that starts claudikins, from a path that lasts if there is one. It exists. */
export function bestCommand(env: Environment, ...args: string[]): [string, ...string[]] {
  const [path, ...others] = lastingCommand(env, ...args);
  return existsSync(path) ? [path, ...others] : selfCommand(...args);
}

/** An executable that must be installed before its path is written anywhere. */
export interface Needed {
  path: string;
  /** Why the running executable cannot be used, as the end of a sentence. */
  why: string;
}

/** Undefined if an executable that lasts is there. Throws FILE_NOT_WRITABLE if another program has its name. */
export async function neededExecutable(env: Environment, signal: AbortSignal): Promise<Needed | undefined> {
  const installation = ownInstallation();
  if (isLasting(installation)) return undefined;
  const path = installedPath(env);
  const needed = { path, why: whyNot(installation) };
  if (!existsSync(path)) return needed;
  const { exitCode, stdout } = await runProgram([path, "--version"], { env, signal, timeoutMs: lastingVersionMs });
  const found = stdout.trim();
  if (exitCode !== 0 || !isVersion(found)) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `${path} exists and is not claudikins`, {
      hint: "Move it away, or choose another folder: CLAUDIKINS_INSTALL=$HOME/bin",
    });
  }
  return compareVersions(found, version) < 0 ? needed : undefined;
}

function whyNot(installation: Installation): string {
  if (installation.kind === "cache") return `${installation.runner} may remove its copy`;
  if (installation.kind === "bundle") return "your agent may remove this extension";
  return "the path of this one changes with each version";
}

/** Copies the running executable there atomically. Returns whether the path was free before. Throws FILE_NOT_WRITABLE. */
export function installLasting({ path }: Needed, env: Environment): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const isNew = !existsSync(path);
  try {
    mkdirSync(dirname(path), { recursive: true });
    rmSync(temporary, { force: true });
    copyFileSync(ownInstallation().path, temporary);
    chmodSync(temporary, 0o755);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot install claudikins to ${path}: ${messageOf(error)}`, {
      hint: "Choose another folder: CLAUDIKINS_INSTALL=$HOME/bin",
    });
  }
  if (isNew) writeWhenChanged(recordFile(env), `${JSON.stringify({ path, stamp: stampOf(path) })}\n`);
}

/** Records that `init` has put the executable there, so that `restore` removes it. */
const recordFile = (env: Environment) => join(upgradeFolder(env), "installed.json");

function stampOf(path: string): string | undefined {
  const found = statSync(path, { throwIfNoEntry: false });
  return found && `${found.size} ${found.mtimeMs}`;
}

/** The executable that `init` has installed, unless it was replaced since, by an upgrade for example. */
export function installedByInit(env: Environment): string | undefined {
  const { path, stamp } = Object(parsedJson(readIfThere(recordFile(env)) ?? "")) as Record<string, unknown>;
  return typeof path === "string" && stampOf(path) === stamp ? path : undefined;
}

/** Removes it. Returns its path, or undefined if there is none. Throws FILE_NOT_WRITABLE. */
export function removeInstalled(env: Environment): string | undefined {
  const path = installedByInit(env);
  if (path !== undefined) removeFile(path);
  removeFile(recordFile(env));
  return path;
}

/** Package runners such as npx put this folder on the PATH of the programs that they start. */
const ofPackages = /[\\/]node_modules[\\/]\.bin[\\/]/;

/** Returns `claudikins` if it is on the PATH. Otherwise, an agent has started it through a package runner or by its path. */
export function ownShellCommand(env: Environment): string {
  if (programsOnPath("claudikins", env).some((path) => !ofPackages.test(path))) return "claudikins";
  const installation = ownInstallation();
  return installation.kind === "cache" ? `${installation.runner} claudikins` : selfCommand().map(shellWord).join(" ");
}
