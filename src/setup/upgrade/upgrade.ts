/**
 * Replaces a downloaded executable with the one of another release. The path always has a working executable: the new one is proven before
 * it replaces the old one, and the old one is put back if the new one fails in its final place.
 */
import { readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { takeLock } from "../../base/lock.ts";
import { buildMark, formatOf } from "../../base/program-format.ts";
import type { Environment } from "../../config/environment.ts";
import { upgradeFolder } from "../../config/locations.ts";
import { keepExecutable, keptExecutable } from "./kept-executables.ts";
import { ownPlatform } from "./platforms.ts";
import { prove, type SelfCheck } from "./proof.ts";
import { type DownloadLimits, downloadFile, executableIn, findRelease, usualLimits, verifyOrigin } from "./releases.ts";
import { runProgram } from "./run.ts";
import { checkWritable, discard, removeLeftOvers, type Staged, stage, swap } from "./swap.ts";

export interface Upgrade {
  /** The executable. */
  path: string;
  to: string;
  env: Environment;
  signal: AbortSignal;
  limits?: DownloadLimits;
  /** Called with a description of the next step, for people. */
  onStep(text: string): void;
}

export interface Upgraded {
  /** The old executable, if the new one cannot continue the programs that it has stored. */
  kept: string | undefined;
}

/**
 * Throws UPGRADE_FAILED, FILE_NOT_WRITABLE, VERSION_TOO_OLD, SERVER_UNAVAILABLE, CANCELLED. After an error, the old executable is in its
 * place.
 */
export async function upgrade(options: Upgrade): Promise<Upgraded> {
  const lock = await lockFor(options.env);
  if (!lock) {
    throw new ClaudikinsError("UPGRADE_FAILED", "Another upgrade is running", { hint: "Wait until it has ended." });
  }
  try {
    return await replaced(options);
  } finally {
    lock.release();
  }
}

/** Removes files that an earlier upgrade could not remove: on Windows, the running program. Does nothing while an upgrade runs. */
export async function cleanUp(path: string, env: Environment): Promise<void> {
  try {
    const lock = await lockFor(env);
    if (lock) removeLeftOvers(path);
    lock?.release();
  } catch {
    // The folder cannot be written, so nothing was left there either.
  }
}

const lockFor = (env: Environment) => takeLock(join(upgradeFolder(env), "lock"), "upgrades");

async function replaced(options: Upgrade): Promise<Upgraded> {
  const { path: target, to, env, signal, onStep, limits = usualLimits } = options;
  removeLeftOvers(target);
  checkWritable(target);
  const platform = ownPlatform();
  if (!platform) throw new ClaudikinsError("UPGRADE_FAILED", "claudikins is not released for this platform");
  onStep(`Downloading claudikins ${to}`);
  const release = await findRelease(to, env, signal);
  const name = `claudikins-${platform.name}.tar.gz`;
  const archive = await downloadFile(release, name, signal, limits);
  await verifyOrigin(archive, name, release.base, env, signal);
  onStep(`Checking claudikins ${to}`);
  const staged = stage(await executableIn(archive, platform.executable), target);
  try {
    return await replaceBy(staged, options);
  } finally {
    discard(staged);
  }
}

async function replaceBy(staged: Staged, options: Upgrade): Promise<Upgraded> {
  const { path, to, env, signal } = options;
  const checked = await prove([staged.path], to, env, signal);
  refuseUnreadable(checked);
  const before = keptExecutable(env, buildMark);
  const kept = await keptFor(checked, options);
  try {
    // In its final place, where rules of the system may differ.
    await swap(staged, path, () => prove([path], to, env, signal));
  } catch (error) {
    if (kept !== undefined && before === undefined) rmSync(dirname(kept), { recursive: true, force: true });
    throw error;
  }
  return { kept };
}

/** Refuses a version that could not read the existing data. */
function refuseUnreadable({ version, unreadable }: SelfCheck): void {
  if (unreadable.length === 0) return;
  throw new ClaudikinsError("VERSION_TOO_OLD", `claudikins ${version} cannot read ${unreadable.join(" and ")}`, {
    hint: "Nothing was changed. A newer version has written that.",
  });
}

/** Keeps the old executable if the new one has another format of saved programs. */
async function keptFor(checked: SelfCheck, { env, path }: Upgrade): Promise<string | undefined> {
  if (formatOf(checked.engine) === formatOf(buildMark)) return undefined;
  try {
    return await keepExecutable(env, buildMark, path);
  } catch (error) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot keep the old executable: ${messageOf(error)}`, {
      hint: "Nothing was changed. Programs that wait need it. Check the space on the disk of the data folder.",
    });
  }
}

/**
 * Counts the `serve` processes of agents that run an executable. They use the old version until their agents are restarted. Undefined if the
 * system does not tell. Call it before the executable is replaced.
 */
export async function runningServes(path: string, env: Environment, signal: AbortSignal): Promise<number | undefined> {
  if (process.platform === "linux") return linuxServes(path);
  if (process.platform !== "darwin") return undefined;
  const { exitCode, stdout } = await runProgram(["ps", "-xww", "-o", "args="], { env, signal, timeoutMs: 5_000 });
  return exitCode === 0 ? stdout.split("\n").filter((line) => line.startsWith(`${path} serve`)).length : undefined;
}

function linuxServes(path: string): number {
  return readdirSync("/proc").filter((name) => {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) return false;
    try {
      const [, command] = readFileSync(`/proc/${name}/cmdline`, "utf8").split("\0");
      return command === "serve" && readlinkSync(`/proc/${name}/exe`) === path;
    } catch {
      // It has ended, or belongs to another user.
      return false;
    }
  }).length;
}
