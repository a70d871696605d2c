/**
 * Notes on disk why a server could not be connected last, and how many of its last calls were refused as unauthorized, so that other
 * processes can say so. The next connection or call that succeeds removes the note.
 */

import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ClaudikinsError, ErrorCode } from "../../base/errors.ts";
import { namesIn, readIfThere, statsOf } from "../../base/files.ts";
import { parsedJson } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import { dayMs } from "../../base/units.ts";
import { oneLine } from "../../base/visible-text.ts";
import type { Environment } from "../../config/environment.ts";
import type { ServerConfig } from "../../config/load.ts";
import { failuresFolder } from "../../config/locations.ts";
import type { BrokenState } from "../state.ts";
import { ServerFailure } from "./server-failure.ts";

/** Characters of each text in a note about a failed connection. */
const maxFailureNoteChars = 1_000;

/** Notes about failed connections are removed after this time. */
const failureNoteKeptMs = 7 * dayMs;

/** Codes that are known without a note, or that say nothing about the server. */
const withoutNote: readonly ErrorCode[] = ["CANCELLED", "NEEDS_VARIABLE", "AUTH_REQUIRED", "POLICY_DENIED"];

/** `error` has no secrets. A note that cannot be written is left out. */
export function noteFailure(server: ServerConfig, error: ClaudikinsError, env: Environment): void {
  const { code, message, hint } = error;
  if (withoutNote.includes(code)) return;
  const why = error instanceof ServerFailure ? error.why : message;
  const short = (text: string) => oneLine(text, maxFailureNoteChars);
  const state: BrokenState = {
    state: "broken",
    code,
    why: short(why.split("\n")[0] ?? ""),
    hint: hint === undefined ? undefined : short(hint),
    since: Date.now(),
    failures: 1,
    ...(error instanceof ServerFailure ? error.facts : {}),
  };
  write(fileOf(server, env), state, env);
}

function write(file: string, note: object, env: Environment): void {
  try {
    const folder = failuresFolder(env);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    removeOld(folder);
    writeFileSync(file, JSON.stringify(note), { mode: 0o600 });
  } catch {
    // Only other processes would have read it.
  }
}

export function forgetFailure(server: ServerConfig, env: Environment): void {
  remove(fileOf(server, env));
}

/** Undefined if the last connection of this entry, by any process, was made. */
export function lastFailure(server: ServerConfig, env: Environment): BrokenState | undefined {
  try {
    const state = parsedJson(readIfThere(fileOf(server, env)) ?? "") as Partial<BrokenState> | undefined;
    const isWhole = state?.state === "broken" && typeof state.why === "string" && typeof state.since === "number";
    return isWhole && state.since! > Date.now() - failureNoteKeptMs ? (state as BrokenState) : undefined;
  } catch {
    return undefined;
  }
}

/** `count` is the number of refused calls in a row. */
export function noteRefusals(server: ServerConfig, count: number, env: Environment): void {
  const file = fileOf(server, env, "refused");
  if (count > 0) write(file, { count, since: Date.now() }, env);
  else remove(file);
}

function remove(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // The folder may be read-only.
  }
}

/** The number of refused calls in a row, by any process. */
export function lastRefusals(server: ServerConfig, env: Environment): number {
  try {
    const note = parsedJson(readIfThere(fileOf(server, env, "refused")) ?? "") as { count?: unknown; since?: unknown };
    const { count, since } = Object(note) as typeof note;
    return typeof count === "number" && Number(since) > Date.now() - failureNoteKeptMs ? count : 0;
  } catch {
    return 0;
  }
}

/** A changed entry is another one, also if only the value of a variable has changed. */
function fileOf({ policy: _, own: __, ...entry }: ServerConfig, env: Environment, of = "failed"): string {
  return join(failuresFolder(env), `${sha256(JSON.stringify(entry)).slice(0, 32)}.${of}.json`);
}

function removeOld(folder: string): void {
  for (const name of namesIn(folder)) {
    const path = join(folder, name);
    if ((statsOf(path)?.mtimeMs ?? 0) < Date.now() - failureNoteKeptMs) rmSync(path, { force: true });
  }
}
