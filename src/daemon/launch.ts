/** Starts the daemon of a config as a process of its own, which outlives this one. */
import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Environment } from "../config/environment.ts";
import { selfCommand } from "../config/self.ts";
import { ClaudikinsError, type ErrorCode, messageOf } from "../errors.ts";
import { makePrivate, type Place } from "./place.ts";

export interface Launched {
  pid: number | undefined;
  /** Ends the daemon, because it is not needed. */
  end(): void;
  hasEnded(): boolean;
  /** The error with which it ended, if any. */
  failure(): ClaudikinsError | undefined;
}

/**
 * `config` is the config file, undefined for the demo. Unless the user vouches for it, the daemon checks whether it is
 * trusted. Throws FILE_NOT_WRITABLE.
 */
export function launchDaemon(
  place: Place,
  config: string | undefined,
  env: Environment,
  isAnsweredFor: boolean,
): Launched {
  makePrivate(dirname(place.log));
  const trust = isAnsweredFor ? ["--trust"] : [];
  const which = config === undefined ? ["--demo"] : ["--config", config, ...trust];
  const [file, ...args] = selfCommand("daemon", "run", ...which, "--socket", place.socket, "--json");
  const log = openLogFile(place.log);
  const from = fstatSync(log).size;
  let failure: ClaudikinsError | undefined;
  let hasEnded = false;
  try {
    const child = spawn(file, args, {
      cwd: dirname(config ?? place.log),
      env: { ...env },
      detached: true,
      windowsHide: true,
      stdio: ["ignore", "ignore", log],
    });
    child.on("error", (error) => {
      failure = cannotStart(messageOf(error));
    });
    child.on("exit", (code, signal) => {
      hasEnded = true;
      if (code !== 0) failure = lastWords(place.log, from) ?? cannotStart(`it ended with ${signal ?? `code ${code}`}`);
    });
    child.unref();
    return { pid: child.pid, end: () => void child.kill(), hasEnded: () => hasEnded, failure: () => failure };
  } finally {
    closeSync(log);
  }
}

function openLogFile(path: string): number {
  try {
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot start the daemon: ${messageOf(error)}`, {
      hint: "Use --no-daemon or CLAUDIKINS_DAEMON=off to do without it.",
    });
  }
}

/** The error in a line of JSON, as `--json` prints it; otherwise all output since the start. */
function lastWords(log: string, from: number): ClaudikinsError | undefined {
  const lines = readFileSync(log).subarray(from).toString("utf8").trim().split("\n");
  for (const line of lines.toReversed()) {
    try {
      const { error } = JSON.parse(line) as { error: { message: string; code: ErrorCode; hint?: string } };
      return new ClaudikinsError(error.code, error.message, { hint: error.hint });
    } catch {
      // A crash has output of another form.
    }
  }
  const text = lines.slice(-5).join("\n");
  return text === "" ? undefined : cannotStart(text);
}

function cannotStart(why: string): ClaudikinsError {
  return new ClaudikinsError("UNEXPECTED", `The daemon did not start: ${why}`, {
    hint: "Run claudikins daemon run to see why, or use --no-daemon or CLAUDIKINS_DAEMON=off to do without it.",
  });
}
