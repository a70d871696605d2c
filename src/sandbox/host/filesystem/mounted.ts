/** The two mounts: finds the place of a path, and decides what may be changed. */
import type { Folder, Place } from "../../../open-folder.ts";
import type { Mounts } from "../../contract.ts";
import { Fault } from "./fault.ts";
import { Mount } from "./mount.ts";
import type { GuestPath, MountName } from "./path.ts";

/** The names on the way from a mount to an entry below it. */
export type Names = [string, ...string[]];

export class Mounted {
  readonly #mounts: Record<MountName, Mount>;

  constructor({ workspace, registry, bases }: Mounts, byDescriptor: boolean) {
    const mount = (name: MountName, folder: string) =>
      new Mount({ name, folder, base: bases?.[name] ?? folder, byDescriptor });
    this.#mounts = { workspace: mount("workspace", workspace), registry: mount("registry", registry) };
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

  /** Returns the place of a file to write. Throws EISDIR for a path that can only be a folder, and EROFS. */
  fileTarget(path: GuestPath): Place {
    if (path.mount !== "registry" && (path.names.length === 0 || path.folder)) throw new Fault("EISDIR");
    return this.target(namesToChange(path));
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
