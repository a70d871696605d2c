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

export const operations = {
  readFile(path: unknown, options?: unknown): string | Buffer {
    const encoding = encodingOf(options);
    const text = ask("readFile", { path: pathText(path), encoding: encoding ?? "latin1" }) as string;
    return encoding === undefined ? incoming(text) : text;
  },
  writeFile(path: unknown, data: unknown, options?: unknown): void {
    const { flag = "w" } = optionsOf(options);
    ask("writeFile", { path: pathText(path), ...outgoing(data, encodingOf(options)), flag: String(flag) });
  },
  appendFile(path: unknown, data: unknown, options?: unknown): void {
    const given = typeof options === "string" ? { encoding: options } : optionsOf(options);
    operations.writeFile(path, data, { flag: "a", ...given });
  },
  readdir(path: unknown, options?: unknown): string[] | Dirent[] {
    const folder = pathText(path);
    const { recursive, withFileTypes } = optionsOf(options);
    const entries = ask("readdir", { path: folder, recursive }) as { name: string; parent: string; kind: FileKind }[];
    if (!withFileTypes) return entries.map(({ name, parent }) => joined(parent, name));
    return entries.map(({ name, parent, kind }) => new Dirent(name, joined(folder, parent), kind));
  },
  stat: (path: unknown, options?: unknown) => statsOf("stat", path, options),
  lstat: (path: unknown, options?: unknown) => statsOf("lstat", path, options),
  access(path: unknown, mode: unknown = constants.F_OK): void {
    ask("access", { path: pathText(path), write: (Number(mode) & constants.W_OK) !== 0 });
  },
  exists(path: unknown): boolean {
    try {
      operations.access(path);
      return true;
    } catch {
      return false;
    }
  },
  mkdir: (path: unknown, options?: unknown) =>
    ask("mkdir", { path: pathText(path), recursive: optionsOf(options)["recursive"] }),
  mkdtemp: (prefix: unknown) => ask("mkdtemp", { path: pathText(prefix, "prefix") }),
  rm(path: unknown, options?: unknown): void {
    const { recursive, force } = optionsOf(options);
    ask("rm", { path: pathText(path), recursive, force });
  },
  rmdir(path: unknown, options?: unknown): void {
    if (optionsOf(options)["recursive"]) operations.rm(path, options);
    else ask("rmdir", { path: pathText(path) });
  },
  unlink: (path: unknown) => ask("unlink", { path: pathText(path) }),
  rename: (from: unknown, to: unknown) =>
    ask("rename", { path: pathText(from, "oldPath"), dest: pathText(to, "newPath") }),
  copyFile(from: unknown, to: unknown, mode: unknown = 0): void {
    const exclusive = (Number(mode) & constants.COPYFILE_EXCL) !== 0;
    ask("copyFile", { path: pathText(from, "src"), dest: pathText(to, "dest"), exclusive });
  },
  realpath: (path: unknown) => ask("realpath", { path: pathText(path) }),
  /** Copies a file, or with `recursive` a folder. `force: false` keeps existing files, and `filter(from, to)` can exclude files. */
  cp(from: unknown, to: unknown, options?: unknown): void {
    const { recursive, force = true, errorOnExist, filter } = optionsOf(options);
    const [source, target] = [pathText(from, "src"), pathText(to, "dest")];
    const refuse = (code: string, message: string, hint?: string): never => {
      throw withCode(new Error(`${code}: ${message}, cp '${source}' -> '${target}'`), code, hint);
    };
    if (typeof filter === "function" && !filter(source, target)) return;
    if (!statsOf("lstat", source, {})?.isDirectory()) {
      const isKept = !force && !errorOnExist && operations.exists(target);
      if (!isKept) operations.copyFile(source, target, force ? 0 : constants.COPYFILE_EXCL);
      return;
    }
    if (!recursive) refuse("EISDIR", "illegal operation on a directory", "Copy a folder with { recursive: true }.");
    // Read before the target is created, because the target may be inside the source.
    const names = operations.readdir(source) as string[];
    operations.mkdir(target, { recursive: true });
    if (`${operations.realpath(target)}/`.startsWith(`${operations.realpath(source)}/`))
      refuse("EINVAL", "cannot copy a folder into itself");
    for (const name of names) operations.cp(joined(source, name), joined(target, name), options);
  },
};

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

/** Returns data for the host, with its encoding. Bytes are passed with one character each (latin1), which is fastest. */
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

function withCode<E extends Error>(error: E, code: string, hint?: string): E {
  return Object.assign(error, { code, ...(hint !== undefined && { hint }) });
}

const argumentError = (message: string, hint?: string) =>
  withCode(new TypeError(message), "ERR_INVALID_ARG_TYPE", hint);

/** Describes the argument that was given, in Node's words. */
function received(value: unknown): string {
  if (typeof value === "object" && value !== null)
    return `Received an instance of ${value.constructor?.name ?? "Object"}`;
  if (typeof value === "function") return `Received function ${value.name}`;
  return value === undefined || value === null
    ? `Received ${value}`
    : `Received type ${typeof value} (${String(value)})`;
}
