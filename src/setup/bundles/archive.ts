/** Reads the ZIP archive of a bundle, and unpacks it into a folder of its own. Strangers make archives, so names and sizes are checked. */
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type UnzipFileInfo, unzipSync } from "fflate";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { megabyte } from "../../base/units.ts";
import type { ConfigFile } from "../../config/config-file.ts";
import type { Environment } from "../../config/environment.ts";
import { bundlesFolder } from "../../config/locations.ts";

/** Bytes of an archive. Bundles with a runtime in them have about 100 MB. */
const maxArchiveBytes = 512 * megabyte;

/** Bytes of all files together. They are unpacked in memory. */
const maxUnpackedBytes = 1_024 * megabyte;

/** Files of a bundle, most of which are in `node_modules`. */
const maxFiles = 60_000;

/** Characters of the path of a file. */
const maxPathChars = 400;

/** The file in the folder of a bundle that says which entry the folder is for. */
const ownerName = ".claudikins-bundle.json";

export class Archive {
  readonly #file: string;
  readonly #bytes: Uint8Array;
  readonly digest: string;

  /** Throws FILE_NOT_FOUND, and USAGE for a file that is no archive or too large. */
  constructor(path: string, file: string) {
    this.#file = file;
    try {
      const { size } = statSync(path);
      if (size > maxArchiveBytes) throw this.#refused(`it has more than ${maxArchiveBytes / megabyte} MB`);
      this.#bytes = readFileSync(path);
    } catch (cause) {
      if (cause instanceof ClaudikinsError) throw cause;
      throw new ClaudikinsError("FILE_NOT_FOUND", `${file} cannot be read: ${messageOf(cause)}`, { cause });
    }
    this.digest = new Bun.CryptoHasher("sha256").update(this.#bytes).digest("hex");
  }

  /** The manifest. Checks the names and sizes of all files. */
  manifest(): string {
    const sizes = { files: 0, bytes: 0 };
    const seen = new Set<string>();
    const found = this.#unzipped((info) => {
      this.#check(info, sizes, seen);
      return info.name === "manifest.json";
    });
    const bytes = found["manifest.json"];
    if (!bytes) throw this.#refused("it has no manifest.json");
    return new TextDecoder().decode(bytes);
  }

  /** Unpacks everything into a new folder, which replaces one of this name. Files in `programs` can be started. Throws FILE_NOT_WRITABLE. */
  unpack(folder: string, owner: BundleOwner, programs: readonly string[]): void {
    const temporary = `${folder}.${process.pid}.tmp`;
    try {
      rmSync(temporary, { recursive: true, force: true });
      mkdirSync(temporary, { recursive: true, mode: 0o700 });
      for (const [name, bytes] of Object.entries(this.#unzipped(() => true))) {
        const path = join(temporary, name);
        mkdirSync(name.endsWith("/") ? path : dirname(path), { recursive: true });
        if (!name.endsWith("/")) writeFileSync(path, bytes, { flag: "wx" });
      }
      for (const program of programs) {
        const path = join(temporary, program);
        if (statSync(path, { throwIfNoEntry: false })?.isFile()) chmodSync(path, 0o755);
      }
      writeFileSync(join(temporary, ownerName), `${JSON.stringify(owner)}\n`);
      rmSync(folder, { recursive: true, force: true });
      renameSync(temporary, folder);
    } catch (cause) {
      rmSync(temporary, { recursive: true, force: true });
      if (cause instanceof ClaudikinsError) throw cause;
      throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot unpack ${this.#file}: ${messageOf(cause)}`, { cause });
    }
  }

  #unzipped(filter: (info: UnzipFileInfo) => boolean): Record<string, Uint8Array> {
    try {
      return unzipSync(this.#bytes, { filter });
    } catch (cause) {
      if (cause instanceof ClaudikinsError) throw cause;
      throw this.#refused(`it is not a ZIP archive that can be read: ${messageOf(cause)}`);
    }
  }

  /** The size in the archive is the size of the buffer that it is unpacked into, so it cannot be too small. */
  #check({ name, originalSize }: UnzipFileInfo, sizes: { files: number; bytes: number }, seen: Set<string>): void {
    const steps = name.replace(/\/$/, "").split("/");
    const isPlain = steps.every((step) => step !== "" && step !== "." && step !== ".." && !/[\\:\p{Cc}]/u.test(step));
    if (!isPlain || name.length > maxPathChars)
      throw this.#refused(`it has a file with the path ${JSON.stringify(name.slice(0, 100))}`);
    // On some systems, such names mean the same file.
    const key = name.normalize("NFC").toLowerCase();
    if (seen.has(key)) throw this.#refused(`it has two files with the path ${JSON.stringify(name.slice(0, 100))}`);
    seen.add(key);
    sizes.files += 1;
    sizes.bytes += originalSize;
    if (sizes.files > maxFiles) throw this.#refused(`it has more than ${maxFiles} files`);
    if (sizes.bytes > maxUnpackedBytes) throw this.#refused(`it has more than ${maxUnpackedBytes / megabyte} MB`);
  }

  #refused(why: string): ClaudikinsError {
    return new ClaudikinsError("USAGE", `${this.#file} cannot be added: ${why}`, { hint: "Nothing was changed." });
  }
}

/** Deletes the folders of the bundles that entries of a config were made from. */
export function discardBundles(
  { file, entries }: Pick<ConfigFile, "file" | "entries">,
  names: readonly string[],
  env: Environment,
): string[] {
  return names.filter((server) => {
    const folder = entries.get(server)?.["cwd"];
    return typeof folder === "string" && discardBundle(folder, { config: file, server }, env);
  });
}

/** The entry that a folder is for. */
export interface BundleOwner {
  config: string;
  server: string;
}

/** Deletes the folder of a bundle, if it is for this entry. A config could name any folder. */
export function discardBundle(folder: string, owner: BundleOwner, env: Environment): boolean {
  if (dirname(folder) !== bundlesFolder(env)) return false;
  try {
    const found = JSON.parse(readFileSync(join(folder, ownerName), "utf8")) as BundleOwner;
    if (found.config !== owner.config || found.server !== owner.server) return false;
    rmSync(folder, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}
