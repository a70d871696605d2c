/** The errors of file operations, with Node's codes. Their paths are the program's, never those of this machine. */
import { systemCodeOf } from "../../../errors.ts";
import { LinkRefused } from "../../../open-folder.ts";
import { escaped, visibleText } from "../../../visible-text.ts";
import type { FileFault } from "../../guest/host.ts";

const texts = {
  EACCES: "permission denied",
  EBUSY: "resource busy or locked",
  EDQUOT: "disk quota exceeded",
  EEXIST: "file already exists",
  EFBIG: "file too large",
  EINVAL: "invalid argument",
  EIO: "i/o error",
  EISDIR: "illegal operation on a directory",
  ELOOP: "too many symbolic links encountered",
  EMFILE: "too many open files",
  ENAMETOOLONG: "name too long",
  ENOENT: "no such file or directory",
  ENOSPC: "no space left on device",
  ENOTDIR: "not a directory",
  ENOTEMPTY: "directory not empty",
  EPERM: "operation not permitted",
  EROFS: "read-only file system",
} as const;

type FaultCode = keyof typeof texts;

/** A refused operation. `why` adds to the text of the code, and `hint` says what to do instead. */
export class Fault extends Error {
  readonly code: FaultCode;
  readonly why: string | undefined;
  readonly hint: string | undefined;

  constructor(code: FaultCode, why?: string, hint?: string) {
    super(code);
    this.code = code;
    this.why = why;
    this.hint = hint;
  }
}

export function linkFault(): Fault {
  return new Fault("EACCES", "symbolic links are not followed", "Use a file or folder that is not a link.");
}

/**
 * Describes anything that an operation threw. Of a system error only the code is used, because its message has paths of this
 * machine.
 */
export function describeFault(thrown: unknown, syscall: string, paths: readonly string[]): FileFault {
  const known = systemCodeOf(thrown) ?? "";
  const code = known in texts ? (known as FaultCode) : "EIO";
  const fault = thrown instanceof LinkRefused ? linkFault() : thrown instanceof Fault ? thrown : undefined;
  const [path, dest] = paths.map(shown);
  const why = fault?.why === undefined ? "" : ` (${fault.why})`;
  const places = path === undefined ? "" : ` '${path}'${dest === undefined ? "" : ` -> '${dest}'`}`;
  return {
    code,
    message: `${code}: ${texts[code]}${why}, ${syscall}${places}`,
    syscall,
    ...(path !== undefined && { path }),
    ...(dest !== undefined && { dest }),
    ...(fault?.hint !== undefined && { hint: fault.hint }),
  };
}

/** Returns the program's path on one line, shortened and with escapes. */
export function shown(path: string): string {
  const short = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return visibleText(short).replace(/[\n\t]/g, escaped);
}
