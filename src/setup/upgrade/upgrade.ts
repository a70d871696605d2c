/**
 * Replaces the running executable with another version, the way it was installed. Whatever happens, the path has an executable that works:
 * the new one is proven before it takes the place of the old one, or the old one comes back.
 */
import { copyFileSync, existsSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ClaudikinsError, messageOf, toClaudikinsError } from "../../base/errors.ts";
import { takeLock } from "../../base/lock.ts";
import { buildMark, formatOf } from "../../base/program-format.ts";
import type { Environment } from "../../config/environment.ts";
import { upgradeFolder } from "../../config/locations.ts";
import { Checkout } from "./checkout.ts";
import type { Installation } from "./installation.ts";
import { keepExecutable, keptExecutable } from "./kept-executables.ts";
import { findPackage, installedCommand, installPackage } from "./packages.ts";
import { ownPlatform } from "./platforms.ts";
import { prove, type SelfCheck } from "./proof.ts";
import { type DownloadLimits, downloadFile, executableIn, findRelease, usualLimits, verifyOrigin } from "./releases.ts";
import { checkWritable, discard, removeLeftOvers, type Staged, stage, swap } from "./swap.ts";

/** An installation that this process can replace. */
export type Replaceable = Extract<Installation, { kind: "script" | "package" | "checkout" }>;

export interface Upgrade {
  installation: Replaceable;
  from: string;
  to: string;
  env: Environment;
  signal: AbortSignal;
  limits?: DownloadLimits;
  /** Called with what is done next, for people. */
  onStep(text: string): void;
}

export interface Upgraded {
  /** The old executable, if the new one cannot continue the programs that it has stored. */
  kept: string | undefined;
}

/** The newest version, or the wanted one. Throws VERSION_NOT_FOUND, SERVER_UNAVAILABLE, UPGRADE_FAILED, CANCELLED. */
export async function findVersion(
  installation: Installation,
  wanted: string | undefined,
  env: Environment,
  signal: AbortSignal,
): Promise<string> {
  switch (installation.kind) {
    case "package":
      return findPackage(installation, wanted, env, signal);
    case "checkout":
      if (isReplaceable(installation)) return new Checkout(installation.folder, env, signal).find(wanted);
      break;
    default:
  }
  return (await findRelease(wanted, env, signal)).version;
}

/** Throws UPGRADE_FAILED, FILE_NOT_WRITABLE, VERSION_TOO_OLD, SERVER_UNAVAILABLE, CANCELLED. The old executable is in its place then. */
export async function upgrade(options: Upgrade): Promise<Upgraded> {
  const lock = await lockFor(options.env);
  if (!lock) {
    throw new ClaudikinsError("UPGRADE_FAILED", "Another upgrade is running", { hint: "Wait until it has ended." });
  }
  try {
    return await upgradeBy[options.installation.kind](options as never);
  } finally {
    lock.release();
  }
}

/** Removes what an earlier upgrade could not: on Windows, the program that ran. Does nothing while an upgrade runs. */
export async function cleanUp(installation: Installation, env: Environment): Promise<void> {
  if (installation.kind !== "script") return;
  try {
    const lock = await lockFor(env);
    if (lock) removeLeftOvers(installation.path);
    lock?.release();
  } catch {
    // The folder cannot be written, so nothing was left there either.
  }
}

const lockFor = (env: Environment) => takeLock(join(upgradeFolder(env), "lock"), "upgrades");

type Of<Kind extends Installation["kind"]> = Upgrade & { installation: Extract<Installation, { kind: Kind }> };

const upgradeBy = { script: byDownload, package: byPackageManager, checkout: byCheckout };

