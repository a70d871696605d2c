/** The configs that the user trusts, in one private file: what each of them was when it was trusted. */
import { createHash } from "node:crypto";
import { mkdirSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { ClaudikinsError } from "../../errors.ts";
import { readIfThere, writeWhenChanged } from "../../files.ts";
import { withLock } from "../../lock.ts";
import type { Environment } from "../environment.ts";
import { trustFile } from "../locations.ts";
import { isCovered, type Marks } from "./marks.ts";

/** One thing that a config does, as it was shown to the person. */
export interface Line {
  /** A server's name, or `policy`, `model` and the like. */
  part: string;
  label: string;
  /** Without secrets. */
  text: string;
  /** Of the value with its secrets, so that a changed secret is a change. */
  digest: string;
}

export interface Trusted {
  /** Of the whole text: the quickest way to know it again. */
  text: string;
  marks: Marks;
  lines: Line[];
  /** Milliseconds since 1970. */
  at: number;
}

/** Switching between branches must not ask again each time, so several states of one config are kept; the last one first. */
const maxStates = 20;

/** By the real path of each config, the last state first. What cannot be read trusts nothing. */
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

/** The quick way: whether the very text was trusted. */
export function knowsText(text: string, states: readonly Trusted[]): boolean {
  if (states.length === 0) return false;
  const digest = textDigest(text);
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
    configs.set(key, [{ ...state, at: Date.now() }, ...others].slice(0, maxStates));
  });
}

/** The paths that were trusted and are not any more. Throws FILE_NOT_WRITABLE. */
export async function revokeTrust(files: readonly string[], env: Environment): Promise<string[]> {
  let revoked: string[] = [];
  await change(env, (configs) => {
    revoked = files.map(trustKey).filter((key) => configs.delete(key));
  });
  return revoked;
}

async function change(env: Environment, edit: (configs: Map<string, Trusted[]>) => void): Promise<void> {
  const file = trustFile(env);
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  } catch (cause) {
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot create the folder ${dirname(file)}`, { cause });
  }
  await withLock(`${file}.lock`, "the trusted configs", () => {
    const configs = readTrust(env);
    edit(configs);
    const text = JSON.stringify({ version: 1, configs: Object.fromEntries(configs) }, null, 1);
    writeWhenChanged(file, `${text}\n`, undefined, 0o600);
  });
}

/** A link to a config of another folder is a config of its own: its programs run here. */
export function trustKey(file: string): string {
  try {
    return join(realpathSync.native(dirname(file)), basename(file));
  } catch {
    return file;
  }
}

export function textDigest(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
