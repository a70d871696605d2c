/** The files that a daemon was started with: it ends when one of them has changed. */
import type { Stats } from "node:fs";
import { statsOf } from "../base/files.ts";

export class WatchedFiles {
  readonly #files: readonly { path: string; isProgram: boolean; atStart: Stats | undefined }[];

  constructor(configFiles: readonly string[], program: string | undefined) {
    const files = configFiles.map((path) => ({ path, isProgram: false }));
    if (program !== undefined) files.push({ path: program, isProgram: true });
    this.#files = files.map((file) => ({ ...file, atStart: statsOf(file.path) }));
  }

  /** Whether a file was written, replaced or removed. Asked for with each message, so it makes no texts. */
  haveChanged(): boolean {
    return this.#files.some(({ path, isProgram, atStart }) => !isSame(atStart, statsOf(path), isProgram));
  }
}

/** A hard link to an executable changes nothing, although it counts as a write of the file's metadata. */
function isSame(one: Stats | undefined, other: Stats | undefined, isProgram: boolean): boolean {
  if (!one || !other) return one === other;
  const isWritten = one.mtimeMs !== other.mtimeMs || (!isProgram && one.ctimeMs !== other.ctimeMs);
  return !isWritten && one.size === other.size && one.ino === other.ino;
}
