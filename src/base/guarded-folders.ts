/**
 * Guards the folders that a config sets (registry and workspace) against symbolic links. A repository can contain links: its
 * `.claudikins/workspace` could lead to the user's home. Between the project's folder and a guarded folder, and inside it, no link
 * is followed.
 */
import { existsSync, lstatSync, mkdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, sep } from "node:path";
import { ClaudikinsError, systemCodeOf } from "./errors.ts";
import { Folder, LinkRefused, makeBelow, namesBelow } from "./open-folder.ts";

/** An open folder. Its path leads to the same folder as long as it is open. */
export interface OpenFolder {
  readonly path: string;
  /** Returns the path of an entry. */
  at(name: string): string;
}

/**
 * The base of each guarded folder: the part of its path that may lead through links. It is the project's folder, or a path that the
 * user named.
 */
const bases = new Map<string, string>();

/** Guards a folder: from now on, the functions of `files.ts` follow no link between `base` and the folder. */
export function guardFolder(folder: string, base: string): void {
  bases.set(folder, base);
}

/** Returns the base of a guarded folder or of a path inside one, and undefined for other paths. A folder inside another has its own base. */
export function baseOf(path: string): string | undefined {
  for (let at = path; at !== ""; at = at.slice(0, Math.max(0, at.lastIndexOf("/"), at.lastIndexOf("\\")))) {
    const base = bases.get(at);
    if (base !== undefined) return base;
  }
  return undefined;
}

/**
 * Opens the folder. With `create`, missing folders are created. Throws system errors, and FILE_NOT_WRITABLE if a link is on the
 * path.
 */
export function openGuarded(folder: string, base: string, create: boolean): OpenFolder & Disposable {
  if (process.platform === "win32") return lookedAt(folder, base, create);
  try {
    return Folder.openRoot(realpathSync(base)).descend(namesBelow(base, folder), create);
  } catch (error) {
    throw error instanceof LinkRefused ? linkInTheWay(linkOnTheWay(folder, base) ?? error.path) : error;
  }
}

/** The version for Windows, where a folder cannot be kept open by name. It checks the path, and then uses it. */
function lookedAt(folder: string, base: string, create: boolean): OpenFolder & Disposable {
  const link = linkOnTheWay(folder, base);
  if (link !== undefined) throw linkInTheWay(link);
  if (create) {
    mkdirSync(base, { recursive: true });
    makeBelow(base, folder);
  }
  return unguarded(folder);
}

/** The folder itself, which is not kept open. */
export function unguarded(folder: string): OpenFolder & Disposable {
  return { path: folder, at: (name) => join(folder, name), [Symbol.dispose]: () => {} };
}

/** Returns the first link between the base and the path, including the path itself, or undefined. */
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
 * Throws FILE_NOT_WRITABLE if a link leads from the path to a place outside of the folder. It is for files of other programs. Links
 * within a project are allowed, since CLAUDE.md is often a link to AGENTS.md.
 */
export function refuseLinkOut(path: string, folder: string): void {
  const real = realPath(path);
  if (real.startsWith(join(realPath(folder), sep))) return;
  throw new ClaudikinsError("FILE_NOT_WRITABLE", `${path} leads out of the project through a link, to ${real}`, {
    hint: "Remove the link, or change the file that it leads to yourself.",
  });
}

/** Resolves links, even if the end of the path does not exist yet. */
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
