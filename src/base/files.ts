/**
 * Atomic file operations: other processes see the old file or the new one. In guarded folders no link is followed, and only regular
 * files are opened.
 */
import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  futimesSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "./errors.ts";
import { baseOf, linkInTheWay, linkOnTheWay, type OpenFolder, openGuarded, unguarded } from "./guarded-folders.ts";
import { noFollow } from "./open-folder.ts";

/** Bytes of a file that are read for its first line. */
const firstLineBytes = 16_384;

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Writes the text, unless the file already contains it, or `mayReplace` returns false for its present text. The umask applies to
 * `mode`. Throws FILE_NOT_WRITABLE.
 */
export function writeWhenChanged(
  path: string,
  text: string,
  mayReplace: (found: string) => boolean = () => true,
  mode = 0o666,
): "written" | "unchanged" | "kept" {
  try {
    const found = readIfThere(path);
    if (found === text) return "unchanged";
    if (found !== undefined && !mayReplace(found)) return "kept";
    replace(path, text, mode);
    return "written";
  } catch (cause) {
    throw notWritable("write", path, cause);
  }
}

function replace(path: string, content: string, mode: number): void {
  using folder = folderOf(path, true);
  const target = folder.at(basename(path));
  const temporary = `${target}.${process.pid}.${++written}.tmp`;
  try {
    discard(temporary);
    // The flag `wx` makes a new file, and never writes through a link that was put there.
    writeFileSync(temporary, content, { mode, flag: "wx" });
    renameOver(temporary, target);
  } catch (cause) {
    discard(temporary);
    throw cause;
  }
}

/** Milliseconds in which Windows is asked again: a virus scanner holds a file open for some hundred. */
const renameMs = 2000;
/** Milliseconds between two of these attempts. */
const renameEveryMs = 20;

/** Renames a file. Windows refuses to replace a file that another program has open, so it is tried again for a moment. */
export function renameOver(from: string, to: string): void {
  const deadline = process.platform === "win32" ? Date.now() + renameMs : 0;
  for (;;) {
    try {
      renameSync(from, to);
      return;
    } catch (cause) {
      const code = systemCodeOf(cause);
      const isOpenElsewhere = code === "EPERM" || code === "EACCES" || code === "EBUSY";
      if (!isOpenElsewhere || Date.now() >= deadline) throw cause;
      Bun.sleepSync(renameEveryMs);
    }
  }
}

let written = 0;

/** Returns whether the name is of a temporary file whose process has ended. */
export function isAbandoned(name: string): boolean {
  const pid = /\.(\d+)\.\d+\.tmp$/.exec(name)?.[1];
  if (pid === undefined) return false;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (cause) {
    return systemCodeOf(cause) === "ESRCH";
  }
}

/** Removes a file, if it exists. Throws FILE_NOT_WRITABLE. */
export function removeFile(path: string): void {
  try {
    const folder = ifThere(path, () => folderOf(path, false));
    if (!folder) return;
    using held = folder;
    rmSync(held.at(basename(path)), { force: true });
  } catch (cause) {
    throw notWritable("remove", path, cause);
  }
}

/** Creates the folder and its parents. The umask applies to `mode`, which guarded folders ignore. Throws FILE_NOT_WRITABLE. */
export function makeFolder(path: string, mode = 0o777): void {
  try {
    const base = baseOf(path);
    if (base === undefined) mkdirSync(path, { recursive: true, mode });
    else openFolder(path, base, true)[Symbol.dispose]();
  } catch (cause) {
    throw notWritable("create the folder", path, cause);
  }
}

/** Removes a folder if it is empty. */
export function removeIfEmpty(path: string): void {
  try {
    using folder = folderOf(path, false);
    rmdirSync(folder.at(basename(path)));
  } catch {
    // The folder is not empty or does not exist. Both are expected.
  }
}

/** Removes a file and ignores all errors. `force` alone still throws if the parent is not a folder. */
function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // The error that came before this one is reported.
  }
}

/** Returns the text of a file, or undefined if it does not exist. Throws FILE_NOT_FOUND if it cannot be read. */
export function readIfThere(path: string): string | undefined {
  return ifThere(path, () => {
    if (baseOf(path) === undefined) return readFileSync(path, "utf8");
    using file = openFile(path);
    return readFileSync(file.fd, "utf8");
  });
}

/** Returns the first line of a file, or undefined if the file is gone or cannot be read. */
export function firstLineOf(path: string): string | undefined {
  return firstCharactersOf(path)?.split("\n", 1)[0];
}

/** Returns the beginning of a file, or undefined if the file is gone or cannot be read. */
export function firstCharactersOf(path: string): string | undefined {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(firstLineBytes);
      return bytes.toString("utf8", 0, readSync(file, bytes, 0, bytes.length, 0));
    } finally {
      closeSync(file);
    }
  } catch {
    return undefined;
  }
}

