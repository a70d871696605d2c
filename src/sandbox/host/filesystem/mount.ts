/** A folder of the host that code sees under a name of its own. */
import { mkdirSync, realpathSync } from "node:fs";
import { codeOf, Fault } from "./fault.ts";
import { Folder, Place } from "./folder.ts";

export class Mount {
  readonly #folder: string;
  readonly #byDescriptor: boolean;
  #real: string | undefined;

  /** The folder need not exist, and may be reached through links. */
  constructor(folder: string, byDescriptor: boolean) {
    this.#folder = folder;
    this.#byDescriptor = byDescriptor;
  }

  /** The mount itself; undefined where it does not exist and is not to be made. */
  open(create: boolean): Folder | undefined {
    try {
      return this.#openNow();
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      if (!create) return undefined;
    }
    this.#real = undefined;
    mkdirSync(this.#folder, { recursive: true });
    return this.#openNow();
  }

  /** A folder below, all of them real ones. Throws ENOENT, ENOTDIR, EACCES. */
  enter(names: readonly string[], create = false): Folder {
    let folder = this.open(create);
    if (!folder) throw new Fault("ENOENT");
    for (const name of names) {
      // The one that is left is closed, whether or not the next opens.
      using left: Folder = folder;
      folder = left.enter(name);
    }
    return folder;
  }

  /** The place of an entry, in its folder. With `create` the mount is made; folders below never are. */
  place(names: readonly [string, ...string[]], create = false): Place {
    return new Place(this.enter(names.slice(0, -1), create), names.at(-1) ?? "");
  }

  /** Resolved once: a link put in the way later is none of ours. */
  #openNow(): Folder {
    this.#real ??= realpathSync(this.#folder);
    return Folder.openRoot(this.#real, this.#byDescriptor);
  }
}
