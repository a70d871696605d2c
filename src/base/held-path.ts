/**
 * Finds the target of a path, one name at a time, and holds it open. This way the checked target is the one that is used, even if names or
 * links change meanwhile. It works on Linux only.
 */
import { closeSync, constants, fstatSync, openSync, readlinkSync } from "node:fs";
import { join, resolve, sep } from "node:path";
import { systemCodeOf } from "./errors.ts";

/** O_PATH, which Node does not define: a descriptor that only names a place. It needs no permission to read. */
const onlyPlace = 0x20_0000;

/** Links on the way to one path. */
const maxLinks = 40;

const closedOnExec = 0x8_0000;

const notThere = new Set(["ENOENT", "ENOTDIR", "EACCES", "ELOOP", "ENAMETOOLONG"]);

/** A symbolic link on the way. */
export interface PathLink {
  at: string;
  /** Absolute. */
  to: string;
  /** The identities of the folders that the link is in, the root first. */
  around: readonly string[];
}

export class HeldPath implements Disposable {
  /** As it was asked for. */
  readonly asked: string;
  /** The path without links. If its end is missing, the names of the end stay. */
  readonly path: string;
  readonly links: readonly PathLink[];
  /** The identities of the folders that it is in, the root first. A name may have several spellings, and an identity has one. */
  readonly around: readonly string[];
  /** Its own identity. Undefined if it does not exist. */
  readonly id: string | undefined;
  readonly isFolder: boolean;
  readonly #fd: number | undefined;

  /** `path` must be absolute. Paths without permission and circular links count as missing. */
  constructor(path: string) {
    const links: PathLink[] = [];
    let held = new Descriptor("/");
    let real = "/";
    let around: string[] = [];
    let rest = namesOf(path);
    while (rest.length > 0 && !held.isMissing) {
      const [name = "", ...more] = rest;
      const folders = [...around, held.id!];
      const next = new Descriptor(`${held.path}/${name}`);
      const target = next.isLink ? textOf(`${held.path}/${name}`) : undefined;
      held.close();
      if (next.isLink && target !== undefined && links.length < maxLinks) {
        next.close();
        const to = resolve(real, target);
        links.push({ at: join(real, name), to, around: folders });
        [held, real, around, rest] = [new Descriptor("/"), "/", [], [...namesOf(to), ...more]];
      } else {
        if (next.isLink) next.close();
        [held, real, around, rest] = [next, join(real, name), folders, more];
      }
    }
    this.asked = path;
    this.path = join(real, ...rest);
    this.links = links;
    this.around = around;
    this.id = held.isMissing ? undefined : held.id;
    this.isFolder = held.isFolder;
    this.#fd = held.isMissing ? undefined : held.fd;
  }

  /** The open descriptor. Throws if the path does not exist. */
  get fd(): number {
    if (this.#fd === undefined) throw new Error(`${this.path} does not exist`);
    return this.#fd;
  }

  /** Whether it is the folder or file, or inside of it. */
  isWithin({ id }: HeldPath): boolean {
    return id !== undefined && (this.id === id || this.around.includes(id));
  }

  /** Whether the path passes through the folder. Anyone who may write to that folder decides where the path leads. */
  leadsThrough(folder: HeldPath): boolean {
    const { id } = folder;
    return id !== undefined && (this.around.includes(id) || this.hasLinkIn(folder));
  }

  /** Whether a link on the way to it is in the folder. */
  hasLinkIn({ id }: HeldPath): boolean {
    return id !== undefined && this.links.some(({ around }) => around.includes(id));
  }

  [Symbol.dispose](): void {
    if (this.#fd !== undefined) closeSync(this.#fd);
  }
}

class Descriptor {
  readonly fd: number | undefined;
  readonly id: string | undefined;
  readonly isLink: boolean = false;
  readonly isFolder: boolean = false;

  constructor(path: string) {
    try {
      this.fd = openSync(path, onlyPlace | constants.O_NOFOLLOW | closedOnExec);
    } catch (error) {
      if (notThere.has(systemCodeOf(error) ?? "")) return;
      throw error;
    }
    const stats = fstatSync(this.fd, { bigint: true });
    this.id = `${stats.dev}:${stats.ino}`;
    this.isLink = stats.isSymbolicLink();
    this.isFolder = stats.isDirectory();
  }

  /** A link that is left over could not be followed. */
  get isMissing(): boolean {
    return this.fd === undefined || this.isLink;
  }

  get path(): string {
    return `/proc/self/fd/${this.fd}`;
  }

  close(): void {
    if (this.fd !== undefined) closeSync(this.fd);
  }
}

function namesOf(path: string): string[] {
  return path.split(sep).filter(Boolean);
}

/** Where a link leads. Undefined if it is no link any more. */
function textOf(link: string): string | undefined {
  try {
    return readlinkSync(link);
  } catch {
    return undefined;
  }
}
