/**
 * Replaces an executable with a new one. The old one is kept beside it until the new one has been proven there. Even if the process is
 * killed at any moment, one complete executable remains. The next upgrade removes other leftovers.
 */
import {
  chmodSync,
  chownSync,
  closeSync,
  copyFileSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { namesIn } from "../../base/files.ts";
import { shellWord } from "../../base/shell-word.ts";

const isWindows = process.platform === "win32";

/** The prefix of files that exist only during an upgrade. */
const mark = ".claudikins-upgrade-";

/** A new executable beside the one that it will replace. */
export interface Staged {
  path: string;
}

/** Whether a file can be created beside the executable. Throws FILE_NOT_WRITABLE. */
export function checkWritable(target: string): void {
  const probe = join(dirname(target), `${mark}${process.pid}.probe`);
  try {
    closeSync(openSync(probe, "w", 0o600));
    rmSync(probe, { force: true });
  } catch (error) {
    throw notWritable(target, error);
  }
}

/** Writes the executable beside the target. Throws FILE_NOT_WRITABLE, and leaves nothing then. */
export function stage(bytes: Uint8Array, target: string): Staged {
  const extension = isWindows ? ".exe" : "";
  const path = join(dirname(target), `${mark}${process.pid}.new${extension}`);
  try {
    rmSync(path, { force: true });
    const file = openSync(path, "wx", 0o755);
    try {
      for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
      // The rename must not become durable before the bytes.
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    likeTarget(path, target);
    return { path };
  } catch (error) {
    discard({ path });
    throw notWritable(target, error);
  }
}

/** The new executable gets the owner of the old one, whom root may not be, and its permissions. */
function likeTarget(path: string, target: string): void {
  if (isWindows) return;
  const old = statSync(target, { throwIfNoEntry: false });
  chmodSync(path, ((old?.mode ?? 0) & 0o777) | 0o555 | 0o200);
  if (old && process.getuid?.() === 0) chownSync(path, old.uid, old.gid);
}

export function discard({ path }: Staged): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // Windows does not remove a program that runs. The next upgrade does.
  }
}

/**
 * Replaces the target and calls `proves`. If that throws, the old executable is put back. Throws FILE_NOT_WRITABLE and the error of
 * `proves`.
 */
export async function swap<T>({ path }: Staged, target: string, proves: () => Promise<T>): Promise<T> {
  const old = join(dirname(target), `${mark}${process.pid}.old${isWindows ? ".exe" : ""}`);
  try {
    rmSync(old, { force: true });
    // On Windows, a running program can be renamed but not replaced.
    if (isWindows) renameSync(target, old);
    else linkOrCopy(target, old);
    renameSync(path, target);
  } catch (error) {
    if (isWindows && !statSync(target, { throwIfNoEntry: false })) renameSync(old, target);
    discard({ path: old });
    throw notWritable(target, error);
  }
  try {
    const proof = await proves();
    discard({ path: old });
    return proof;
  } catch (error) {
    if (isWindows) renameSync(target, path);
    renameSync(old, target);
    throw error;
  }
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    // Another file system, or one without hard links.
    copyFileSync(from, to);
  }
}

/** Removes files that killed upgrades have left beside the executable. Call it while no other upgrade runs. */
export function removeLeftOvers(target: string): void {
  const folder = dirname(target);
  for (const name of namesIn(folder)) if (name.startsWith(mark)) discard({ path: join(folder, name) });
}

function notWritable(target: string, error: unknown): ClaudikinsError {
  const code = systemCodeOf(error);
  if (code === "ENOSPC" || code === "EDQUOT") {
    return new ClaudikinsError("FILE_NOT_WRITABLE", `There is no space left for the new ${basename(target)}`, {
      hint: `Nothing was changed. Free 200 MB on the disk of ${dirname(target)}.`,
    });
  }
  if (code === "EACCES" || code === "EPERM" || code === "EROFS") {
    const how = isWindows ? "run this in a terminal of an administrator" : `sudo ${shellWord(target)} upgrade`;
    return new ClaudikinsError("FILE_NOT_WRITABLE", `You may not write to ${dirname(target)}`, {
      hint: `Nothing was changed. To replace ${basename(target)} there: ${how}`,
    });
  }
  return new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot replace ${target}: ${messageOf(error)}`, {
    hint: "Nothing was changed.",
  });
}