/** Returns the sorted names in a folder, or none if it does not exist. Throws FILE_NOT_FOUND if it cannot be read. */
export function namesIn(folder: string): string[] {
  const read = () => {
    using held = openFolder(folder, baseOf(folder), false);
    return readdirSync(held.path);
  };
  return (ifThere(folder, read) ?? []).sort();
}

/** Returns the stats of a file, or undefined if it does not exist. A link in a guarded folder counts as not existing. */
export function statsOf(path: string): Stats | undefined {
  try {
    if (baseOf(path) === undefined) return statSync(path, { throwIfNoEntry: false });
    using folder = folderOf(path, false);
    const found = lstatSync(folder.at(basename(path)));
    return found.isSymbolicLink() ? undefined : found;
  } catch {
    return undefined;
  }
}

/** Returns a text that changes when the file is written, replaced or removed. */
export function stampOf(path: string): string {
  const { mtimeMs, ctimeMs, size, ino } = statsOf(path) ?? {};
  return [mtimeMs, ctimeMs, size, ino].join(" ");
}

/** Changes the mode of a file. Throws system errors, and FILE_NOT_WRITABLE for links and hard links in guarded folders. */
export function changeMode(path: string, mode: number): void {
  if (baseOf(path) === undefined) {
    chmodSync(path, mode);
    return;
  }
  using file = openFile(path);
  if (fstatSync(file.fd).nlink > 1)
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `${path} has more than one hard link`);
  fchmodSync(file.fd, mode);
}

/** Sets the time of the last modification. Throws the errors of `changeMode`, except for hard links. */
export function changeTime(path: string, time: Date): void {
  using file = openFile(path);
  futimesSync(file.fd, time, time);
}

/**
 * Prepares a path that other programs will open, such as a lock: creates its folder. Throws FILE_NOT_WRITABLE if a link is on the
 * path.
 */
export function prepareForOthers(path: string): void {
  makeFolder(dirname(path));
  const base = baseOf(path);
  const link = base === undefined ? undefined : linkOnTheWay(path, base);
  if (link !== undefined) throw linkInTheWay(link);
}

/** Opens the folder of a path. */
function folderOf(path: string, create: boolean): OpenFolder & Disposable {
  const base = baseOf(path);
  // The folder that contains the base is not guarded.
  return openFolder(dirname(path), path === base ? undefined : base, create);
}

/** A guarded folder stays open until it is disposed. */
function openFolder(folder: string, base: string | undefined, create: boolean): OpenFolder & Disposable {
  if (create) mkdirSync(base ?? folder, { recursive: true });
  return base === undefined ? unguarded(folder) : openGuarded(folder, base, create);
}

/**
 * Opens a file for reading. It never blocks, as a pipe without a writer would. Throws for links in guarded folders, and
 * FILE_NOT_FOUND for anything that is not a regular file.
 */
function openFile(path: string): { fd: number } & Disposable {
  using folder = folderOf(path, false);
  const name = folder.at(basename(path));
  let fd: number;
  try {
    fd = openSync(name, O_RDONLY | O_NONBLOCK | O_NOCTTY | (baseOf(path) === undefined ? 0 : noFollow));
  } catch (error) {
    throw systemCodeOf(error) === "ELOOP" ? linkInTheWay(path) : error;
  }
  try {
    if (!fstatSync(fd).isFile())
      throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read ${path}: it is not a file`, { hint: "Remove it." });
    return { fd, [Symbol.dispose]: () => closeSync(fd) };
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function ifThere<T>(path: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (cause) {
    const code = systemCodeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    if (cause instanceof ClaudikinsError) throw cause;
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

const otherFolder = "Choose a folder that you can write to.";

/** Reasons for which the system refuses to write, with the next step. */
const refusals: Record<string, { reason: string; hint: string }> = {
  EROFS: { reason: "its file system is read-only", hint: otherFolder },
  EACCES: { reason: "permission denied", hint: "Check that the folder belongs to you, and that you may write to it." },
  EPERM: { reason: "the system does not permit it", hint: otherFolder },
  ENOSPC: { reason: "the disk is full", hint: "Free some space." },
  EDQUOT: { reason: "your disk quota is used up", hint: "Free some space." },
  ENOTDIR: { reason: "a file is in the place of a folder", hint: "Move that file, or choose another folder." },
  EISDIR: { reason: "a folder has this name", hint: "Move that folder, or choose another file." },
  ENAMETOOLONG: { reason: "the path is too long", hint: "Choose a folder with a shorter path." },
};

function notWritable(verb: string, path: string, cause: unknown): ClaudikinsError {
  // Our own errors with a hint already describe the problem.
  if (cause instanceof ClaudikinsError && cause.hint !== undefined) return cause;
  const why = cause instanceof ClaudikinsError && cause.cause ? cause.cause : cause;
  const { reason, hint } = refusals[systemCodeOf(why) ?? ""] ?? {};
  return new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot ${verb} ${path}: ${reason ?? messageOf(why)}`, {
    hint: hint ?? "Check that you can write to its folder and that the disk is not full.",
    // The system's own text names our temporary files.
    ...(reason === undefined ? { cause: why } : {}),
  });
}
