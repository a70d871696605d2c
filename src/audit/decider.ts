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

/** The name, or the number of a user whose name is not known. Bun calls such a user `unknown`. */
function userName(): string {
  const number = String(process.getuid?.() ?? "");
  try {
    const { username } = userInfo();
    return username === "unknown" ? number : username;
  } catch {
    return number;
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
