/** The process that decides, as the audit log names it. */
import { CString, FFIType, type Pointer, read } from "bun:ffi";
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { isatty } from "node:tty";
import { openLibrary } from "../../base/c-library.ts";
import type { Decider } from "./event.ts";

/** This process. */
export function thisProcess(place?: Decider["place"]): Decider {
  const parent = parentName();
  return {
    ...(place === undefined ? {} : { place }),
    user: userName(),
    pid: process.pid,
    terminal: isatty(0) && isatty(2),
    ...(parent === undefined ? {} : { parent }),
  };
}

let known: string | undefined;

/** The name in the system's list of users, or the number of a user who has none. */
function userName(): string {
  known ??= process.getuid === undefined ? userInfo().username : (nameOf(process.getuid()) ?? String(process.getuid()));
  return known;
}

/** `userInfo` of Bun takes the name from $USER, which is often missing and can be set to any name. */
function nameOf(uid: number): string | undefined {
  const library = openLibrary({ getpwuid: { args: [FFIType.u32], returns: FFIType.ptr } });
  const entry = library?.symbols.getpwuid(uid);
  if (!entry) return undefined;
  // The first member of the entry is a pointer to the name.
  const name = new CString(read.ptr(entry, 0) as Pointer).toString();
  return name === "" ? undefined : name;
}

/** The name of the program that started this one. Linux tells it without another process; elsewhere it is undefined. */
function parentName(): string | undefined {
  try {
    return readFileSync(`/proc/${process.ppid}/comm`, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
