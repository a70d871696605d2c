/**
 * Holds folders open during an operation, so that the folder that was checked is the folder that is used.
 *
 * On Linux, a folder is an open descriptor and its entries are named through `/proc/self/fd`. Folders are opened one name at a time
 * from the root, never through a link. If a path is renamed or replaced meanwhile, the operation still reaches the folder that was
 * checked.
 *
 * Other systems have no such names, and Node has no `openat`. There, entries are named by path, and the path is checked again once
 * a folder or file is open. macOS refuses links anywhere in a path when it opens it. The remaining risk without descriptors:
 * another process that can write to the folder, and swaps a folder for a link and back at the right moments, can redirect a
 * listing, creation, rename or removal, with the rights of this process. On systems other than macOS, it can also redirect a read.
 * Sandboxed code cannot do this, because it can neither create nor move links.
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
  writeFileSync,
} from "node:fs";
import { join, relative, sep } from "node:path";
import { systemCodeOf } from "./errors.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** Makes opening a link fail. On macOS it applies to links anywhere in the path: O_NOFOLLOW_ANY, which Node does not define. */
export const noFollow = process.platform === "darwin" ? 0x2000_0000 : O_NOFOLLOW;

export const descriptorsHaveNames = process.platform === "linux" && existsSync("/proc/self/fd");

/** The folder in a project that has the registry and the workspace. */
export const projectDataFolder = ".claudikins";

/** A link was found where links are refused. `path` is the path of the link. */
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
  /** The path at which the folder was found. */
  readonly #found: string;
  /** A path that the system accepts. */
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

  /** Opens a root: below it no link is followed. `real` must be a path without links. */
  static openRoot(real: string, byDescriptor = descriptorsHaveNames): Folder {
    return new Folder(real, real, real, byDescriptor);
  }

  /** Returns the path of an entry. */
  at(name: string): string {
    return `${this.path}/${name}`;
  }

  /** Opens a folder in this one. With `create`, a missing folder is created. Throws ENOENT, ENOTDIR and LinkRefused. */
  enter(name: string, create = false): Folder {
    try {
      return new Folder(this.at(name), `${this.#found}/${name}`, this.#root, this.path !== this.#found);
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === "ENOENT" && create) {
        const isNew = makeOrFind(this.at(name));
        const made = this.enter(name);
        if (isNew && name === projectDataFolder) ignoreItself(made);
        return made;
      }
      if ((code === "ENOTDIR" || code === "ELOOP") && lstatSync(this.at(name)).isSymbolicLink())
        throw new LinkRefused(`${this.#found}/${name}`);
      throw error;
    }
  }

  /** Opens folders one after the other, each in the one before, and returns the last one. This folder is closed. */
  descend(names: readonly string[], create = false): Folder {
    let folder: Folder = this;
    for (const name of names) {
      // The previous folder is closed even if the next one cannot be opened.
      using left: Folder = folder;
      folder = left.enter(name, create);
    }
    return folder;
  }

  /** Throws LinkRefused if the path no longer leads to this folder. It checks only where folders are named by path. */
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

/** Creates a folder, or accepts one that another process has just created. Returns whether it is new. */
function makeOrFind(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if (systemCodeOf(error) !== "EEXIST") throw error;
    return false;
  }
}

/** Hides a new folder from git. A file that a person has changed or removed stays so, because the folder is then no longer new. */
function ignoreItself(folder: { at(name: string): string }): void {
  try {
    writeFileSync(
      folder.at(".gitignore"),
      "# Made by claudikins. To commit the registry, replace the next line by: /workspace/\n*\n",
      {
        flag: "wx",
      },
    );
  } catch {
    // Ignored, because the next operation in the folder fails with a better error.
  }
}

/** As for a guarded folder: makes all folders of the path, for systems where they cannot be kept open. `base` must exist. */
export function makeBelow(base: string, path: string): void {
  let at = base;
  for (const name of namesBelow(base, path)) {
    at = join(at, name);
    const made = at;
    if (makeOrFind(made) && name === projectDataFolder) ignoreItself({ at: (file) => join(made, file) });
  }
}

/** An entry of an open folder. It need not exist. */
export class FolderEntry implements Disposable {
  readonly folder: Folder;
  readonly name: string;

  constructor(folder: Folder, name: string) {
    this.folder = folder;
    this.name = name;
  }

  get path(): string {
    return this.folder.at(this.name);
  }

  /** Returns the stats of the entry without following links, or undefined if it does not exist. */
  find(): Stats | undefined {
    return lstatSync(this.path, { throwIfNoEntry: false });
  }

  [Symbol.dispose](): void {
    this.folder[Symbol.dispose]();
  }
}

/** Returns the names in a path below a folder. They are empty for the folder itself. */
export function namesBelow(folder: string, path: string): string[] {
  return relative(folder, path).split(sep).filter(Boolean);
}
