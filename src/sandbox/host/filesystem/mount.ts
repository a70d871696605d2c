/** A folder of this machine that programs see under a name of its own. */
import { mkdirSync, realpathSync } from "node:fs";
import { Folder, LinkRefused, namesBelow, Place } from "../../../open-folder.ts";
import { codeOf, Fault } from "./fault.ts";
import type { MountName } from "./path.ts";

export interface MountOptions {
  name: MountName;
  /** The folder need not exist. */
  folder: string;
  /** The part of the path that may lead through links. Below it, links are not followed. */
  base: string;
  byDescriptor: boolean;
}

export class Mount {
  readonly #options: MountOptions;
  readonly #names: string[];
  #real: string | undefined;

  constructor(options: MountOptions) {
    this.#options = options;
    this.#names = namesBelow(options.base, options.folder);
  }

  /** Opens the mount. Returns undefined if it does not exist and `create` is false. */
  open(create: boolean): Folder | undefined {
    try {
      return this.#openNow(create);
    } catch (error) {
      if (error instanceof LinkRefused) throw this.#linked();
      if (codeOf(error) !== "ENOENT") throw error;
      if (!create) return undefined;
    }
    this.#real = undefined;
    mkdirSync(this.#options.base, { recursive: true });
    return this.#openNow(true);
  }

  /** Opens a folder below the mount without following links. Throws ENOENT, ENOTDIR and EACCES. */
  enter(names: readonly string[], create = false): Folder {
    const folder = this.open(create);
    if (!folder) throw new Fault("ENOENT");
    return folder.descend(names);
  }

  /** Returns the place of an entry in its folder. With `create`, the mount is created, but no folder below it. */
  place(names: readonly [string, ...string[]], create = false): Place {
    return new Place(this.enter(names.slice(0, -1), create), names.at(-1) ?? "");
  }

  /** The base is resolved only once, so that a link that is put there later has no effect. */
  #openNow(create: boolean): Folder {
    const { base, byDescriptor } = this.#options;
    this.#real ??= realpathSync(base);
    return Folder.openRoot(this.#real, byDescriptor).descend(this.#names, create);
  }

  #linked(): Fault {
    const { name } = this.#options;
    return new Fault(
      "EACCES",
      `./${name} is a symbolic link or is reached through one, and links inside a project are not followed`,
      `Ask the user to run claudikins doctor, which names the link. Replace the link with a folder, or set "${name}" in claudikins.json to the folder you mean.`,
    );
  }
}
