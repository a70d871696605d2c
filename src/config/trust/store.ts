/** The store of trusted configs: one private file that records each config as it was when the user trusted it. */

import { realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { readIfThere, writeWhenChanged } from "../../base/files.ts";
import { withLock } from "../../base/lock.ts";
import { isNewer, writtenByNewer } from "../../base/newer.ts";
import { sha256 } from "../../base/sha256.ts";
import type { Environment } from "../environment.ts";
import { trustFile } from "../locations.ts";
import { isCovered, type Marks } from "./marks.ts";

/** States that are kept for one config, newest first. With several, switching branches does not ask again each time. */
const maxTrustedStates = 20;

/** One effect of a config, as it was shown to the user. */
export interface TrustLine {
  /** The name of a server, or `policy`, `model` and so on. */
  part: string;
  label: string;
  /** Without secrets. */
  text: string;
  /** Digest of the value with its secrets, so that a changed secret is noticed. */
  digest: string;
}

export interface Trusted {
  /** Digest of the whole text, for the fastest comparison. */
  text: string;
  marks: Marks;
  lines: TrustLine[];
  /** Milliseconds since 1970. */
  at: number;
}

/**
 * Returns the trusted states by the path of each config, newest first. A file that cannot be read, or that others can write, trusts
 * nothing. Throws VERSION_TOO_OLD.
 */
export function readTrust(env: Environment): Map<string, Trusted[]> {
  const file = trustFile(env);
  let value: unknown;
  try {
    const text = readIfThere(file);
    if (text === undefined || canOthersWrite(file)) return new Map();
    value = JSON.parse(text);
  } catch {
    return new Map();
  }
  const { version, configs } = Object(value) as { version?: unknown; configs?: unknown };
  if (isNewer(value, 1)) throw writtenByNewer("the list of trusted configs");
  if (version !== 1 || typeof configs !== "object" || configs === null) return new Map();
  return new Map(
    Object.entries(configs).map(([path, states]) => [path, Array.isArray(states) ? states.filter(isState) : []]),
  );
}

function canOthersWrite(file: string): boolean {
  return process.platform !== "win32" && (statSync(file).mode & 0o022) !== 0;
}

function isState(value: unknown): value is Trusted {
  const { text, marks, lines, at } = Object(value) as Partial<Record<keyof Trusted, unknown>>;
  const { rules, servers } = Object(marks) as Partial<Record<keyof Marks, unknown>>;
  const isMarks = typeof rules === "string" && typeof servers === "object" && servers !== null;
  return typeof text === "string" && isMarks && Array.isArray(lines) && typeof at === "number";
}

export function trustedStates(file: string, env: Environment): Trusted[] {
  return readTrust(env).get(trustKey(file)) ?? [];
}

/** Returns whether exactly this text was trusted. This is faster than comparing marks. */
export function knowsText(text: string, states: readonly Trusted[]): boolean {
  if (states.length === 0) return false;
  const digest = sha256(text);
  return states.some((state) => state.text === digest);
}

export function knowsMarks(marks: Marks, states: readonly Trusted[]): boolean {
  return states.some((state) => isCovered(marks, state.marks));
}

/** Throws FILE_NOT_WRITABLE. */
export function recordTrust(file: string, state: Omit<Trusted, "at">, env: Environment): Promise<void> {
  return change(env, (configs) => {
    const key = trustKey(file);
    const others = (configs.get(key) ?? []).filter(({ text }) => text !== state.text);
    configs.set(key, [{ ...state, at: Date.now() }, ...others].slice(0, maxTrustedStates));
  });
}

/** Revokes the trust in files. Returns the paths that were trusted. Throws FILE_NOT_WRITABLE. */
export async function revokeTrust(files: readonly string[], env: Environment): Promise<string[]> {
  let revoked: string[] = [];
  await change(env, (configs) => {
    revoked = files.map(trustKey).filter((key) => configs.delete(key));
  });
  return revoked;
}

function change(env: Environment, edit: (configs: Map<string, Trusted[]>) => void): Promise<void> {
  const file = trustFile(env);
  return withLock(`${file}.lock`, "the trusted configs", () => {
    const configs = readTrust(env);
    edit(configs);
    const text = JSON.stringify({ version: 1, configs: Object.fromEntries(configs) }, null, 1);
    writeWhenChanged(file, `${text}\n`, undefined, 0o600);
  });
}

/**
 * Returns the key of a config: its path, with links resolved in the folder only. A link to a config in another folder has its own
 * key, because its programs run in this folder.
 */
export function trustKey(file: string): string {
  try {
    return join(realpathSync.native(dirname(file)), basename(file));
  } catch {
    return file;
  }
}
