/** `Stats` and `Dirent`, as Node's fs returns them. */

import type { FileKind, FileStats } from "../host.ts";

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
  isFIFO(): boolean {
    return false;
  }
  isSocket(): boolean {
    return false;
  }
  isBlockDevice(): boolean {
    return false;
  }
  isCharacterDevice(): boolean {
    return false;
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
  readonly dev = 0;
  readonly ino = 0;
  readonly uid = 0;
  readonly gid = 0;
  readonly rdev = 0;
  readonly blksize = 4_096;
  readonly mode: number;
  readonly nlink: number;
  readonly size: number;
  readonly blocks: number;
  readonly atimeMs: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly birthtimeMs: number;
  readonly atime: Date;
  readonly mtime: Date;
  readonly ctime: Date;
  readonly birthtime: Date;
  constructor(shape: FileStats) {
    super(shape.kind);
    this.mode = modes[shape.kind];
    this.nlink = shape.links;
    this.size = shape.size;
    this.blocks = Math.ceil(shape.size / 512);
    this.atimeMs = shape.accessedMs;
    this.mtimeMs = shape.modifiedMs;
    this.ctimeMs = shape.changedMs;
    this.birthtimeMs = shape.bornMs;
    this.atime = new Date(shape.accessedMs);
    this.mtime = new Date(shape.modifiedMs);
    this.ctime = new Date(shape.changedMs);
    this.birthtime = new Date(shape.bornMs);
  }
}
