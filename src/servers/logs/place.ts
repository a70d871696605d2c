/** Where the log file of a server is: one file for each config and server, with a header that names both. */

import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parsedJson } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import type { ConfigOrigin } from "../../config/discover.ts";

export interface LogOwner {
  server: string;
  /** The config file; null for the demo. */
  config: string | null;
}

/** The older file, renamed when the log became too large. Only one is kept. */
export const olderSuffix = ".1";

/** One lock for all logs: the work under it is short. */
export const lockName = ".lock";

/** The owner of a config's logs, whatever folder or link leads to the config. */
export function configOwner(origin: ConfigOrigin): string | null {
  if (origin.kind === "demo") return null;
  try {
    return realpathSync(origin.file);
  } catch {
    return inRealFolder(origin.file);
  }
}

/** The path of a log that is about to be written. */
function inRealFolder(file: string): string {
  try {
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    return file;
  }
}

/** A server may have any name, and some file systems ignore case. The file name is a readable part of the name and a hash. */
export function logFile(folder: string, { server, config }: LogOwner): string {
  const readable = server
    .toLowerCase()
    .replace(/[^a-z\d]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  const hash = sha256(JSON.stringify([config, server])).slice(0, 12);
  return join(folder, `${readable || "server"}-${hash}.log`);
}

export const isLogName = (name: string) => /-[\da-f]{12}\.log$/.test(name);

/** The first line of each file. */
export function headerOf({ server, config }: LogOwner): string {
  return `# ${JSON.stringify({ server, config })}\n`;
}

/** Undefined if the line is not a header. */
export function readHeader(line: string): LogOwner | undefined {
  if (!line.startsWith("# ")) return undefined;
  const { server, config } = Object(parsedJson(line.slice(2)));
  const isValid = typeof server === "string" && (config === null || typeof config === "string");
  return isValid ? { server, config } : undefined;
}
