/** The synchronous file operations, with Node's names and arguments. The host does them. */
import { type FileFault, type FileKind, type FileStats, host } from "../host.ts";
import { Buffer, bytesOf } from "./buffer.ts";
import { Dirent, Stats } from "./fs-entries.ts";

const { parse, stringify } = JSON;
const { fromCharCode } = String;

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
function statsOf(operation: "stat" | "lstat", path: unknown, options: unknown): Stats | undefined {
  try {
    return new Stats(ask(operation, { path: pathText(path) }) as FileStats);
  } catch (error) {
    const isNeeded = optionsOf(options)["throwIfNoEntry"] !== false;
    if (isNeeded || (error as { code?: string }).code !== "ENOENT") throw error;
    return undefined;
  }
}

export function stat(path: unknown, options?: unknown): Stats | undefined {
  return statsOf("stat", path, options);
}

export function lstat(path: unknown, options?: unknown): Stats | undefined {
  return statsOf("lstat", path, options);
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
  const { recursive } = optionsOf(options);
  return ask("mkdir", { path: pathText(path), recursive: Boolean(recursive) }) as string | undefined;
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

/** Returns the value of the host's answer. Throws an Error with `code`, `syscall`, `path`, `dest` and `hint`, as in Node. */
function ask(operation: string, args: Record<string, unknown>): unknown {
  const answer: { value?: unknown; error?: FileFault } = parse(host.file(operation, stringify(args)));
  if (!answer.error) return answer.value;
  const { message, ...details } = answer.error;
  throw Object.assign(new Error(message), details);
}

/** Returns a path that was given as text, bytes or a file URL. Throws TypeError for other values. */
function pathText(path: unknown, name = "path"): string {
  if (typeof path === "string") return path;
  if (path instanceof Uint8Array) return bytesOf(path)!.toString();
  const { protocol, pathname } = (path ?? {}) as { protocol?: unknown; pathname?: unknown };
  if (protocol === "file:" && typeof pathname === "string") {
    if (/%2f|%5c/i.test(pathname)) throw argumentError(`The "${name}" argument is a URL with an encoded separator`);
    return decodeURIComponent(pathname);
  }
  const hint = typeof path === "number" ? "File descriptors are not supported: pass a path." : undefined;
  const expected = `The "${name}" argument must be of type string or an instance of Buffer or URL.`;
  throw argumentError(`${expected} ${received(path)}`, hint);
}

/** Returns the encoding in the options, which may be the encoding itself. Undefined means bytes. */
function encodingOf(options: unknown): string | undefined {
  const encoding = typeof options === "string" ? options : optionsOf(options)["encoding"];
  return typeof encoding === "string" && encoding !== "buffer" ? encoding : undefined;
}

/** Returns data for the host, with its encoding. Bytes are passed with one character each (latin1), which is the fastest way. */
function outgoing(data: unknown, encoding: string | undefined): { data: string; encoding: string } {
  if (typeof data === "string") return { data, encoding: encoding ?? "utf8" };
  const bytes = bytesOf(data);
  if (!bytes)
    throw argumentError(
      `The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. ${received(data)}`,
      "Write JSON.stringify(value, null, 2) for data, or String(value) for text.",
    );
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += 8_192) parts.push(fromCharCode(...bytes.subarray(at, at + 8_192)));
  return { data: parts.join(""), encoding: "latin1" };
}

function incoming(latin1: string): Buffer {
  const bytes = Buffer.alloc(latin1.length);
  for (let at = 0; at < latin1.length; at++) bytes[at] = latin1.charCodeAt(at);
  return bytes;
}

/** Returns the error for an argument of a wrong type. */
function argumentError(message: string, hint?: string): TypeError {
  return Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_TYPE", ...(hint !== undefined && { hint }) });
}

/** Describes the argument that was given, in Node's words. */
function received(value: unknown): string {
  if (typeof value === "object" && value !== null)
    return `Received an instance of ${value.constructor?.name ?? "Object"}`;
  if (typeof value === "function") return `Received function ${value.name}`;
  return value === undefined || value === null
    ? `Received ${value}`
    : `Received type ${typeof value} (${String(value)})`;
}
