/**
 * The folders that a config gives to claudikins. A repository can bring symbolic links along, and `.claudikins/workspace`
 * could lead to the user's home: on the way from the project's folder to a guarded one, and in it, no link is followed.
 */
import { existsSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { ClaudikinsError, systemCodeOf } from "./errors.ts";
import { Folder, LinkRefused, namesBelow } from "./open-folder.ts";

/** A folder by a name that leads nowhere else as long as it is open. */
export interface OpenFolder {
  readonly path: string;
  /** The path of an entry. */
  at(name: string): string;
}

/** By path, the part of it that may lead through links: the project's folder, or what the user has named. */
const bases = new Map<string, string>();

/** From now on, whatever this process does by `files.ts` in the folder follows no link below `base`. */
export function guardFolder(folder: string, base: string): void {
  bases.set(folder, base);
}

/** The base of a path that is a guarded folder or in one; undefined for any other. */
export function baseOf(path: string): string | undefined {
  for (const [folder, base] of bases) {
    if (path === folder || path.startsWith(`${folder}/`) || path.startsWith(`${folder}\\`)) return base;
  }
  return undefined;
}

/**
 * The folder, opened; made where it is missing and `create` says so. Throws what the system says, and FILE_NOT_WRITABLE where
 * a link is in the way.
 */
export function openGuarded(folder: string, base: string, create: boolean): OpenFolder & Disposable {
  if (process.platform === "win32") return lookedAt(folder, base, create);
  try {
    return Folder.openRoot(realpathSync(base)).descend(namesBelow(base, folder), create);
  } catch (error) {
    throw error instanceof LinkRefused ? linkInTheWay(linkOnTheWay(folder, base) ?? error.path) : error;
  }
}

/** On Windows no folder can be held open by name: it is looked at, and then used by its path. */
function lookedAt(folder: string, base: string, create: boolean): OpenFolder & Disposable {
  const link = linkOnTheWay(folder, base);
  if (link !== undefined) throw linkInTheWay(link);
  if (create) mkdirSync(folder, { recursive: true });
  return { path: folder, at: (name) => join(folder, name), [Symbol.dispose]: () => {} };
}

/** The first link between the base and the path, the path included; undefined where there is none. */
export function linkOnTheWay(path: string, base: string): string | undefined {
  let at = base;
  for (const name of namesBelow(base, path)) {
    at = join(at, name);
    try {
      if (lstatSync(at).isSymbolicLink()) return at;
    } catch (error) {
      if (["ENOENT", "ENOTDIR"].includes(systemCodeOf(error) ?? "")) return undefined;
      throw error;
    }
  }
  return undefined;
}

/**
 * Throws FILE_NOT_WRITABLE where a link leads from the path to a place outside of the folder. For files that are other
 * programs' as well: there a link within a project is fine, as many have CLAUDE.md as one to AGENTS.md.
 */
export function refuseLinkOut(path: string, folder: string): void {
  const real = realPath(path);
  if (real.startsWith(join(realPath(folder), sep))) return;
  throw new ClaudikinsError("FILE_NOT_WRITABLE", `${path} leads out of the project through a link, to ${real}`, {
    hint: "Remove the link, or change the file that it leads to yourself.",
  });
}

/** Without links, also where the end of the path does not exist yet. */
export function realPath(path: string): string {
  return existsSync(path) ? realpathSync(path) : join(realPath(dirname(path)), basename(path));
}

export function linkInTheWay(link: string): ClaudikinsError {
  return new ClaudikinsError(
    "FILE_NOT_WRITABLE",
    `${link} is a symbolic link, and claudikins follows no link inside a project`,
    {
      hint: 'Remove the link and run the command again. If you mean the folder that it leads to, name that one in claudikins.json, as "workspace" or "registry".',
    },
  );
}
