/** The files that a daemon was started with: it ends when one of them has changed. */
import type { Stats } from "node:fs";
import { statsOf } from "../base/files.ts";

interface Watched {
  configFiles: readonly string[];
  /** Changes with every change of a saved program. */
  programsMark: () => string;
  /** The executable. */
  program: string | undefined;
}

export class WatchedFiles {
  readonly #files: readonly { path: string; isProgram: boolean; atStart: Stats | undefined }[];
  readonly #programsMark: () => string;
  readonly #markAtStart: string;

  constructor({ configFiles, programsMark, program }: Watched) {
    const files = configFiles.map((path) => ({ path, isProgram: false }));
    if (program !== undefined) files.push({ path: program, isProgram: true });
    this.#files = files.map((file) => ({ ...file, atStart: statsOf(file.path) }));
    this.#programsMark = programsMark;
    this.#markAtStart = programsMark();
  }

  /** Whether a file was written, replaced or removed, or a saved program has changed. Asked for with each message. */
  haveChanged(): boolean {
    const hasOther = this.#files.some(({ path, isProgram, atStart }) => !isSame(atStart, statsOf(path), isProgram));
    return hasOther || this.#programsMark() !== this.#markAtStart;
  }
}

/** Compares what `stampOf` has a text for, without the text, which takes 10 µs for each message. A hard link to an executable changes nothing, although it counts as a write of the file's metadata. */
function isSame(one: Stats | undefined, other: Stats | undefined, isProgram: boolean): boolean {
  if (!one || !other) return one === other;
  const isWritten = one.mtimeMs !== other.mtimeMs || (!isProgram && one.ctimeMs !== other.ctimeMs);
  return !isWritten && one.size === other.size && one.ino === other.ino;
}
