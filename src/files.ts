/** Files that are there whole or not at all. In guarded folders no link is followed, and nothing but a file is opened. */
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
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "./errors.ts";
import { baseOf, linkInTheWay, linkOnTheWay, type OpenFolder, openGuarded } from "./guarded-folders.ts";
import { noFollow } from "./open-folder.ts";

const { O_NOCTTY, O_NONBLOCK, O_RDONLY } = constants;

/**
 * Writes the text unless the file has it already, or has one that `mayReplace` says no to: then it is kept. Of `mode` counts
 * what the umask leaves. Throws FILE_NOT_WRITABLE.
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

/** Writes the bytes, whatever was there. Throws FILE_NOT_WRITABLE. */
export function writeBytes(path: string, bytes: Uint8Array): void {
  try {
    replace(path, bytes, 0o666);
  } catch (cause) {
    throw notWritable("write", path, cause);
  }
}

function replace(path: string, content: string | Uint8Array, mode: number): void {
  using folder = folderOf(path, true);
  const target = folder.at(basename(path));
  const temporary = `${target}.${process.pid}.${++written}.tmp`;
  try {
    discard(temporary);
    // Made anew: whatever has that name meanwhile is not written to.
    writeFileSync(temporary, content, { mode, flag: "wx" });
    renameSync(temporary, target);
  } catch (cause) {
    discard(temporary);
    throw cause;
  }
}

let written = 0;

/** Whether a file of that name is what a process that was killed in the middle of writing has left. */
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

/** Removes a file; one that is not there is fine. Throws FILE_NOT_WRITABLE. */
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

/** Makes the folder, and those above it. Throws FILE_NOT_WRITABLE. */
export function makeFolder(path: string): void {
  try {
    const base = baseOf(path);
    if (base === undefined) {
      mkdirSync(path, { recursive: true });
      return;
    }
    mkdirSync(base, { recursive: true });
    openGuarded(path, base, true)[Symbol.dispose]();
  } catch (cause) {
    throw notWritable("create the folder", path, cause);
  }
}

/** Removes a folder that is empty; any other stays as it is. */
export function removeIfEmpty(path: string): void {
  try {
    using folder = folderOf(path, false);
    rmdirSync(folder.at(basename(path)));
  } catch {
    // It is not empty or not there: both are fine.
  }
}

/** For what may not be there: `force` alone still throws when the folder is no folder. */
function discard(path: string): void {
  try {
    rmSync(path, { force: true });
  } catch {
    // What went wrong before is what matters.
  }
}

/** The text of a file, or undefined where there is none. Throws FILE_NOT_FOUND when it cannot be read. */
export function readIfThere(path: string): string | undefined {
  return ifThere(path, () => {
    if (baseOf(path) === undefined) return readFileSync(path, "utf8");
    using file = openFile(path);
    return readFileSync(file.fd, "utf8");
  });
}

/** The names in a folder, sorted; none where there is no folder. Throws FILE_NOT_FOUND when it cannot be read. */
export function namesIn(folder: string): string[] {
  const read = () => {
    const base = baseOf(folder);
    if (base === undefined) return readdirSync(folder);
    using held = openGuarded(folder, base, false);
    return readdirSync(held.path);
  };
  return (ifThere(folder, read) ?? []).sort();
}

/** What there is to know of a file; undefined where there is none. Of a guarded one that is a link, nothing is known. */
export function statsOf(path: string): Stats | undefined {
  try {
    if (baseOf(path) === undefined) return statSync(path);
    using folder = folderOf(path, false);
    const found = lstatSync(folder.at(basename(path)));
    return found.isSymbolicLink() ? undefined : found;
  } catch {
    return undefined;
  }
}

/** Gives a file other rights. Throws what the system says, and FILE_NOT_WRITABLE for a link in a guarded folder. */
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

/** Sets when the file was changed last. Throws as `changeMode`. */
export function changeTime(path: string, time: Date): void {
  using file = openFile(path);
  futimesSync(file.fd, time, time);
}

/** A file that other programs open by its path, a lock say: its folder is made, and neither may be a link. */
export function prepareForOthers(path: string): void {
  makeFolder(dirname(path));
  const base = baseOf(path);
  const link = base === undefined ? undefined : linkOnTheWay(path, base);
  if (link !== undefined) throw linkInTheWay(link);
}

/** The folder of a path, held open where it is guarded. */
function folderOf(path: string, create: boolean): OpenFolder & Disposable {
  const folder = dirname(path);
  const base = baseOf(path);
  // A base stands in a folder that nobody guards.
  if (base !== undefined && path !== base) {
    if (create) mkdirSync(base, { recursive: true });
    return openGuarded(folder, base, create);
  }
  if (create) mkdirSync(folder, { recursive: true });
  return { path: folder, at: (name) => join(folder, name), [Symbol.dispose]: () => {} };
}

/** Nothing is waited for: a pipe without a writer would hold us for ever. Throws for a link, and for what is no file. */
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

function notWritable(verb: string, path: string, cause: unknown): ClaudikinsError {
  // Errors of ours that have a next step say what is wrong themselves.
  if (cause instanceof ClaudikinsError && cause.hint !== undefined) return cause;
  const why = cause instanceof ClaudikinsError && cause.cause ? cause.cause : cause;
  return new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot ${verb} ${path}: ${messageOf(why)}`, { cause: why });
}
