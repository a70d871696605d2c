/** Files that are there whole or not at all. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "./errors.ts";

/** Writes the text unless the file has it already; true when it was written. Throws FILE_NOT_WRITABLE. */
export function writeWhenChanged(path: string, text: string): boolean {
  if (readIfThere(path) === text) return false;
  const temporary = `${path}.${process.pid}.${++written}.tmp`;
  try {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(temporary, text);
    renameSync(temporary, path);
    return true;
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write ${path}: ${messageOf(cause)}`, { cause });
  }
}

let written = 0;

/** The text of a file, or undefined where there is none. */
export function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = systemCodeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read ${path}: ${messageOf(error)}`, { cause: error });
  }
}
