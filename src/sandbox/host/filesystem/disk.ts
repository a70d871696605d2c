/** The two mounts as one small file system: what each operation does, on paths as the code writes them. */
import { mkdirSync, renameSync, rmdirSync, type Stats, unlinkSync } from "node:fs";
import type { Mounts } from "../../contract.ts";
import type { FileKind } from "../../guest/host.ts";
import { appendBytes, checkFile, createFile, readBytes, replaceFile } from "./content.ts";
import { Fault, linkFault } from "./fault.ts";
import { kindOf } from "./kind.ts";
import { Mounted, type Names, namesToChange, readOnly } from "./mounted.ts";
import { type MountName, parsePath } from "./path.ts";
import { Quota, type Quotas } from "./quota.ts";
import { type Entry, list, measure, removeAll } from "./tree.ts";

export class Disk {
  readonly #mounted: Mounted;
  readonly #quota: Quota;

  constructor(mounts: Mounts, quotas: Quotas, byDescriptor: boolean) {
    this.#mounted = new Mounted(mounts, byDescriptor);
    this.#quota = new Quota(quotas, (enough) => {
      using folder = this.#mounted.folder("workspace", []);
      return folder ? measure(folder, enough) : { entries: 0, bytes: 0 };
    });
  }

  read(given: string): Buffer {
    const path = parsePath(given);
    using place = this.#mounted.entry(path);
    if (!place) throw new Fault("EISDIR");
    const bytes = readBytes(place, this.#quota.fileBytes);
    if (path.folder) throw new Fault("ENOTDIR");
    return bytes;
  }

  /** Replaces the file, or makes it; with `exclusive` only the latter. */
  write(given: string, bytes: Uint8Array, exclusive: boolean): void {
    using place = this.#mounted.fileTarget(parsePath(given));
    const found = place.find();
    if (found && exclusive) throw new Fault("EEXIST");
    this.#quota.checkFile(bytes.length);
    const change = { entries: found ? 0 : 1, bytes: bytes.length - (found?.size ?? 0) };
    this.#quota.check(change);
    if (exclusive) createFile(place, bytes);
    else replaceFile(place, bytes);
    this.#quota.changed(change);
  }

  append(given: string, bytes: Uint8Array): void {
    using place = this.#mounted.fileTarget(parsePath(given));
    const found = place.find();
    this.#quota.checkFile((found?.size ?? 0) + bytes.length);
    const change = { entries: found ? 0 : 1, bytes: bytes.length };
    this.#quota.check(change);
    appendBytes(place, bytes);
    this.#quota.changed(change);
  }

  list(given: string, recursive: boolean): Entry[] {
    const { mount, names } = parsePath(given);
    if (mount) return this.#listIn(mount, names, recursive);
    const mounts = ["registry", "workspace"] as const;
    return mounts.flatMap((name): Entry[] => {
      const inner = recursive ? this.#listIn(name, [], true) : [];
      const below = inner.map((entry) => ({ ...entry, parent: [name, entry.parent].filter(Boolean).join("/") }));
      return [{ name, parent: "", kind: "folder" }, ...below];
    });
  }

  /** Undefined for a mount that does not exist yet, and for the folder of the mounts. */
  stat(given: string, followed: boolean): Stats | undefined {
    const path = parsePath(given);
    using place = this.#mounted.entry(path);
    if (!place) return undefined;
    const found = place.find();
    if (!found) throw new Fault("ENOENT");
    if (followed && found.isSymbolicLink()) throw linkFault();
    if (path.folder && !found.isDirectory()) throw new Fault("ENOTDIR");
    return found;
  }

  /** Throws unless the entry is there, and may be written where that is asked. */
  access(given: string, write: boolean): void {
    this.stat(given, true);
    if (write && parsePath(given).mount !== "workspace") throw readOnly();
  }

  /** The first folder that was made, as a path from `/`; undefined when all were there. */
  makeFolder(given: string, recursive: boolean): string | undefined {
    const path = parsePath(given);
    if (path.names.length === 0 && recursive) {
      if (path.mount === "workspace") this.#mounted.makeWorkspace();
      return undefined;
    }
    if (path.names.length === 0) throw new Fault("EEXIST");
    const names = namesToChange(path);
    if (!recursive) {
      this.#makeOne(names);
      return undefined;
    }
    let first: string | undefined;
    for (let length = 1; length <= names.length; length++) {
      const some = names.slice(0, length) as Names;
      if (this.#makeOne(some, length < names.length ? "ENOTDIR" : "EEXIST")) first ??= `/workspace/${some.join("/")}`;
    }
    return first;
  }

  /** Makes a folder whose name begins as given and ends in six characters of its own; its path as given. */
  makeTemporaryFolder(prefix: string): string {
    for (let attempt = 0; ; attempt++) {
      const path = prefix + crypto.randomUUID().replaceAll("-", "").slice(0, 6);
      try {
        this.#makeOne(namesToChange(parsePath(path)));
        return path;
      } catch (error) {
        if (!(error instanceof Fault && error.code === "EEXIST") || attempt === 10) throw error;
      }
    }
  }

  /** Removes an entry of that kind, or with `recursive` anything with all that is in it. */
  remove(given: string, what: "file" | "folder" | "all"): void {
    using place = this.#mounted.changeable(parsePath(given));
    const found = place.find();
    if (!found) throw new Fault("ENOENT");
    if (what === "all") {
      this.#removed(removeAll(place));
    } else if (what === "file") {
      if (found.isDirectory())
        throw new Fault("EISDIR", undefined, "Remove a folder with fs.rm(path, { recursive: true }).");
      unlinkSync(place.path);
      this.#removed({ entries: 1, bytes: found.size });
    } else {
      rmdirSync(place.path);
      this.#removed({ entries: 1, bytes: 0 });
    }
  }

  rename(from: string, to: string): void {
    const paths = [parsePath(from), parsePath(to)] as const;
    // Both are looked at before either is looked up: what may not be changed is said first.
    for (const path of paths) namesToChange(path);
    using source = this.#mounted.changeable(paths[0]);
    using target = this.#mounted.changeable(paths[1]);
    const moved = source.find();
    if (!moved) throw new Fault("ENOENT");
    const replaced = target.find();
    for (const each of [moved, replaced]) if (each && !each.isDirectory()) checkFile(each, true);
    renameSync(source.path, target.path);
    if (replaced && replaced.ino !== moved.ino)
      this.#removed({ entries: 1, bytes: replaced.isFile() ? replaced.size : 0 });
  }

  /** The path from `/`, without dots. */
  resolve(given: string): string {
    this.stat(given, true);
    const { mount, names } = parsePath(given);
    return `/${[mount, ...names].filter(Boolean).join("/")}`;
  }

  #listIn(mount: MountName, names: string[], recursive: boolean): Entry[] {
    using folder = this.#mounted.folder(mount, names);
    return folder ? list(folder, recursive) : [];
  }

  /** False when it was there, and `otherwise` says what a file in its place is. */
  #makeOne(names: Names, otherwise?: "EEXIST" | "ENOTDIR"): boolean {
    using place = this.#mounted.target(names);
    const found = place.find();
    const kind: FileKind | undefined = found && kindOf(found);
    if (kind === "link") throw linkFault();
    if (kind === "folder" && otherwise) return false;
    if (kind) throw new Fault(otherwise ?? "EEXIST");
    this.#quota.check({ entries: 1, bytes: 0 });
    try {
      mkdirSync(place.path);
    } catch (error) {
      // Somebody else was faster, which is as good.
      if (otherwise && place.find()?.isDirectory()) return false;
      throw error;
    }
    this.#quota.changed({ entries: 1, bytes: 0 });
    return true;
  }

  #removed({ entries, bytes }: { entries: number; bytes: number }): void {
    this.#quota.changed({ entries: -entries, bytes: -bytes });
  }
}
