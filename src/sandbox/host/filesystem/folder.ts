/**
 * Folders held open while something is done in them, so that what was checked is what is used.
 *
 * On Linux a folder is an open descriptor and its entries are named through `/proc/self/fd`: whatever is renamed or
 * linked meanwhile, an operation lands in the folder that was checked, one name at a time from the root, never through
 * a link. Elsewhere there is no such name, and no `openat` in Node: entries are named by path, and the path is looked
 * at again once a folder or file is open. macOS refuses links anywhere on the way when it opens one. What remains
 * without descriptors: somebody else who can write to the mount, and swaps a folder for a link and back at the right
 * moments, can make a listing, creation, rename or removal happen elsewhere (and, where neither system is, a reading),
 * with the rights of this process. Code inside cannot: it makes no links, and moves none.
 */
import { closeSync, constants, existsSync, fstatSync, lstatSync, openSync, realpathSync, type Stats } from "node:fs";
import { sep } from "node:path";
import type { FileKind } from "../../guest/host.ts";
import { codeOf, Fault } from "./fault.ts";

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY } = constants;

/** Opening fails at a link: on macOS at one anywhere in the path (O_NOFOLLOW_ANY, which Node does not name). */
export const noFollow = process.platform === "darwin" ? 0x2000_0000 : O_NOFOLLOW;

export const descriptorsHaveNames = process.platform === "linux" && existsSync("/proc/self/fd");

export function kindOf(entry: Pick<Stats, "isFile" | "isDirectory" | "isSymbolicLink">): FileKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
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

  /** The root of a mount: a path without links. */
  static openRoot(real: string, byDescriptor: boolean): Folder {
    return new Folder(real, real, real, byDescriptor);
  }

  /** The path of an entry. */
  at(name: string): string {
    return `${this.path}/${name}`;
  }

  /** A folder in this one. Throws ENOENT, ENOTDIR, and EACCES for a link. */
  enter(name: string): Folder {
    try {
      return new Folder(this.at(name), `${this.#found}/${name}`, this.#root, this.path !== this.#found);
    } catch (error) {
      const code = codeOf(error);
      if ((code === "ENOTDIR" || code === "ELOOP") && kindOf(lstatSync(this.at(name))) === "link") throw linkFault();
      throw error;
    }
  }

  /** Throws unless the path still leads to this folder, where paths are all there is. */
  verify(): void {
    if (this.path !== this.#found) return;
    const now = lstatSync(this.#found);
    const held = fstatSync(this.#fd);
    const real = realpathSync(this.#found);
    if (now.dev !== held.dev || now.ino !== held.ino || !`${real}${sep}`.startsWith(`${this.#root}${sep}`))
      throw linkFault();
  }

  [Symbol.dispose](): void {
    closeSync(this.#fd);
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

export function linkFault(): Fault {
  return new Fault("EACCES", "a symbolic link, and links are not followed", "Use a file or folder that is no link.");
}
