/** Paths as code writes them: pure text in, the mount and the names below it out. Nothing is looked up. */
import { Fault, shown, unprintable } from "./fault.ts";

export type MountName = "workspace" | "registry";

export interface GuestPath {
  /** Undefined for `/`, the folder of the two mounts, in which code starts. */
  mount: MountName | undefined;
  names: string[];
  /** The path ends in a slash: it can only be a folder. */
  folder: boolean;
}

const longestPath = 4_096;
const longestNameBytes = 255;
/** Deeper folders than these are refused; each one of a path is opened on the way. */
export const deepest = 64;

/** Slashes that are not the slash, which NFKC does not unmask. */
const likeSlashes = /[\u2044\u2215\u2216\u29f5\u29f8\u29f9\ufe68]/;

/**
 * `..` is taken by the text alone, as there are no links to follow, and ends at `/`. Throws a Fault for what no file of
 * a mount can be called: ENOENT outside the mounts, EINVAL, ENAMETOOLONG.
 */
export function parsePath(given: string): GuestPath {
  if (given === "") throw new Fault("ENOENT", "the path is empty");
  if (given.length > longestPath) throw new Fault("ENAMETOOLONG", `paths have at most ${longestPath} characters`);
  if (given.includes("\\")) throw new Fault("EINVAL", "the path has a backslash", "Separate folders with /.");
  if (unprintable.test(given)) throw new Fault("EINVAL", "the path has invisible or control characters");
  const names: string[] = [];
  for (const name of given.split("/")) {
    if (name === "" || name === ".") continue;
    if (name === "..") names.pop();
    else names.push(checkName(name));
  }
  if (names.length > deepest) throw new Fault("ENAMETOOLONG", `folders are at most ${deepest} deep`);
  const [mount, ...below] = names;
  if (mount !== undefined && mount !== "workspace" && mount !== "registry") throw outside(given, names);
  return { mount, names: below, folder: /(?:^|\/)\.{0,2}$/.test(given) };
}

function checkName(name: string): string {
  const folded = name.normalize("NFKC");
  if (likeSlashes.test(name) || (folded !== name && /[/\\]|^\.{1,2}$/.test(folded)))
    throw new Fault("EINVAL", "a name has a character that looks like a separator");
  // Some systems drop them, and find another file than the one that was asked for.
  if (/[. ]$/.test(name)) throw new Fault("EINVAL", "a name ends in a dot or a space");
  if (isTemporaryName(name)) throw new Fault("EINVAL", "names of this form are reserved for temporary files");
  if (Buffer.byteLength(name) > longestNameBytes)
    throw new Fault("ENAMETOOLONG", `names have at most ${longestNameBytes} bytes`);
  return name;
}

function outside(given: string, names: string[]): Fault {
  const plain = !given.startsWith("/") && !given.split("/").includes("..");
  const below = plain ? names.join("/") : (names.at(-1) ?? "");
  return new Fault(
    "ENOENT",
    undefined,
    `Only ./workspace (read and write) and ./registry (read only) exist here: use "./workspace/${shown(below)}".`,
  );
}

export function temporaryName(): string {
  return `.claudikins-${crypto.randomUUID()}.tmp`;
}

/** Files that are being written, or were when their writer died: code neither sees nor names them. */
export function isTemporaryName(name: string): boolean {
  return /^\.claudikins-[0-9a-f-]{36}\.tmp$/i.test(name);
}
