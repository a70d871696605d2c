/** The workspace for code that copies its files elsewhere. Paths are relative to the workspace, with `/` between the names. */
import { lutimesSync, mkdirSync, rmdirSync, type Stats, unlinkSync } from "node:fs";
import { descriptorsHaveNames } from "../../base/open-folder.ts";
import { NewFile, readParts } from "./filesystem/content.ts";
import { FileRefusal } from "./filesystem/fault.ts";
import { Mount } from "./filesystem/mount.ts";
import { isNames, type Names, parsePath } from "./filesystem/path.ts";
import { walk } from "./filesystem/tree.ts";
import type { OutputFolders } from "./outputs.ts";

/** Bytes of a path that replicas share. An index of the database has it. */
const maxSharedPathBytes = 1_024;

/** Bytes of a file that are hashed at once. */
const hashedAtOnce = 1_048_576;

/** The state of an entry. Two states with the same mark have the same contents, or are of the same folder. */
export interface Look {
  kind: "file" | "folder";
  /** In bytes. 0 for a folder. */
  size: number;
  /** In milliseconds since 1970. */
  changedAt: number;
  mark: string;
}

export class WorkspaceFolder {
  readonly #mount: Mount;

  constructor({ workspace, bases }: OutputFolders) {
    const mounts = { workspace, registry: workspace, ...(bases ? { bases } : {}) };
    this.#mount = new Mount("workspace", mounts, descriptorsHaveNames);
  }

  get exists(): boolean {
    using folder = this.#mount.open(false);
    return folder !== undefined;
  }

  /** Its files and folders, each folder before its contents. A workspace that does not exist is empty. */
  *entries(): Generator<{ path: string; look: Look }> {
    using folder = this.#mount.open(false);
    if (!folder) return;
    for (const { path, stats } of walk(folder)) yield { path, look: lookOf(stats) };
  }

  /** Undefined if there is neither a file nor a folder. */
  look(path: string): Look | undefined {
    try {
      using place = this.#mount.place(namesOf(path));
      const stats = place.find();
      return stats?.isFile() || stats?.isDirectory() ? lookOf(stats) : undefined;
    } catch {
      return undefined;
    }
  }

  /** Reads a file in parts. Throws a FileRefusal, and ENOENT. */
  *read(path: string, partBytes: number, maxBytes: number): Generator<Uint8Array> {
    using place = this.#mount.place(namesOf(path));
    yield* readParts(place, partBytes, maxBytes);
  }

  /** The hash of a file, in hexadecimal. Throws a FileRefusal, and ENOENT. */
  sha256(path: string, maxBytes: number): string {
    const hash = new Bun.CryptoHasher("sha256");
    for (const bytes of this.read(path, hashedAtOnce, maxBytes)) hash.update(bytes);
    return hash.digest("hex");
  }

  /**
   * Replaces or creates a file, and folders that are missing. Nothing is changed if `isRight`, called once all parts are written, is false.
   * `changedAt` is in milliseconds since 1970. Throws a FileRefusal, and system errors.
   */
  async write(
    path: string,
    parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
    { isRight, changedAt }: { isRight: () => boolean; changedAt: number },
  ): Promise<boolean> {
    const names = namesOf(path);
    for (let length = 1; length < names.length; length++) this.makeFolder(names.slice(0, length).join("/"));
    using place = this.#mount.place(names, true);
    using file = new NewFile(place);
    for await (const part of parts) file.write(part);
    const isWritten = isRight();
    if (isWritten) file.finish(changedAt);
    return isWritten;
  }

  /** Makes a folder if it is missing. Throws EEXIST if something else is there. */
  makeFolder(path: string): void {
    using place = this.#mount.place(namesOf(path), true);
    if (!place.find()?.isDirectory()) mkdirSync(place.path);
  }

  /** Removes a file, or a folder if it is empty. */
  remove(path: string): void {
    using place = this.#mount.place(namesOf(path));
    if (place.find()?.isDirectory()) rmdirSync(place.path);
    else unlinkSync(place.path);
  }

  /** Sets the time of the last change of a file, in milliseconds since 1970. */
  setChangedAt(path: string, changedAt: number): void {
    using place = this.#mount.place(namesOf(path));
    lutimesSync(place.path, changedAt / 1_000, changedAt / 1_000);
  }
}

function lookOf(stats: Stats): Look {
  if (stats.isDirectory()) return { kind: "folder", size: 0, changedAt: stats.mtimeMs, mark: "folder" };
  const { size, mtimeMs, ctimeMs, ino } = stats;
  return { kind: "file", size, changedAt: mtimeMs, mark: [size, mtimeMs, ctimeMs, ino].join(" ") };
}

/** Names that Windows gives to devices and drives. */
const ofWindows = /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)|^[a-z]:/i;

/** Characters that names on Windows cannot have. */
const notOnWindows = /[<>:"|?*]/;

/** Why a path cannot be one of the workspace on every replica. Undefined if it can. */
export function pathProblem(path: string, platform: string = process.platform): string | undefined {
  if (Buffer.byteLength(path) > maxSharedPathBytes) return `it has more than ${maxSharedPathBytes} bytes`;
  const names = path.split("/");
  if (names.some((name) => ofWindows.test(name))) return "Windows has a device or a drive with this name";
  if (platform === "win32" && notOnWindows.test(path)) return "names on Windows cannot have this character";
  try {
    return namesOf(path).join("/") === path ? undefined : "it is not the plain path of a file";
  } catch (error) {
    return error instanceof FileRefusal ? (error.why ?? error.code) : "it is not the path of a file";
  }
}

/** Throws a FileRefusal if programs cannot have such a path. */
function namesOf(path: string): Names {
  const { mount, names } = parsePath(`workspace/${path}`);
  if (mount !== "workspace" || !isNames(names)) throw new FileRefusal("EINVAL", "the path is outside of the workspace");
  return names;
}
