/** The log of claudikins itself, on stderr: silent unless `CLAUDIKINS_LOG` or `--verbose` asks for it. Never secrets, never contents. */
import { ClaudikinsError } from "./errors.ts";
import { visibleText } from "./visible-text.ts";

export interface Log {
  debug(message: string): void;
  info(message: string): void;
  warn(message: string): void;
}

export const silentLog: Log = { debug() {}, info() {}, warn() {} };

/** Nothing is logged as an error: what is one ends the command, which says it itself. */
const levels = ["silent", "error", "warn", "info", "debug"] as const;

/** Throws USAGE for a level that there is not. */
export function checkLevel(level: string | undefined): void {
  if (level && !levels.includes(level as (typeof levels)[number])) {
    throw new ClaudikinsError("USAGE", `CLAUDIKINS_LOG takes one of ${levels.join(", ")}; got "${level}"`);
  }
}

/** Consola is loaded only when something is to be logged. Throws USAGE for a level that there is not. */
export async function openLog(level: string | undefined): Promise<Log> {
  checkLevel(level);
  if (!level || level === "silent" || level === "error") return silentLog;
  const { createConsola, LogLevels } = await import("consola");
  // Both streams are stderr: stdout belongs to data and to the protocol.
  const streams = { stdout: process.stderr, stderr: process.stderr };
  const log = createConsola({
    ...streams,
    level: LogLevels[level as "warn" | "info" | "debug"],
    formatOptions: { date: true },
  }).withTag("claudikins");
  // Servers' words are in it, and people read it at a terminal.
  return {
    debug: (message) => log.debug(visibleText(message)),
    info: (message) => log.info(visibleText(message)),
    warn: (message) => log.warn(visibleText(message)),
  };
}

/** With the time before each line, for a log that somebody reads later. */
export function dated(log: Log): Log {
  const at = (message: string) => `${new Date().toISOString()} ${message}`;
  return {
    debug: (message) => log.debug(at(message)),
    info: (message) => log.info(at(message)),
    warn: (message) => log.warn(at(message)),
  };
}
