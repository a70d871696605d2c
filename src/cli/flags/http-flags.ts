/** The flags of `serve --http`: the address, the token, the allowed callers and the limits. */

import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../../base/errors.ts";
import { writeWhenChanged } from "../../base/files.ts";
import { withLock } from "../../base/lock.ts";
import { isLoopback } from "../../base/loopback.ts";
import { type PrivateFile, readPrivate } from "../../base/private-file.ts";
import { megabyte, minuteMs } from "../../base/units.ts";
import type { FrontDoorOptions } from "../../serve/http/front-door.ts";
import { type Args, type ArgumentValues, flag, option, repeatable } from "../command.ts";
import type { Io } from "../io.ts";
import { maxIdleMs } from "../limits.ts";
import { countUpTo, parseAddress, timeUpTo } from "./flags.ts";

/** Maximum of the flag for the time that running calls get to finish. */
const maxGraceMs = 10 * minuteMs;

/** Characters of a token for HTTP, at least. A shorter one could be guessed. */
const minTokenChars = 16;

/** Size of one request over HTTP. */
const defaultBodyBytes = 16 * megabyte;

/** Size of the events of a session that are kept for a client that reconnects. */
const defaultEventBytes = 4 * megabyte;

/** How long they are kept. */
const defaultEventAgeMs = 5 * minuteMs;

export const httpArgs = {
  http: option("Serve over HTTP on this address, at the path /mcp (default host 127.0.0.1); port 0 picks a free port", {
    valueHint: "[host:]port",
    parse: parseAddress,
  }),
  "token-env": option("Require the token in this environment variable", { valueHint: "name", complete: "variable" }),
  "token-file": option("Require the token in this file (default: a file that claudikins creates and keeps)", {
    valueHint: "file",
    complete: "file",
  }),
  "without-token": flag(
    "Require no token: anyone who can reach the address can call all your servers; on Linux, other users of this machine cannot use a loopback address",
  ),
  "allow-host": option("Host name that callers may use for this machine (repeatable)", {
    valueHint: "name",
    ...repeatable,
    parse: hostName,
  }),
  "allow-origin": option("Origin of web pages that may send requests, such as https://app.example.com (repeatable)", {
    valueHint: "url",
    ...repeatable,
    parse: originOf,
  }),
  "max-sessions": option(
    "Maximum number of sessions of one token; beyond it, a new session ends an idle one (default 100)",
    countUpTo(10_000),
  ),
  "reconnect-after": option(
    "Close connections after this time if their clients can resume them (default 5m)",
    timeUpTo(maxIdleMs),
  ),
  "session-idle": option("End a session that has been idle for this time (default 30m)", timeUpTo(maxIdleMs)),
  metrics: flag("Answer at the path /metrics with metrics for Prometheus, which sends the token like other callers"),
  "lame-duck": option(
    "On shutdown, serve for this time while /readyz says no, so that balancers turn away (default 5s with a shared database, otherwise 0s)",
    timeUpTo(maxGraceMs, 0),
  ),
  grace: option("Time that running calls get to finish on shutdown (default 20s)", timeUpTo(maxGraceMs)),
} as const satisfies Args;

type HttpFlags = ArgumentValues<typeof httpArgs>;

export interface HttpChoice extends Omit<FrontDoorOptions, "log" | "openDoor" | "people"> {
  graceMs: number;
  /** Undefined means the default, which depends on whether there are other replicas. */
  lameDuckMs: number | undefined;
  /** No token is required. If this is false and `token` is undefined, claudikins uses a token of its own. */
  isOpen: boolean;
}

/** Defaults. */
const usual = {
  maxSessions: 100,
  idleMs: 1_800_000,
  graceMs: 20_000,
  maxBodyBytes: defaultBodyBytes,
  events: { maxBytes: defaultEventBytes, maxAgeMs: defaultEventAgeMs },
  retryMs: 1_000,
  maxConnectionMs: 300_000,
  maxCalls: 8,
  maxRequests: 256,
};

/** Returns undefined without `--http`. Throws USAGE, NEEDS_VARIABLE and FILE_NOT_FOUND. */
export function httpChoice(flags: HttpFlags, io: Pick<Io, "env" | "cwd">): HttpChoice | undefined {
  const {
    http,
    grace,
    "max-sessions": sessions,
    "session-idle": idle,
    "reconnect-after": reconnect,
    "lame-duck": lameDuck,
  } = flags;
  if (http === undefined) {
    const stray = Object.keys(httpArgs).find((name) => [flags[name as keyof HttpFlags]].flat()[0] !== undefined);
    if (stray !== undefined) throw new ClaudikinsError("USAGE", `--${stray} works only with --http`);
    return undefined;
  }
  const token = tokenOf(flags, io);
  return {
    ...usual,
    ...http,
    token,
    isOpen: flags["without-token"] === true,
    allowedHosts: flags["allow-host"],
    allowedOrigins: flags["allow-origin"],
    maxSessions: sessions ?? usual.maxSessions,
    idleMs: idle ?? usual.idleMs,
    maxConnectionMs: reconnect ?? usual.maxConnectionMs,
    graceMs: grace ?? usual.graceMs,
    lameDuckMs: lameDuck,
  };
}

