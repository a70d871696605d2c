/** Files that claudikins itself writes to the workspace for a program: they count against its limits as the program's own files do. */
import { messageOf } from "../../base/errors.ts";
import { descriptorsHaveNames } from "../../base/open-folder.ts";
import type { Mounts } from "../contract.ts";
import { Disk } from "./filesystem/disk.ts";
import { describeFault } from "./filesystem/fault.ts";
import { defaultQuotas } from "./filesystem/quota.ts";

/** The folder in the workspace. */
export const outputsName = "outputs";

const folder = `./workspace/${outputsName}`;

export type OutputFolders = Pick<Mounts, "workspace" | "bases">;

export class Outputs {
  readonly #disk: Disk;

  /** Each instance measures the workspace once, which takes as long as there are files. */
  constructor({ workspace, bases }: OutputFolders) {
    // No path below the registry is used.
    const mounts = { workspace, registry: workspace, ...(bases ? { bases } : {}) };
    this.#disk = new Disk(mounts, defaultQuotas, descriptorsHaveNames);
  }

  /** Writes a file and replaces an existing one. Returns its path as programs see it. Throws an error without paths of this machine. */
  write(name: string, bytes: Uint8Array): string {
    const path = `${folder}/${name}`;
    try {
      this.#disk.makeFolder(folder, true);
      this.#disk.write(path, bytes, "replace");
      return path;
    } catch (error) {
      const { message, hint } = describeFault(error, "open", [path]);
      throw new Error(hint === undefined ? message : `${message}. ${hint}`, { cause: messageOf(error) });
    }
  }
}
