/** The copy of the workspace that a dry run changes, so that nothing that outlives it is changed. */

import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemCodeOf } from "../../../base/errors.ts";
import { type Folder, FolderEntry } from "../../../base/open-folder.ts";
import { megabyte } from "../../../base/units.ts";
import type { Mounts } from "../../contract.ts";
import { maxWalkedDepth, maxWorkspaceEntries } from "../../limits.ts";
import { megabytes, readBytes } from "./content.ts";
import { FileRefusal } from "./fault.ts";
import { Mount } from "./mount.ts";
import { isTemporaryName } from "./path.ts";
import { measure } from "./tree.ts";

/** Size of the workspace that a dry run can copy. */
const maxScratchBytes = 200 * megabyte;

export class Scratch {
  readonly #folder: string;
  readonly #byDescriptor: boolean;
  #copied: Mount | undefined;

  constructor(folder: string, byDescriptor: boolean) {
    this.#folder = folder;
    this.#byDescriptor = byDescriptor;
  }

  get #path(): string {
    return join(this.#folder, "workspace");
  }

  /** The copy. Undefined if nothing was changed yet, by this program or by one that it has called. */
  get copied(): Mount | undefined {
    if (!this.#copied && existsSync(this.#path)) {
      const mounts: Mounts = { workspace: this.#path, registry: this.#path };
      this.#copied = new Mount("workspace", mounts, this.#byDescriptor);
    }
    return this.#copied;
  }

  /** Copies the workspace, unless that was done before. Throws EDQUOT if it is too large. */
  copy(workspace: Mount): Mount {
    if (!this.copied) {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      // Programs that run at once may copy at once. The first copy counts.
      const unfinished = mkdtempSync(join(this.#folder, "copy-"));
      using folder = workspace.open(false);
      if (folder) copyFolder(checked(folder), unfinished, maxScratchBytes);
      try {
        renameSync(unfinished, this.#path);
      } catch (error) {
        if (!existsSync(this.#path)) throw error;
      }
    }
    return this.copied ?? workspace;
  }
}

/** The folder, if it is small enough to be copied. */
function checked(folder: Folder): Folder {
  const { bytes } = measure(folder, { entries: maxWorkspaceEntries, bytes: maxScratchBytes });
  if (bytes <= maxScratchBytes) return folder;
  throw new FileRefusal(
    "EDQUOT",
    `a dry run changes a copy of ./workspace, which can have at most ${megabytes(maxScratchBytes)}`,
  );
}

/** Copies files and folders. Links, special files, and files that a program cannot read are left out. */
function copyFolder(folder: Folder, target: string, maxBytes: number, depth = 0): void {
  if (depth > maxWalkedDepth) return;
  for (const name of readdirSync(folder.path)) {
    if (isTemporaryName(name)) continue;
    const place = new FolderEntry(folder, name);
    const found = place.find();
    if (found?.isDirectory()) {
      using inner = folder.enter(name);
      mkdirSync(join(target, name));
      copyFolder(inner, join(target, name), maxBytes, depth + 1);
    } else if (found?.isFile()) copyFile(place, join(target, name), maxBytes);
  }
}

function copyFile(place: FolderEntry, target: string, maxBytes: number): void {
  try {
    writeFileSync(target, readBytes(place, maxBytes));
  } catch (error) {
    if (!(error instanceof FileRefusal) && !["EACCES", "ENOENT"].includes(systemCodeOf(error) ?? "")) throw error;
  }
}
