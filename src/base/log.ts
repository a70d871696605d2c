/**
 * The log of claudikins on stderr. It is silent unless `CLAUDIKINS_LOG` or `--verbose` turns it on. It never contains secrets or
 * the contents of calls. Telemetry may send its lines too.
 */
import { ClaudikinsError } from "./errors.ts";
import { visibleText } from "./visible-text.ts";

export type LogLevel = "debug" | "info" | "warn";

export type Log = Record<LogLevel, (message: string) => void>;

export const silentLog: Log = { debug() {}, info() {}, warn() {} };

/** Nothing is logged as an error, because errors end the command, which reports them itself. */
const levels = ["silent", "error", "warn", "info", "debug"] as const;

/** Throws USAGE if the level does not exist. */
export function checkLevel(level: string | undefined): void {
  if (level && !levels.includes(level as (typeof levels)[number])) {
    throw new ClaudikinsError("USAGE", `CLAUDIKINS_LOG takes one of ${levels.join(", ")}; got "${level}"`);
  }
}

type SendLine = (level: LogLevel, message: string) => void;

/** The function that gets the lines of all logs of this process, if there is one. */
let sendLine: SendLine | undefined;

/** Sends the lines of all logs of this process, from `info` on, to a function as well. Returns a function that ends this. */
export function sendLinesTo(send: SendLine): () => void {
  sendLine = send;
  return () => {
    if (sendLine === send) sendLine = undefined;
  };
}

/** Opens the log. Consola is loaded only if something can be written. Throws USAGE if the level does not exist. */
export async function openLog(level: string | undefined): Promise<Log> {
  const written = await openWritten(level);
  const log = (each: LogLevel) => (message: string) => {
    written[each](message);
    if (each !== "debug" || level === "debug") sendLine?.(each, visibleText(message));
  };
  return { debug: log("debug"), info: log("info"), warn: log("warn") };
}

async function openWritten(level: string | undefined): Promise<Log> {
  checkLevel(level);
  if (!level || level === "silent" || level === "error") return silentLog;
  const { createConsola, LogLevels } = await import("consola");
  // Both streams are stderr, because stdout is for data and for the protocol.
  const streams = { stdout: process.stderr, stderr: process.stderr };
  const log = createConsola({
    ...streams,
    level: LogLevels[level as "warn" | "info" | "debug"],
    formatOptions: { date: true },
  }).withTag("claudikins");
  // Messages may contain text of servers, which must not control the terminal.
  return changed(log, visibleText);
}

/** Returns a log that writes the time before each message. */
export function dated(log: Log): Log {
  return changed(log, (message) => `${new Date().toISOString()} ${message}`);
}

/** Returns a log that changes each message. */
export function changed(log: Log, change: (message: string) => string): Log {
  return {
    debug: (message) => log.debug(change(message)),
    info: (message) => log.info(change(message)),
    warn: (message) => log.warn(change(message)),
  };
}
