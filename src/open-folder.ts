/**
 * Folders held open while something is done in them, so that what was checked is what is used.
 *
 * On Linux a folder is an open descriptor and its entries are named through `/proc/self/fd`: whatever is renamed or
 * linked meanwhile, an operation lands in the folder that was checked, one name at a time from the root, never through
 * a link. Elsewhere there is no such name, and no `openat` in Node: entries are named by path, and the path is looked
 * at again once a folder or file is open. macOS refuses links anywhere on the way when it opens one. What remains
 * without descriptors: somebody else who can write to the folder, and swaps a folder for a link and back at the right
 * moments, can make a listing, creation, rename or removal happen elsewhere (and, where neither system is, a reading),
 * with the rights of this process. Code in the sandbox cannot: it makes no links, and moves none.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  type Stats,
} from "node:fs";
import { relative, sep } from "node:path";
import { systemCodeOf } from "./errors.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** Opening fails at a link: on macOS at one anywhere in the path (O_NOFOLLOW_ANY, which Node does not name). */
export const noFollow = process.platform === "darwin" ? 0x2000_0000 : O_NOFOLLOW;

export const descriptorsHaveNames = process.platform === "linux" && existsSync("/proc/self/fd");

/** A link where none may be. `path` is that of the link. */
export class LinkRefused extends Error {
  override readonly name = "LinkRefused";
  readonly code = "EACCES";
  readonly path: string;

  constructor(path: string) {
    super(`${path} is a symbolic link, which is not followed`);
    this.path = path;
  }
}

export class Folder implements Disposable {
  readonly #fd: number;
  readonly #root: string;
  /** Where it was found. */
  readonly #found: string;
  /** A name for it that the system understands. */
  readonly path: string;

  private constructor(path: string, found: string, root: string, byDescriptor: boolean) {
    this.#fd = openSync(path, O_RDONLY | O_DIRECTORY | noFollow);
    this.#root = root;
    this.#found = found;
    this.path = byDescriptor ? `/proc/self/fd/${this.#fd}` : found;
    try {
      this.verify();
    } catch (error) {
      closeSync(this.#fd);
      throw error;
    }
  }

  /** The folder in which no link is followed: a path without links. */
  static openRoot(real: string, byDescriptor = descriptorsHaveNames): Folder {
    return new Folder(real, real, real, byDescriptor);
  }

  /** The path of an entry. */
  at(name: string): string {
    return `${this.path}/${name}`;
  }

  /** A folder in this one, made where there is none and `create` says so. Throws ENOENT, ENOTDIR, and LinkRefused. */
  enter(name: string, create = false): Folder {
    try {
      return new Folder(this.at(name), `${this.#found}/${name}`, this.#root, this.path !== this.#found);
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === "ENOENT" && create) {
        makeOrFind(this.at(name));
        return this.enter(name);
      }
      if ((code === "ENOTDIR" || code === "ELOOP") && lstatSync(this.at(name)).isSymbolicLink())
        throw new LinkRefused(`${this.#found}/${name}`);
      throw error;
    }
  }

  /** The same over several names, each in the one before. This one is closed. */
  descend(names: readonly string[], create = false): Folder {
    let folder: Folder = this;
    for (const name of names) {
      // The one that is left is closed, whether or not the next opens.
      using left: Folder = folder;
      folder = left.enter(name, create);
    }
    return folder;
  }

  /** Throws unless the path still leads to this folder, where paths are all there is. */
  verify(): void {
    if (this.path !== this.#found) return;
    const now = lstatSync(this.#found);
    const held = fstatSync(this.#fd);
    const real = realpathSync(this.#found);
    if (now.dev !== held.dev || now.ino !== held.ino || !`${real}${sep}`.startsWith(`${this.#root}${sep}`))
      throw new LinkRefused(this.#found);
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
  }
}

/** Somebody else may be faster, which is as good. */
function makeOrFind(path: string): void {
  try {
    mkdirSync(path);
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
  }
}

/** A name in an open folder, whether or not something is there. */
export class Place implements Disposable {
  readonly folder: Folder;
  readonly name: string;

  constructor(folder: Folder, name: string) {
    this.folder = folder;
    this.name = name;
  }

  get path(): string {
    return this.folder.at(this.name);
  }

  /** What is there now, links not followed; undefined for nothing. */
  find(): Stats | undefined {
    return lstatSync(this.path, { throwIfNoEntry: false });
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

/** The names that lead from a folder to a path below it; none for the folder itself. */
export function namesBelow(folder: string, path: string): string[] {
  return relative(folder, path).split(sep).filter(Boolean);
}
