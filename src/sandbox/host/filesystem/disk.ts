/** The file system of a program: the operations on both mounts, with the paths that the program uses. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmdirSync,
  type Stats,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { systemCodeOf } from "../../../base/errors.ts";
import { type Folder, FolderEntry } from "../../../base/open-folder.ts";
import { megabyte } from "../../../base/units.ts";
import type { Mounts } from "../../contract.ts";
import { maxWalkedDepth, maxWorkspaceEntries } from "../../limits.ts";
import { appendBytes, checkFile, createFile, megabytes, readBytes, replaceFile, tooBig } from "./content.ts";
import { FileRefusal, linkFault } from "./fault.ts";
import { Mount } from "./mount.ts";
import {
  type GuestPath,
  isNames,
  isTemporaryName,
  type MountName,
  type Names,
  namesToChange,
  parsePath,
  readOnly,
} from "./path.ts";
import { Quota, type Quotas } from "./quota.ts";
import { list, measure, nothing, removeAll, type TreeEntry } from "./tree.ts";

const writers = { replace: replaceFile, create: createFile, append: appendBytes };

export class Disk {
  readonly #original: Mount;
  readonly #registry: Mount;
  /** Given for a dry run. */
  readonly #scratch: Scratch | undefined;
  readonly #quota: Quota;
  /** The first path below the registry that was used. */
  registryPath: string | undefined;
  readonly #fileBytes: number;

  constructor(mounts: Mounts, quotas: Quotas, byDescriptor: boolean) {
    this.#original = new Mount("workspace", mounts, byDescriptor);
    this.#scratch = mounts.scratch === undefined ? undefined : new Scratch(mounts.scratch, byDescriptor);
    this.#registry = new Mount("registry", mounts, byDescriptor);
    this.#fileBytes = quotas.fileBytes;
    this.#quota = new Quota(quotas, (enough) => {
      using folder = this.#workspace.open(false);
      return folder ? measure(folder, enough) : nothing();
    });
  }

  /** The workspace as the program sees it. */
  get #workspace(): Mount {
    return this.#scratch?.copied ?? this.#original;
  }

  /** The workspace for a change. */
  get #changed(): Mount {
    return this.#scratch?.copy(this.#original) ?? this.#original;
  }

  read(given: string): Buffer {
    const path = this.#parse(given);
    using place = this.#entry(path);
    if (!place) throw new FileRefusal("EISDIR");
    const bytes = readBytes(place, this.#fileBytes);
    if (path.folder) throw new FileRefusal("ENOTDIR");
    return bytes;
  }

  /** Writes a file and creates it if it is missing. "create" throws EEXIST if it exists. */
  write(given: string, bytes: Uint8Array, how: keyof typeof writers): void {
    const path = this.#parse(given);
    if (path.mount !== "registry" && (path.names.length === 0 || path.folder)) throw new FileRefusal("EISDIR");
    using place = this.#changed.place(namesToChange(path), true);
    const found = place.find();
    if (found && how === "create") throw new FileRefusal("EEXIST");
    const kept = how === "append" ? 0 : -(found?.size ?? 0);
    const change = { entries: found ? 0 : 1, bytes: bytes.length + kept };
    const size = (found?.size ?? 0) + change.bytes;
    if (size > this.#fileBytes) throw tooBig(size, this.#fileBytes);
    this.#quota.charge(change, () => writers[how](place, bytes));
  }

  list(given: string, recursive: boolean): TreeEntry[] {
    const { mount, names } = this.#parse(given);
    if (mount) return this.#listIn(mount, names, recursive);
    const mounts = ["registry", "workspace"] as const;
    return mounts.flatMap((name): TreeEntry[] => {
      const inner = recursive ? this.#listIn(name, [], true) : [];
      const below = inner.map((entry) => ({ ...entry, parent: [name, entry.parent].filter(Boolean).join("/") }));
      return [{ name, parent: "", kind: "folder" }, ...below];
    });
  }

  /** Returns undefined for a mount that does not exist yet, and for the folder that contains the mounts. */
  stat(given: string, followed: boolean): Stats | undefined {
    const path = this.#parse(given);
    using place = this.#entry(path);
    if (!place) return undefined;
    const found = place.find();
    if (!found) throw new FileRefusal("ENOENT");
    if (followed && found.isSymbolicLink()) throw linkFault();
    if (path.folder && !found.isDirectory()) throw new FileRefusal("ENOTDIR");
    return found;
  }

  /** Throws if the entry does not exist, or if `write` is true and it is read-only. */
  access(given: string, write: boolean): void {
    this.stat(given, true);
    if (write && this.#parse(given).mount !== "workspace") throw readOnly();
  }

  /** Creates a folder. Returns the path from `/` of the first folder that was created, if `recursive`, or else undefined. */
  makeFolder(given: string, recursive: boolean): string | undefined {
    const path = this.#parse(given);
    if (path.names.length === 0 && recursive) {
      if (path.mount === "workspace") this.#changed.open(true)?.[Symbol.dispose]();
      return undefined;
    }
    if (path.names.length === 0) throw new FileRefusal("EEXIST");
    const names = namesToChange(path);
    let first: string | undefined;
    for (let length = recursive ? 1 : names.length; length <= names.length; length++) {
      const some = names.slice(0, length) as Names;
      const otherwise = length < names.length ? "ENOTDIR" : "EEXIST";
      if (this.#makeOne(some, recursive, otherwise)) first ??= `/workspace/${some.join("/")}`;
    }
    return recursive ? first : undefined;
  }

  /** Creates a folder whose name is the prefix and six random characters. Returns its path. */
  makeTemporaryFolder(prefix: string): string {
    for (let attempt = 0; ; attempt++) {
      const path = prefix + crypto.randomUUID().replaceAll("-", "").slice(0, 6);
      try {
        this.#makeOne(namesToChange(this.#parse(path)));
        return path;
      } catch (error) {
        if (!(error instanceof FileRefusal && error.code === "EEXIST") || attempt === 10) throw error;
      }
    }
  }

  /** Removes a file, an empty folder, or with `all` anything including its contents. */
  remove(given: string, what: "file" | "folder" | "all"): void {
    using place = this.#changed.place(namesToChange(this.#parse(given)));
    const found = place.find();
    if (!found) throw new FileRefusal("ENOENT");
    if (what === "all") {
      this.#quota.release(removeAll(place));
      return;
    }
    if (what === "file" && found.isDirectory())
      throw new FileRefusal("EISDIR", undefined, "Remove a folder with fs.rm(path, { recursive: true }).");
    if (what === "file") unlinkSync(place.path);
    else rmdirSync(place.path);
    this.#quota.release({ entries: 1, bytes: found.isFile() ? found.size : 0 });
  }

  rename(from: string, to: string): void {
    // Both paths are checked before either is looked up, so that a refusal has precedence over a missing file.
    const paths = [namesToChange(this.#parse(from)), namesToChange(this.#parse(to))] as const;
    using source = this.#changed.place(paths[0]);
    using target = this.#changed.place(paths[1]);
    const moved = source.find();
    if (!moved) throw new FileRefusal("ENOENT");
    const replaced = target.find();
    for (const each of [moved, replaced]) if (each && !each.isDirectory()) checkFile(each, true);
    renameSync(source.path, target.path);
    if (replaced && replaced.ino !== moved.ino)
      this.#quota.release({ entries: 1, bytes: replaced.isFile() ? replaced.size : 0 });
  }

  /** The path below the workspace. Undefined for a path below the registry. The folder that contains both mounts has an empty path. */
  workspacePath(given: string): string | undefined {
    const { mount, names } = this.#parse(given);
    return mount === "registry" ? undefined : names.join("/");
  }

  /** Returns the path from `/`, without dots. */
  resolve(given: string): string {
    this.stat(given, true);
    const { mount, names } = this.#parse(given);
    return `/${[mount, ...names].filter(Boolean).join("/")}`;
  }

  #parse(given: string): GuestPath {
    const path = parsePath(given);
    if (path.mount === "registry") this.registryPath ??= path.names.join("/");
    return path;
  }

  /** Returns the place of an entry, which need not exist. Returns undefined for `/` and for a mount, which are always folders. */
  #entry({ mount, names }: GuestPath): FolderEntry | undefined {
    return mount && isNames(names) ? this.#mount(mount).place(names) : undefined;
  }

  #mount(name: MountName): Mount {
    return name === "workspace" ? this.#workspace : this.#registry;
  }

  /** A mount that does not exist yet is empty. */
  #listIn(name: MountName, names: string[], recursive: boolean): TreeEntry[] {
    const mount = this.#mount(name);
    using folder = names.length === 0 ? mount.open(false) : mount.enter(names);
    return folder ? list(folder, recursive) : [];
  }

  /** Creates a folder. Returns false if it exists and `mayExist` is true. `taken` is the error code if it must not exist. */
  #makeOne(names: Names, mayExist = false, taken: "EEXIST" | "ENOTDIR" = "EEXIST"): boolean {
    using place = this.#changed.place(names, true);
    const found = place.find();
    if (found?.isSymbolicLink()) throw linkFault();
    if (mayExist && found?.isDirectory()) return false;
    if (found) throw new FileRefusal(taken);
    try {
      this.#quota.charge({ entries: 1, bytes: 0 }, () => mkdirSync(place.path));
    } catch (error) {
      // Another process has just created the folder, which is fine.
      if (mayExist && place.find()?.isDirectory()) return false;
      throw error;
    }
    return true;
  }
}

/** Size of the workspace that a dry run can copy. */
const maxScratchBytes = 200 * megabyte;

class Scratch {
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