/** Throws USAGE if other machines can reach the address, and nothing is required of them. */
export function requireToken({ host, token, isOpen }: HttpChoice): void {
  if (token !== undefined || isOpen || isLoopback(host)) return;
  throw new ClaudikinsError("USAGE", `Other machines can reach ${host}, so a token is required`, {
    hint: "Give a token with --token-env NAME or --token-file FILE (to make one: openssl rand -hex 32), or add --without-token.",
  });
}

function isUsableToken(token: string): boolean {
  return token.length >= minTokenChars && /^[\x21-\x7e]+$/.test(token);
}

function tokenOf(flags: HttpFlags, { env, cwd }: Pick<Io, "env" | "cwd">): string | undefined {
  const { "token-env": variable, "token-file": file, "without-token": without } = flags;
  const ways = [variable, file, without].filter((each) => each !== undefined);
  if (ways.length > 1)
    throw new ClaudikinsError("USAGE", "Use only one of --token-env, --token-file and --without-token");
  if (typeof variable === "string") return usable(env[variable]?.trim(), `The variable ${variable}`, "NEEDS_VARIABLE");
  if (typeof file === "string") return usable(readToken(resolve(cwd, file)), `The file ${file}`, "USAGE");
  return undefined;
}

function readToken(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (cause) {
    const why = systemCodeOf(cause) === "ENOENT" ? "the file does not exist" : messageOf(cause);
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read the token from ${file}: ${why}`, { cause });
  }
}

function usable(token: string | undefined, where: string, code: "NEEDS_VARIABLE" | "USAGE"): string {
  const hint = "To make a token: openssl rand -hex 32";
  if (token === undefined || token === "") throw new ClaudikinsError(code, `${where} has no token`, { hint });
  if (!isUsableToken(token)) {
    const message = `${where} has no usable token: a token is ${minTokenChars} or more ASCII characters without spaces`;
    throw new ClaudikinsError("USAGE", message, { hint });
  }
  return token;
}

function hostName(text: string): string {
  if (/^[a-z0-9._-]+$/i.test(text)) return text;
  throw new ClaudikinsError(
    "USAGE",
    `--allow-host takes a host name like mcp.example.com, without a port; got "${text}"`,
  );
}

function originOf(text: string): string {
  const origin = URL.canParse(text) ? new URL(text).origin : "null";
  if (/^https?:/.test(origin) && origin === text.replace(/\/$/, "").toLowerCase()) return origin;
  throw new ClaudikinsError("USAGE", `--allow-origin takes an origin like https://app.example.com; got "${text}"`);
}

export interface KeptToken {
  token: string;
  file: string;
  /** Made just now. */
  isNew: boolean;
}

const others = "Delete the file to let claudikins make a new token, or give a token with --token-env or --token-file.";

/**
 * The token in the file, which is made if it is missing. Any process creates it; concurrent creation is safe. Throws USAGE for
 * a file that others can read or that has no token, FILE_NOT_WRITABLE, and CALL_TIMEOUT.
 */
export async function keptToken(file: string): Promise<KeptToken> {
  const found = tokenIn(file);
  if (found !== undefined) return { token: found, file, isNew: false };
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    return await withLock(`${file}.lock`, "the token of serve --http", () => {
      const made = tokenIn(file);
      if (made !== undefined) return { token: made, file, isNew: false };
      const token = randomBytes(32).toString("hex");
      writeWhenChanged(file, `${token}\n`, () => false, 0o600);
      return { token, file, isNew: true };
    });
  } catch (cause) {
    if (cause instanceof ClaudikinsError && cause.code !== "FILE_NOT_WRITABLE") throw cause;
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot store the token of serve --http: ${messageOf(cause)}`, {
      hint: "Give a token with --token-env NAME or --token-file FILE.",
      cause,
    });
  }
}

/** Undefined where there is no file. */
function tokenIn(file: string): string | undefined {
  const found = privateFile(file);
  if (found === undefined) return undefined;
  if (!found.isPrivate) throw unusable(`Others can read or change ${file}, so its token is not secret`);
  const token = found.text.trim();
  if (!isUsableToken(token)) throw unusable(`${file} has no usable token`);
  return token;
}

function privateFile(file: string): PrivateFile | undefined {
  try {
    return readPrivate(file);
  } catch (cause) {
    throw unusable(`Cannot read the token from ${file}: ${systemCodeOf(cause) ?? messageOf(cause)}`);
  }
}

function unusable(message: string): ClaudikinsError {
  return new ClaudikinsError("USAGE", message, { hint: others });
}
