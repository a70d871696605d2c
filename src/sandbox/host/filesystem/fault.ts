/** What goes wrong with files, as Node names it, and as the code is told: in its own paths, never in the host's. */
import { LinkRefused } from "../../../open-folder.ts";
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

/** A refusal. `why` says more than the code does, `hint` what to do instead. */
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

/** Anything thrown while an operation ran. Of a system error only the code is kept: its text has paths of the host. */
export function describeFault(thrown: unknown, syscall: string, paths: readonly string[]): FileFault {
  const known = codeOf(thrown);
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

/** The system's code of anything thrown; empty where there is none. */
export function codeOf(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : "";
  return typeof code === "string" ? code : "";
}

/** Controls, invisible formatting (but for the joiners that scripts and emoji need), halves of characters. */
export const unprintable =
  /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u00ad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/u;

/** A path as the code wrote it, on one line and not without end. */
export function shown(path: string): string {
  const short = path.length > 200 ? `${path.slice(0, 200)}…` : path;
  return short.replace(
    new RegExp(unprintable, "gu"),
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
