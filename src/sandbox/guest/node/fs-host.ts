/** Asks the host for file operations. Refusals become errors as in Node. */
import { type FileFault, host } from "../host.ts";

const { parse, stringify } = JSON;

/** Returns the value of the answer. Throws an Error with `code`, `syscall`, `path`, `dest` and `hint`. */
export function ask(operation: string, args: Record<string, unknown>): unknown {
  const answer: { value?: unknown; error?: FileFault } = parse(host.file(operation, stringify(args)));
  if (!answer.error) return answer.value;
  const { message, ...details } = answer.error;
  throw Object.assign(new Error(message), details);
}

/** Returns the error for an argument of a wrong type. */
export function argumentError(message: string, hint?: string): TypeError {
  return Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_TYPE", ...(hint !== undefined && { hint }) });
}

/** Describes the argument that was given, in Node's words. */
export function received(value: unknown): string {
  if (typeof value === "object" && value !== null)
    return `Received an instance of ${value.constructor?.name ?? "Object"}`;
  if (typeof value === "function") return `Received function ${value.name}`;
  return value === undefined || value === null
    ? `Received ${value}`
    : `Received type ${typeof value} (${String(value)})`;
}

/** Returns a path that was given as text, bytes or a file URL. Throws TypeError for other values. */
export function pathText(path: unknown, name = "path"): string {
  if (typeof path === "string") return path;
  if (path instanceof Uint8Array) return decodeURIComponent(escape(String.fromCharCode(...path)));
  const { protocol, pathname } = (path ?? {}) as { protocol?: unknown; pathname?: unknown };
  if (protocol === "file:" && typeof pathname === "string") {
    if (/%2f|%5c/i.test(pathname)) throw argumentError(`The "${name}" argument is a URL with an encoded separator`);
    return decodeURIComponent(pathname);
  }
  const hint = typeof path === "number" ? "File descriptors are not supported: pass a path." : undefined;
  throw argumentError(
    `The "${name}" argument must be of type string or an instance of Buffer or URL. ${received(path)}`,
    hint,
  );
}
