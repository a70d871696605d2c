/** The errors of file operations, with Node's codes. Their paths are the program's, never this machine's. */
import { systemCodeOf } from "../../../base/errors.ts";
import { LinkRefused } from "../../../base/open-folder.ts";
import { escaped, visibleText } from "../../../base/visible-text.ts";
import type { FileFault } from "../../guest/host.ts";

let errorTexts: ReadonlyMap<string, string> | undefined;

/** The text of one of the system's error codes, as in Node. Only a program that fails with one waits for node:util. */
function textOf(code: string): string | undefined {
  errorTexts ??= new Map([
    ...process.getBuiltinModule("node:util").getSystemErrorMap().values(),
    ["EDQUOT", "disk quota exceeded"],
  ]);
  return errorTexts.get(code);
}

/** A refused operation. `why` adds to the text of the code, and `hint` says what to do instead. */
export class FileRefusal extends Error {
  readonly code: string;
  readonly why: string | undefined;
  readonly hint: string | undefined;

  constructor(code: string, why?: string, hint?: string) {
    super(code);
    this.code = code;
    this.why = why;
    this.hint = hint;
  }
}

export function linkFault(): FileRefusal {
  return new FileRefusal("EACCES", "symbolic links are not followed", "Use a file or folder that is not a link.");
}

/**
 * Describes anything that an operation threw. Of a system error only the code is used, because its message has paths of this
 * machine.
 */
export function describeFault(thrown: unknown, syscall: string, paths: readonly string[]): FileFault {
  const known = systemCodeOf(thrown) ?? "";
  const code = textOf(known) === undefined ? "EIO" : known;
  const fault = thrown instanceof LinkRefused ? linkFault() : thrown instanceof FileRefusal ? thrown : undefined;
  const [path, dest] = paths.map(shown);
  const why = fault?.why === undefined ? "" : ` (${fault.why})`;
  const places = path === undefined ? "" : ` '${path}'${dest === undefined ? "" : ` -> '${dest}'`}`;
  return {
    code,
    message: `${code}: ${textOf(code)}${why}, ${syscall}${places}`,
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
