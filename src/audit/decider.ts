/** The process that decides, as the audit log names it. */
import { readFileSync } from "node:fs";
import { userInfo } from "node:os";
import { isatty } from "node:tty";
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

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // The user may have no entry in the system's list.
    return String(process.getuid?.() ?? "");
  }
}

/** The name of the program that started this one. Linux tells it without another process; elsewhere it is undefined. */
function parentName(): string | undefined {
  try {
    return readFileSync(`/proc/${process.ppid}/comm`, "utf8").trim() || undefined;
  } catch {
    return undefined;
  }
}
