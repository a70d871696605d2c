/**
 * `claudikins.lock`: the fingerprints of accepted definitions beside a config, for a repository. One tool is one line. It may come with a
 * cloned repository, so it is checked before it is used.
 */

import { ClaudikinsError } from "../../base/errors.ts";
import { readIfThere, statsOf, writeWhenChanged } from "../../base/files.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { megabyte } from "../../base/units.ts";
import { isFingerprint } from "./definition.ts";

/** Size of a lock file. One with 100,000 tools is smaller. */
const maxLockFileBytes = 16 * megabyte;

/** Servers in a lock file. */
const maxLockedServers = 10_000;

/** Tools of one server in a lock file. A list of tools has fewer. */
const maxLockedTools = 20_000;

export interface LockedServer {
  /** The server's own version when its definitions were accepted. */
  version?: string | undefined;
  /** Fingerprints by the own names of the tools. */
  tools: Map<string, string>;
}

export type LockFile = Map<string, LockedServer>;

/** Undefined if there is no such file. Throws CONFIG_INVALID and VERSION_TOO_OLD. */
export function readLockFile(file: string): LockFile | undefined {
  const found = statsOf(file);
  if (!found) return undefined;
  if (!found.isFile() || found.size > maxLockFileBytes) throw broken(file, "it is not a file of a sensible size");
  const value = parsedJson(readIfThere(file) ?? "");
  if (isNewer(value, 1)) throw writtenByNewer(file);
  const servers = isObject(value) && value["version"] === 1 ? value["servers"] : undefined;
  if (!isObject(servers)) throw broken(file, "it is not JSON of a lock file");
  const names = Object.keys(servers);
  if (names.length > maxLockedServers) throw broken(file, `it has more than ${maxLockedServers} servers`);
  return new Map(names.map((name) => [name, lockedServer(servers[name], file)]));
}

function lockedServer(value: unknown, file: string): LockedServer {
  const { version, tools } = Object(value) as { version?: unknown; tools?: unknown };
  const entries = isObject(tools) ? Object.entries(tools) : undefined;
  if (!entries || entries.length > maxLockedTools || (version !== undefined && typeof version !== "string")) {
    throw broken(file, "a server in it has no valid tools");
  }
  if (!entries.every(([, each]) => isFingerprint(each))) throw broken(file, "a fingerprint in it is not valid");
  return { version, tools: new Map(entries as [string, string][]) };
}

/** Throws FILE_NOT_WRITABLE, also if the file could not be read again because it would be too large. */
export function writeLockFile(file: string, lock: LockFile): void {
  const lines = sortedEntries(lock).map(([name, { version, tools }]) => {
    const fingerprints = sortedEntries(tools).map(([tool, each]) => `        ${JSON.stringify(tool)}: "${each}"`);
    const body = fingerprints.length === 0 ? "{}" : `{\n${fingerprints.join(",\n")}\n      }`;
    const own = version === undefined ? "" : `      "version": ${JSON.stringify(version)},\n`;
    return `    ${JSON.stringify(name)}: {\n${own}      "tools": ${body}\n    }`;
  });
  const servers = lines.length === 0 ? "{}" : `{\n${lines.join(",\n")}\n  }`;
  const text = `{\n  "version": 1,\n  "servers": ${servers}\n}\n`;
  const areTooMany = lock.size > maxLockedServers || lock.values().some(({ tools }) => tools.size > maxLockedTools);
  if (areTooMany || Buffer.byteLength(text) > maxLockFileBytes) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `${file} would have too many tools`, {
      hint: 'Set "definitions": "trust" for the servers with the most tools, and remove them from the file.',
    });
  }
  writeWhenChanged(file, text);
}

function sortedEntries<T>(map: ReadonlyMap<string, T>): [string, T][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

function broken(file: string, why: string): ClaudikinsError {
  return new ClaudikinsError("CONFIG_INVALID", `${file} cannot be used: ${why}`, {
    hint: "Take the file from your repository again, or remove it and make a new one: claudikins review --init",
  });
}
