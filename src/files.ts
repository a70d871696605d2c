/** Files that are there whole or not at all. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "./errors.ts";

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
  const temporary = `${path}.${process.pid}.${++written}.tmp`;
  try {
    const found = readIfThere(path);
    if (found === text) return "unchanged";
    if (found !== undefined && !mayReplace(found)) return "kept";
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(temporary, text, { mode });
    renameSync(temporary, path);
    return "written";
  } catch (cause) {
    discard(temporary);
    throw notWritable("write", path, cause);
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
    rmSync(path, { force: true });
  } catch (cause) {
    throw notWritable("remove", path, cause);
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
  return ifThere(path, () => readFileSync(path, "utf8"));
}

/** The names in a folder, sorted; none where there is no folder. Throws FILE_NOT_FOUND when it cannot be read. */
export function namesIn(folder: string): string[] {
  return (ifThere(folder, () => readdirSync(folder)) ?? []).sort();
}

function ifThere<T>(path: string, read: () => T): T | undefined {
  try {
    return read();
  } catch (cause) {
    const code = systemCodeOf(cause);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read ${path}: ${messageOf(cause)}`, { cause });
  }
}

function notWritable(verb: string, path: string, cause: unknown): ClaudikinsError {
  const why = cause instanceof ClaudikinsError && cause.cause ? cause.cause : cause;
  return new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot ${verb} ${path}: ${messageOf(why)}`, { cause: why });
}
