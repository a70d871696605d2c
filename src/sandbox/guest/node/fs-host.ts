/** Asks the host for an operation on files; its refusals become errors like Node's. */
import { type FileFault, host } from "../host.ts";

const { parse, stringify } = JSON;

/** The answer's value. Throws an Error with `code`, `syscall`, `path`, `dest` and `hint`. */
export function ask(operation: string, args: Record<string, unknown>): unknown {
  const answer: { value?: unknown; error?: FileFault } = parse(host.file(operation, stringify(args)));
  if (!answer.error) return answer.value;
  const { message, ...details } = answer.error;
  throw Object.assign(new Error(message), details);
}

/** An argument that is none of the types that Node takes. */
export function argumentError(message: string, hint?: string): TypeError {
  return Object.assign(new TypeError(message), { code: "ERR_INVALID_ARG_TYPE", ...(hint !== undefined && { hint }) });
}

/** What was given instead, in Node's words. */
export function received(value: unknown): string {
  if (typeof value === "object" && value !== null)
    return `Received an instance of ${value.constructor?.name ?? "Object"}`;
  if (typeof value === "function") return `Received function ${value.name}`;
  return value === undefined || value === null
    ? `Received ${value}`
    : `Received type ${typeof value} (${String(value)})`;
}

/** A path that was given as text, bytes or a file URL. */
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
