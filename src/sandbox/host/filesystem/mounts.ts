/** The two folders of this machine that programs see as `./workspace` and `./registry`, and what may be changed in them. */
import { mkdirSync, realpathSync } from "node:fs";
import { systemCodeOf } from "../../../errors.ts";
import { Folder, LinkRefused, namesBelow, Place } from "../../../open-folder.ts";
import type { Mounts as MountFolders } from "../../contract.ts";
import { Fault } from "./fault.ts";
import type { GuestPath, MountName } from "./path.ts";

/** The names on the way from a mount to an entry below it. */
export type Names = [string, ...string[]];

class Mount {
  readonly #name: MountName;
  /** The part of the path that may lead through links. Below it, links are not followed. */
  readonly #base: string;
  /** The names of the folders from the base to the mount. They need not exist. */
  readonly #names: string[];
  readonly #byDescriptor: boolean;
  #real: string | undefined;

  constructor(name: MountName, { [name]: folder, bases }: MountFolders, byDescriptor: boolean) {
    this.#name = name;
    this.#base = bases?.[name] ?? folder;
    this.#names = namesBelow(this.#base, folder);
    this.#byDescriptor = byDescriptor;
  }

  /** Opens the mount. Returns undefined if it does not exist and `create` is false. */
  open(create: boolean): Folder | undefined {
    try {
      return this.#openNow(create);
    } catch (error) {
      if (error instanceof LinkRefused) throw this.#linked();
      if (systemCodeOf(error) !== "ENOENT") throw error;
      if (!create) return undefined;
    }
    this.#real = undefined;
    mkdirSync(this.#base, { recursive: true });
    return this.#openNow(true);
  }

  /** Opens a folder below the mount without following links. Throws ENOENT, ENOTDIR and EACCES. */
  enter(names: readonly string[], create = false): Folder {
    const folder = this.open(create);
    if (!folder) throw new Fault("ENOENT");
    return folder.descend(names);
  }

  /** Returns the place of an entry in its folder. With `create`, the mount is created, but no folder below it. */
  place(names: Readonly<Names>, create = false): Place {
    return new Place(this.enter(names.slice(0, -1), create), names.at(-1) ?? "");
  }

  /** The base is resolved only once, so that a link that is put there later has no effect. */
  #openNow(create: boolean): Folder {
    this.#real ??= realpathSync(this.#base);
    return Folder.openRoot(this.#real, this.#byDescriptor).descend(this.#names, create);
  }

  #linked(): Fault {
    return new Fault(
      "EACCES",
      `./${this.#name} is a symbolic link or is reached through one, and links inside a project are not followed`,
      `Ask the user to run claudikins doctor, which names the link. Replace the link with a folder, or set "${this.#name}" in claudikins.json to the folder you mean.`,
    );
  }
}

export class Mounts {
  readonly #mounts: Record<MountName, Mount>;

  constructor(folders: MountFolders, byDescriptor: boolean) {
    const mount = (name: MountName) => new Mount(name, folders, byDescriptor);
    this.#mounts = { workspace: mount("workspace"), registry: mount("registry") };
  }

  /** Returns the place of an entry, which need not exist. Returns undefined for `/` and for a mount, which are always folders. */
  entry({ mount, names }: GuestPath): Place | undefined {
    return mount && isNames(names) ? this.#mounts[mount].place(names) : undefined;
  }

  /** Opens a folder. Returns undefined for a mount that does not exist yet. */
  folder(mount: MountName, names: readonly string[]): Folder | undefined {
    return names.length === 0 ? this.#mounts[mount].open(false) : this.#mounts[mount].enter(names);
  }

  makeWorkspace(): void {
    this.#mounts.workspace.open(true)?.[Symbol.dispose]();
  }

  /** Returns the place of a new entry in the workspace. */
  target(names: Names): Place {
    return this.#mounts.workspace.place(names, true);
  }

  /** Returns the place of an entry to change or remove. */
  changeable(path: GuestPath): Place {
    return this.#mounts.workspace.place(namesToChange(path));
  }
}

/** Throws EROFS for the registry, and EBUSY for the mounts themselves. */
export function namesToChange({ mount, names }: GuestPath): Names {
  if (mount === "registry") throw readOnly();
  if (!isNames(names)) throw new Fault("EBUSY", "this folder cannot be changed itself", "Change files in ./workspace.");
  return names;
}

export function readOnly(): Fault {
  return new Fault("EROFS", undefined, "./registry is read-only: write to ./workspace.");
}

function isNames(names: string[]): names is Names {
  return names.length > 0;
}
