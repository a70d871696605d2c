/** Parses the paths of programs into a mount and the names below it. It works on text only and does not access the disk. */
import { isVisible } from "../../../base/visible-text.ts";
import { FileRefusal, shown } from "./fault.ts";

/** Characters of a path. */
const maxPathChars = 4_096;

/** Bytes of one name in a path. */
const maxNameBytes = 255;

/** Depth of folders, because each folder of a path is opened. */
const maxFolderDepth = 64;

export type MountName = "workspace" | "registry";

export interface GuestPath {
  /** Undefined for `/`, which contains the two mounts and is the working directory of programs. */
  mount: MountName | undefined;
  names: string[];
  /** The path ends in a slash, so it can only be a folder. */
  folder: boolean;
}

/** The names in the path of an entry below a mount. */
export type Names = [string, ...string[]];

/** Characters that look like a slash and that NFKC does not turn into one. */
const likeSlashes = /[\u2044\u2215\u2216\u29f5\u29f8\u29f9\ufe68]/;

/**
 * Parses a path. `..` is resolved in the text, because there are no links to follow, and stops at `/`. Throws a FileRefusal for a path
 * that no file can have: ENOENT outside of the mounts, EINVAL and ENAMETOOLONG.
 */
export function parsePath(given: string): GuestPath {
  if (given === "") throw new FileRefusal("ENOENT", "the path is empty");
  if (given.length > maxPathChars)
    throw new FileRefusal("ENAMETOOLONG", `paths have at most ${maxPathChars} characters`);
  if (given.includes("\\")) throw new FileRefusal("EINVAL", "the path has a backslash", "Separate folders with /.");
  if (!isVisible(given)) throw new FileRefusal("EINVAL", "the path has invisible or control characters");
  const names: string[] = [];
  for (const name of given.split("/")) {
    if (name === "" || name === ".") continue;
    if (name === "..") names.pop();
    else names.push(checkName(name));
  }
  if (names.length > maxFolderDepth)
    throw new FileRefusal("ENAMETOOLONG", `folders are at most ${maxFolderDepth} deep`);
  const [mount, ...below] = names;
  if (mount !== undefined && mount !== "workspace" && mount !== "registry") throw outside(given, names);
  return { mount, names: below, folder: /(?:^|\/)\.{0,2}$/.test(given) };
}

/** Throws EROFS for the registry, and EBUSY for the mounts themselves. */
export function namesToChange({ mount, names }: GuestPath): Names {
  if (mount === "registry") throw readOnly();
  if (!isNames(names))
    throw new FileRefusal("EBUSY", "this folder cannot be changed itself", "Change files in ./workspace.");
  return names;
}

export function readOnly(): FileRefusal {
  return new FileRefusal("EROFS", undefined, "./registry is read-only: write to ./workspace.");
}

export function isNames(names: string[]): names is Names {
  return names.length > 0;
}

function checkName(name: string): string {
  const folded = name.normalize("NFKC");
  if (likeSlashes.test(name) || (folded !== name && /[/\\]|^\.{1,2}$/.test(folded)))
    throw new FileRefusal("EINVAL", "a name has a character that looks like a separator");
  // Some systems ignore trailing dots and spaces, and would open another file.
  if (/[. ]$/.test(name)) throw new FileRefusal("EINVAL", "a name ends in a dot or a space");
  if (isTemporaryName(name)) throw new FileRefusal("EINVAL", "names of this form are reserved for temporary files");
  if (Buffer.byteLength(name) > maxNameBytes)
    throw new FileRefusal("ENAMETOOLONG", `names have at most ${maxNameBytes} bytes`);
  return name;
}

function outside(given: string, names: string[]): FileRefusal {
  const plain = !given.startsWith("/") && !given.split("/").includes("..");
  const below = plain ? names.join("/") : (names.at(-1) ?? "");
  return new FileRefusal(
    "ENOENT",
    undefined,
    `Only ./workspace (read and write) and ./registry (read only) exist here: use "./workspace/${shown(below)}".`,
  );
}

export function temporaryName(): string {
  return `.claudikins-${crypto.randomUUID()}.tmp`;
}

/** Returns whether the name is of a temporary file, used while a file is written. Programs can neither see nor use such names. */
export function isTemporaryName(name: string): boolean {
  return /^\.claudikins-[0-9a-f-]{36}\.tmp$/i.test(name);
}