async function byDownload(options: Of<"script">): Promise<Upgraded> {
  const { installation, to, env, signal, onStep, limits = usualLimits } = options;
  const target = installation.path;
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

async function replaceBy(staged: Staged, options: Of<"script">): Promise<Upgraded> {
  const { installation, to, env, signal } = options;
  const checked = await prove([staged.path], to, env, signal);
  refuseUnreadable(checked);
  const before = keptExecutable(env, buildMark);
  const kept = await keptFor(checked, options);
  try {
    // It runs in its final place, because the system may have other rules there.
    await swap(staged, installation.path, () => prove([installation.path], to, env, signal));
  } catch (error) {
    if (kept !== undefined && before === undefined) rmSync(dirname(kept), { recursive: true, force: true });
    throw error;
  }
  return { kept };
}

/** An older version must not meet data that it cannot read. */
function refuseUnreadable({ version, unreadable }: SelfCheck): void {
  if (unreadable.length === 0) return;
  throw new ClaudikinsError("VERSION_TOO_OLD", `claudikins ${version} cannot read ${unreadable.join(" and ")}`, {
    hint: "Nothing was changed. A newer version has written that.",
  });
}

/** Keeps the old executable if the new one has another format of saved programs. */
async function keptFor(checked: SelfCheck, { env, installation }: Upgrade): Promise<string | undefined> {
  if (formatOf(checked.engine) === formatOf(buildMark)) return undefined;
  try {
    return await keepExecutable(env, buildMark, installation.path);
  } catch (error) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot keep the old executable: ${messageOf(error)}`, {
      hint: "Nothing was changed. Programs that wait need it. Check the space on the disk of the data folder.",
    });
  }
}

async function byPackageManager(options: Of<"package">): Promise<Upgraded> {
  const { installation, from, to, env, signal, onStep } = options;
  // The package manager removes the old executable before the new one is there.
  const before = copyOf(installation.path, options);
  onStep(`Installing claudikins ${to} with ${installation.manager}`);
  try {
    await installPackage(installation, to, env, signal);
    const checked = await prove(installedCommand(installation, env), to, env, signal);
    refuseUnreadable(checked);
    return { kept: await keptFor(checked, { ...options, installation: { ...installation, path: before } }) };
  } catch (thrown) {
    throw await rolledBack(thrown, from, () => installPackage(installation, from, env, new AbortController().signal));
  } finally {
    rmSync(before, { force: true });
  }
}

async function byCheckout(options: Of<"checkout">): Promise<Upgraded> {
  const { installation, from, to, env, signal, onStep } = options;
  const target = installation.path;
  removeLeftOvers(target);
  checkWritable(target);
  const checkout = new Checkout(installation.folder, env, signal);
  await checkout.check(to);
  const before = copyOf(target, options);
  const commit = await checkout.head();
  onStep(`Building claudikins ${to} in ${installation.folder}`);
  try {
    await checkout.install(to, dirname(target));
    const checked = await prove([target], to, env, signal);
    refuseUnreadable(checked);
    return { kept: await keptFor(checked, { ...options, installation: { ...installation, path: before } }) };
  } catch (thrown) {
    throw await rolledBack(thrown, from, async () => {
      await checkout.back(commit);
      await putBack(before, target);
    });
  } finally {
    rmSync(before, { force: true });
  }
}

/** The executable before the upgrade. */
async function putBack(before: string, target: string): Promise<void> {
  const staged = stage(await Bun.file(before).bytes(), target);
  renameSync(staged.path, target);
}

/** A copy of the old executable in the data folder. */
function copyOf(path: string, { env }: Upgrade): string {
  const copy = join(upgradeFolder(env), `${basename(path)}.before`);
  rmSync(copy, { force: true });
  // Not a link: the file may be written to.
  copyFileSync(path, copy);
  return copy;
}

/** The error after the old version was brought back, or could not be. */
async function rolledBack(thrown: unknown, from: string, back: () => Promise<void>): Promise<ClaudikinsError> {
  const error = toClaudikinsError(thrown);
  const hint = error.hint?.replace(/^Nothing was changed\. ?/, "");
  try {
    await back();
    return new ClaudikinsError(error.code, error.message, { hint: `claudikins ${from} is back. ${hint ?? ""}`.trim() });
  } catch (failure) {
    const why = `${error.message}. Then claudikins ${from} could not be brought back: ${messageOf(failure)}`;
    return new ClaudikinsError("UPGRADE_FAILED", why, {
      hint: `Install it again, in version ${from}. ${hint ?? ""}`.trim(),
    });
  }
}

/** Whether upgrades of this installation are done by this process; otherwise the user has to run a command. */
export function isReplaceable(installation: Installation): installation is Replaceable {
  switch (installation.kind) {
    case "script":
      return true;
    case "package":
      // Windows does not let a package manager replace a program that runs, and this process is one.
      return process.platform !== "win32";
    case "checkout":
      return Bun.isStandaloneExecutable && process.platform !== "win32" && existsSync(installation.folder);
    default:
      return false;
  }
}
