/** Starts the daemon of a config as a separate process, which outlives this one. */
import { spawn } from "node:child_process";
import { closeSync, fstatSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { ClaudikinsError, type ErrorCode, messageOf } from "../base/errors.ts";
import { parsedJson } from "../base/json-object.ts";
import type { Environment } from "../config/environment.ts";
import { daemonStartMs } from "./limits.ts";
import { type DaemonPaths, doWithout, makePrivate, notListening } from "./place.ts";

/** Time to wait for another process's daemon to listen, if that process was faster. */
const otherDaemonStartMs = 500;

/** The options of a start. Generated files start the daemon too, so this file must not need Bun. */
interface DaemonStart {
  place: DaemonPaths;
  /** The config file; undefined for the demo. */
  config: string | undefined;
  env: Environment;
  /** The command of claudikins. */
  command: readonly string[];
  /** Whether the user has confirmed the config. Otherwise the daemon checks whether it is trusted. */
  isAnsweredFor?: boolean;
  /** Asks the daemon for its status. Undefined if none is listening. */
  status(): Promise<{ pid?: number } | undefined>;
}

/** Resolves when a daemon listens. Throws FILE_NOT_WRITABLE, SERVER_UNAVAILABLE, and the error with which the daemon ended. */
export async function startDaemon(start: DaemonStart): Promise<void> {
  let daemon = launch(start);
  for (const deadline = performance.now() + daemonStartMs; performance.now() < deadline; ) {
    const status = await start.status().catch(() => undefined);
    if (status) {
      // Another process was faster, and our daemon is not needed.
      if (status.pid !== daemon.pid) daemon.end();
      return;
    }
    const failure = daemon.failure();
    if (failure) throw failure;
    // If another process was faster, our daemon ended at once. The other one may have ended since.
    if (daemon.endedMs() > otherDaemonStartMs) daemon = launch(start);
    await new Promise((done) => setTimeout(done, 5));
  }
  throw notListening(start.place);
}

interface Launched {
  pid: number | undefined;
  /** Ends the daemon, because it is not needed. */
  end(): void;
  /** Milliseconds since it ended, or 0. */
  endedMs(): number;
  /** The error with which it ended, if any. */
  failure(): ClaudikinsError | undefined;
}

function launch({ place, config, env, command, isAnsweredFor }: DaemonStart): Launched {
  makePrivate(dirname(place.log));
  const trust = isAnsweredFor ? ["--trust"] : [];
  const which = config === undefined ? ["--demo"] : ["--config", config, ...trust];
  const [file = "", ...args] = [...command, "daemon", "run", ...which, "--socket", place.socket, "--json"];
  const log = openLogFile(place.log);
  const from = fstatSync(log).size;
  let failure: ClaudikinsError | undefined;
  let endedAt = Number.POSITIVE_INFINITY;
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
      endedAt = performance.now();
      if (code !== 0) failure = lastWords(place.log, from) ?? cannotStart(`it ended with ${signal ?? `code ${code}`}`);
    });
    child.unref();
    const endedMs = () => Math.max(0, performance.now() - endedAt);
    return { pid: child.pid, end: () => void child.kill(), endedMs, failure: () => failure };
  } finally {
    closeSync(log);
  }
}

function openLogFile(path: string): number {
  try {
    return openSync(path, "a", 0o600);
  } catch (error) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot start the daemon: ${messageOf(error)}`, { hint: doWithout });
  }
}

/** The error in a line of JSON, as `--json` prints it; otherwise all output since the start. */
function lastWords(log: string, from: number): ClaudikinsError | undefined {
  const lines = readFileSync(log).subarray(from).toString("utf8").trim().split("\n");
  // The output of a crash has another form.
  for (const line of lines.toReversed()) {
    const { error } = Object(parsedJson(line)) as { error?: { message: string; code: ErrorCode; hint?: string } };
    if (error) return new ClaudikinsError(error.code, error.message, { hint: error.hint });
  }
  const text = lines.slice(-5).join("\n");
  return text === "" ? undefined : cannotStart(text);
}

function cannotStart(why: string): ClaudikinsError {
  return new ClaudikinsError("UNEXPECTED", `The daemon did not start: ${why}`, {
    hint: `Run claudikins daemon run to see why. ${doWithout}`,
  });
}
