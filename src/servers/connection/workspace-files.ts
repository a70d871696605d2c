/** The files in the workspace that a source may send, and those that it writes. No link is followed. */
import { closeSync, constants, fstatSync, openSync, readFileSync, writeSync } from "node:fs";
import { ClaudikinsError, systemCodeOf } from "../../base/errors.ts";
import { baseOf, type OpenFolder, openGuarded } from "../../base/guarded-folders.ts";
import { noFollow } from "../../base/open-folder.ts";
import { megabyte, megabytes } from "../../base/units.ts";
import type { SourceFiles } from "../../sources/source.ts";

/** One file that is sent. It is in memory meanwhile. */
const maxSentBytes = 256 * megabyte;

/** Files of one name that are told apart by a number. */
const maxNumberedFiles = 10_000;

/** Characters of the name of a written file. File systems take 255 bytes. */
const maxNameChars = 120;

const { O_CREAT, O_EXCL, O_NONBLOCK, O_RDONLY, O_WRONLY } = constants;

export class WorkspaceFiles implements SourceFiles {
  readonly #folder: string;

  /** `folder` is a guarded folder. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  async read(path: string): Promise<Uint8Array<ArrayBuffer>> {
    // Programs know the workspace as ./workspace.
    const names = path
      .replace(/^(?:\.\/)?(?:workspace\/)?/, "")
      .split("/")
      .filter((each) => each !== "" && each !== ".");
    const name = names.pop();
    if (name === undefined || path.startsWith("/") || names.includes("..") || name === "..") {
      throw unusable(path, "is not a path in the workspace");
    }
    let file: number;
    try {
      using folder = this.#open(names, false);
      file = openSync(folder.at(name), O_RDONLY | O_NONBLOCK | noFollow);
    } catch (error) {
      const code = systemCodeOf(error);
      throw unusable(
        path,
        code === "ENOENT" || code === "ENOTDIR" ? "does not exist in the workspace" : "cannot be read",
      );
    }
    try {
      const stats = fstatSync(file);
      if (!stats.isFile()) throw unusable(path, "is not a file");
      if (stats.size > maxSentBytes) throw unusable(path, `has more than ${megabytes(maxSentBytes)}`);
      return new Uint8Array(readFileSync(file));
    } finally {
      closeSync(file);
    }
  }

  async write(name: string, bytes: Uint8Array): Promise<string> {
    const { stem, ending } = plainName(name);
    using folder = this.#open([], true);
    for (let number = 1; number <= maxNumberedFiles; number++) {
      const path = `${stem}${number === 1 ? "" : `-${number}`}${ending}`;
      try {
        const file = openSync(folder.at(path), O_WRONLY | O_CREAT | O_EXCL | noFollow, 0o666);
        try {
          for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at);
        } finally {
          closeSync(file);
        }
        return path;
      } catch (error) {
        if (systemCodeOf(error) !== "EEXIST") throw error;
      }
    }
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `The workspace has too many files called ${stem}${ending}`, {
      hint: "Remove those that are not needed.",
    });
  }

  #open(names: readonly string[], create: boolean): OpenFolder & Disposable {
    const path = [this.#folder, ...names].join("/");
    return openGuarded(path, baseOf(this.#folder) ?? this.#folder, create);
  }
}

function plainName(name: string): { stem: string; ending: string } {
  const plain =
    name
      .replace(/[^\w.-]+/g, "-")
      .replace(/^[.-]+/, "")
      .slice(-maxNameChars) || "file";
  const [, stem = plain, ending = ""] = /^(.+?)(\.\w{1,10})$/.exec(plain) ?? [];
  return { stem, ending };
}

function unusable(path: string, why: string): ClaudikinsError {
  return new ClaudikinsError("INVALID_ARGUMENTS", `The file ${JSON.stringify(path)} ${why}`, {
    hint: "Write it with fs.writeFile first, and pass its path below ./workspace.",
  });
}
