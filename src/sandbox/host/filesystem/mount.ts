/** A folder of this machine that programs see as `./workspace` or `./registry`. */
import { mkdirSync, realpathSync } from "node:fs";
import { systemCodeOf } from "../../../base/errors.ts";
import { Folder, FolderEntry, LinkRefused, namesBelow } from "../../../base/open-folder.ts";
import type { Mounts } from "../../contract.ts";
import { FileRefusal } from "./fault.ts";
import type { MountName, Names } from "./path.ts";

export class Mount {
  readonly #name: MountName;
  /** The part of the path that may lead through links. Below it, links are not followed. */
  readonly #base: string;
  /** The names of the folders from the base to the mount. They need not exist. */
  readonly #names: string[];
  readonly #byDescriptor: boolean;
  #real: string | undefined;

  constructor(name: MountName, { [name]: folder, bases }: Mounts, byDescriptor: boolean) {
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
    if (!folder) throw new FileRefusal("ENOENT");
    return folder.descend(names);
  }

  /** Returns the place of an entry in its folder. With `create`, the mount is created, but no folder below it. */
  place(names: Readonly<Names>, create = false): FolderEntry {
    return new FolderEntry(this.enter(names.slice(0, -1), create), names.at(-1) ?? "");
  }

  /** The base is resolved only once, so that a link that is put there later has no effect. */
  #openNow(create: boolean): Folder {
    this.#real ??= realpathSync(this.#base);
    return Folder.openRoot(this.#real, this.#byDescriptor).descend(this.#names, create);
  }

  #linked(): FileRefusal {
    return new FileRefusal(
      "EACCES",
      `./${this.#name} is a symbolic link or is reached through one, and links inside a project are not followed`,
      `Ask the user to run claudikins doctor, which names the link. Replace the link with a folder, or set "${this.#name}" in claudikins.json to the folder you mean.`,
    );
  }
}
