/** The synchronous file operations, with Node's names and arguments. */

import type { FileKind, FileStats } from "../host.ts";
import { encodingOf, incoming, outgoing } from "./fs-data.ts";
import { Dirent, Stats } from "./fs-entries.ts";
import { ask, pathText } from "./fs-host.ts";

export const constants = { F_OK: 0, R_OK: 4, W_OK: 2, X_OK: 1, COPYFILE_EXCL: 1, COPYFILE_FICLONE: 2 };

/** Unchecked options. Anything that is not an object counts as no options. */
type Options = Partial<Record<string, unknown>>;

const optionsOf = (given: unknown): Options => (typeof given === "object" && given !== null ? (given as Options) : {});

export function readFile(path: unknown, options?: unknown): string | Uint8Array {
  const encoding = encodingOf(options);
  const text = ask("readFile", { path: pathText(path), encoding: encoding ?? "latin1" }) as string;
  return encoding === undefined ? incoming(text) : text;
}

export function writeFile(path: unknown, data: unknown, options?: unknown): void {
  const { flag = "w" } = optionsOf(options);
  ask("writeFile", { path: pathText(path), ...outgoing(data, encodingOf(options)), flag: String(flag) });
}

export function appendFile(path: unknown, data: unknown, options?: unknown): void {
  writeFile(path, data, { flag: "a", ...(typeof options === "string" ? { encoding: options } : optionsOf(options)) });
}

export function readdir(path: unknown, options?: unknown): string[] | Dirent[] {
  const folder = pathText(path);
  const { recursive, withFileTypes } = optionsOf(options);
  const answer = ask("readdir", { path: folder, recursive: Boolean(recursive) });
  const entries = answer as { name: string; parent: string; kind: FileKind }[];
  if (!withFileTypes) return entries.map(({ name, parent }) => joined(parent, name));
  return entries.map(({ name, parent, kind }) => new Dirent(name, joined(folder, parent), kind));
}

function joined(folder: string, name: string): string {
  return folder === "" || name === "" ? folder + name : `${folder.replace(/\/+$/, "")}/${name}`;
}

/** Returns undefined for a missing file if `throwIfNoEntry` is false. */
export function stat(path: unknown, options?: unknown): Stats | undefined {
  return statWith("stat", path, options);
}

export function lstat(path: unknown, options?: unknown): Stats | undefined {
  return statWith("lstat", path, options);
}

function statWith(operation: string, path: unknown, options: unknown): Stats | undefined {
  try {
    return new Stats(ask(operation, { path: pathText(path) }) as FileStats);
  } catch (error) {
    if (optionsOf(options)["throwIfNoEntry"] === false && (error as { code?: string }).code === "ENOENT")
      return undefined;
    throw error;
  }
}

export function access(path: unknown, mode: unknown = constants.F_OK): void {
  ask("access", { path: pathText(path), write: (Number(mode) & constants.W_OK) !== 0 });
}

export function exists(path: unknown): boolean {
  try {
    access(path);
    return true;
  } catch {
    return false;
  }
}

export function mkdir(path: unknown, options?: unknown): string | undefined {
  return ask("mkdir", { path: pathText(path), recursive: Boolean(optionsOf(options)["recursive"]) }) as
    | string
    | undefined;
}

export function mkdtemp(prefix: unknown): string {
  return ask("mkdtemp", { path: pathText(prefix, "prefix") }) as string;
}

export function rm(path: unknown, options?: unknown): void {
  const { recursive, force } = optionsOf(options);
  ask("rm", { path: pathText(path), recursive: Boolean(recursive), force: Boolean(force) });
}

export function rmdir(path: unknown, options?: unknown): void {
  if (optionsOf(options)["recursive"]) rm(path, options);
  else ask("rmdir", { path: pathText(path) });
}

export function unlink(path: unknown): void {
  ask("unlink", { path: pathText(path) });
}

export function rename(from: unknown, to: unknown): void {
  ask("rename", { path: pathText(from, "oldPath"), dest: pathText(to, "newPath") });
}

export function copyFile(from: unknown, to: unknown, mode: unknown = 0): void {
  const exclusive = (Number(mode) & constants.COPYFILE_EXCL) !== 0;
  ask("copyFile", { path: pathText(from, "src"), dest: pathText(to, "dest"), exclusive });
}

export function realpath(path: unknown): string {
  return ask("realpath", { path: pathText(path) }) as string;
}

/** Copies a file, or with `recursive` a folder. `force: false` keeps existing files, and `filter(from, to)` can exclude files. */
export function cp(from: unknown, to: unknown, options?: unknown): void {
  const { recursive, force = true, errorOnExist, filter } = optionsOf(options);
  const [source, target] = [pathText(from, "src"), pathText(to, "dest")];
  if (typeof filter === "function" && !filter(source, target)) return;
  if (!lstat(source)?.isDirectory()) {
    if (force || errorOnExist || !exists(target)) copyFile(source, target, force ? 0 : constants.COPYFILE_EXCL);
    return;
  }
  if (!recursive) {
    const message = `EISDIR: illegal operation on a directory, cp '${source}' -> '${target}'`;
    throw Object.assign(new Error(message), { code: "EISDIR", hint: "Copy a folder with { recursive: true }." });
  }
  // Read before the target is created, because the target may be inside the source.
  const names = readdir(source) as string[];
  mkdir(target, { recursive: true });
  if (`${realpath(target)}/`.startsWith(`${realpath(source)}/`)) {
    const message = `EINVAL: cannot copy a folder into itself, cp '${source}' -> '${target}'`;
    throw Object.assign(new Error(message), { code: "EINVAL" });
  }
  for (const name of names) cp(joined(source, name), joined(target, name), options);
}
