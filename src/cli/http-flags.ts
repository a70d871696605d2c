/** The flags of `serve --http`: the address, the token, the allowed callers and the limits. */
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { ClaudikinsError, messageOf, systemCodeOf } from "../errors.ts";
import { isLoopback } from "../loopback.ts";
import type { FrontDoorOptions } from "../server/http/front-door.ts";
import { type Args, repeatable, type Values } from "./command.ts";
import { count, duration, parseAddress } from "./flags.ts";
import type { Io } from "./io.ts";

/** Maximum of the flags for idle time and for the time of a connection: one day. */
const maxIdleMs = 86_400_000;
const maxGraceMs = 600_000;

export const httpArgs = {
  http: {
    type: "string",
    valueHint: "[host:]port",
    description: "Serve over HTTP on this address, at the path /mcp (default host 127.0.0.1); port 0 picks a free port",
    parse: parseAddress,
  },
  "token-env": {
    type: "string",
    valueHint: "name",
    description: "Require the token in this environment variable",
    complete: "variable",
  },
  "token-file": {
    type: "string",
    valueHint: "file",
    description: "Require the token in this file (default: a file that claudikins creates and keeps)",
    complete: "file",
  },
  "without-token": {
    type: "boolean",
    description: "Require no token: anyone who can reach the address can call all your servers",
  },
  "allow-host": {
    type: "string",
    valueHint: "name",
    description: "Host name that callers may use for this machine (repeatable)",
    ...repeatable,
    parse: hostName,
  },
  "allow-origin": {
    type: "string",
    valueHint: "url",
    description: "Origin of web pages that may send requests, such as https://app.example.com (repeatable)",
    ...repeatable,
    parse: originOf,
  },
  "max-sessions": {
    type: "string",
    valueHint: "n",
    description: "Maximum number of sessions; beyond it, a new session ends an idle one (default 100)",
    parse: count(10_000),
  },
  "reconnect-after": {
    type: "string",
    valueHint: "time",
    description: "Close connections after this time if their clients can resume them (default 5m)",
    parse: duration(maxIdleMs),
  },
  "session-idle": {
    type: "string",
    valueHint: "time",
    description: "End a session that has been idle for this time (default 30m)",
    parse: duration(maxIdleMs),
  },
  grace: {
    type: "string",
    valueHint: "time",
    description: "Time that running calls get to finish on shutdown (default 20s)",
    parse: duration(maxGraceMs),
  },
} as const satisfies Args;

type Flags = Values<typeof httpArgs>;

export interface HttpChoice extends Omit<FrontDoorOptions, "log"> {
  graceMs: number;
  /** No token is required. If this is false and `token` is undefined, claudikins uses a token of its own. */
  isOpen: boolean;
}

/** Defaults. */
const usual = {
  maxSessions: 100,
  idleMs: 1_800_000,
  graceMs: 20_000,
  maxBodyBytes: 16 * 1_048_576,
  events: { maxBytes: 4 * 1_048_576, maxAgeMs: 300_000 },
  retryMs: 1_000,
  maxConnectionMs: 300_000,
  maxCalls: 8,
  maxRequests: 256,
};

/** Returns undefined without `--http`. Throws USAGE, NEEDS_VARIABLE and FILE_NOT_FOUND. */
export function httpChoice(flags: Flags, io: Pick<Io, "env" | "cwd">): HttpChoice | undefined {
  const { http, grace, "max-sessions": sessions, "session-idle": idle, "reconnect-after": reconnect } = flags;
  if (http === undefined) {
    const stray = Object.keys(httpArgs).find((name) => [flags[name as keyof Flags]].flat()[0] !== undefined);
    if (stray !== undefined) throw new ClaudikinsError("USAGE", `--${stray} works only with --http`);
    return undefined;
  }
  const token = tokenOf(flags, io);
  if (token === undefined && !flags["without-token"] && !isLoopback(http.host)) {
    throw new ClaudikinsError("USAGE", `Other machines can reach ${http.host}, so a token is required`, {
      hint: "Give a token with --token-env NAME or --token-file FILE (to make one: openssl rand -hex 32), or add --without-token.",
    });
  }
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
  };
}

/** Minimum length of a token in characters. A shorter one could be guessed. */
const minTokenLength = 16;

export function isUsableToken(token: string): boolean {
  return token.length >= minTokenLength && /^[\x21-\x7e]+$/.test(token);
}

function tokenOf(flags: Flags, { env, cwd }: Pick<Io, "env" | "cwd">): string | undefined {
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
    const message = `${where} has no usable token: a token is ${minTokenLength} or more ASCII characters without spaces`;
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
