/** Which file the log of a server is: one for each config and server, and what it says of itself. */

import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { ConfigOrigin } from "../config/discover.ts";
import { parsedJson } from "../json-object.ts";

export interface LogOwner {
  server: string;
  /** Its file, `null` for the demo's. */
  config: string | null;
}

/** What was written before that; there is no other one. */
export const olderSuffix = ".1";

/** One lock for all: what is done with it takes no time. */
export const lockName = ".lock";

/** The config of somebody who looks from any folder, by any name. */
export function configOwner(origin: ConfigOrigin): string | null {
  if (origin.kind === "demo") return null;
  try {
    return realpathSync(origin.file);
  } catch {
    return inRealFolder(origin.file);
  }
}

/** Of a file that is about to be written. */
function inRealFolder(file: string): string {
  try {
    return join(realpathSync(dirname(file)), basename(file));
  } catch {
    return file;
  }
}

/** Names of servers are anything, and some systems take `A` for `a`: a part of it to be read, and the rest as a number. */
export function logFile(folder: string, { server, config }: LogOwner): string {
  const readable = server
    .toLowerCase()
    .replace(/[^a-z\d]+/g, "-")
    .replace(/^-+|-+$/g, "")
    .slice(0, 40);
  const hash = createHash("sha256")
    .update(JSON.stringify([config, server]))
    .digest("hex")
    .slice(0, 12);
  return join(folder, `${readable || "server"}-${hash}.log`);
}

export const isLogName = (name: string) => /-[\da-f]{12}\.log$/.test(name);

/** The first line of each file. */
export function headerOf({ server, config }: LogOwner): string {
  return `# ${JSON.stringify({ server, config })}\n`;
}

/** Undefined for what is none. */
export function readHeader(line: string): LogOwner | undefined {
  if (!line.startsWith("# ")) return undefined;
  const { server, config } = Object(parsedJson(line.slice(2)));
  const isValid = typeof server === "string" && (config === null || typeof config === "string");
  return isValid ? { server, config } : undefined;
}
