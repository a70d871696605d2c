/** `Stats` and `Dirent`, as Node's fs returns them. */
import type { FileKind, FileStats } from "../host.ts";
import { define } from "../named.ts";

class Entry {
  readonly #kind: FileKind;
  constructor(kind: FileKind) {
    this.#kind = kind;
  }
  isFile(): boolean {
    return this.#kind === "file";
  }
  isDirectory(): boolean {
    return this.#kind === "folder";
  }
  isSymbolicLink(): boolean {
    return this.#kind === "link";
  }
  static {
    for (const name of ["isFIFO", "isSocket", "isBlockDevice", "isCharacterDevice"]) {
      define(Entry.prototype, { [name]: () => false });
    }
  }
}

export class Dirent extends Entry {
  readonly name: string;
  readonly parentPath: string;
  constructor(name: string, parentPath: string, kind: FileKind) {
    super(kind);
    this.name = name;
    this.parentPath = parentPath;
  }
  get path(): string {
    return this.parentPath;
  }
}

const modes = { file: 0o100644, folder: 0o040755, link: 0o120777, other: 0o010644 };

/** Has the fields of Node's Stats. The user, device and inode numbers are always 0. */
export class Stats extends Entry {
  constructor({ kind, ...facts }: FileStats) {
    super(kind);
    const { size, atimeMs, mtimeMs, ctimeMs, birthtimeMs } = facts;
    Object.assign(this, { dev: 0, ino: 0, uid: 0, gid: 0, rdev: 0, blksize: 4_096, mode: modes[kind] }, facts, {
      blocks: Math.ceil(size / 512),
      atime: new Date(atimeMs),
      mtime: new Date(mtimeMs),
      ctime: new Date(ctimeMs),
      birthtime: new Date(birthtimeMs),
    });
  }
}
