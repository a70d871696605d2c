/** Changes the user's audit log, for those who have no store open. */
import type { Environment } from "../../config/environment.ts";
import { maxCutLines } from "../limits.ts";
import { openStore } from "../open.ts";
import { thisProcess } from "./decider.ts";
import type { AuditEvent, Decider } from "./event.ts";
import { verify } from "./verify.ts";

/** The events are in the log when it resolves. Throws FILE_NOT_WRITABLE. */
export async function record(env: Environment, events: readonly AuditEvent[], by: Decider): Promise<void> {
  await using store = openStore(env);
  await store.audit.add(events, by);
}

/** Throws FILE_NOT_WRITABLE if nothing could be recorded. For work that other programs do, and that is recorded when they have ended. */
export async function requireLog(env: Environment): Promise<void> {
  await using store = openStore(env);
  await store.audit.requireWritable();
}

/**
 * Removes the entries that were written before a time, in milliseconds since 1970, up to the first later one. If the log did not hold before,
 * the entry says why. Returns how many entries were removed. Throws FILE_NOT_WRITABLE.
 */
export async function cutAuditLog(env: Environment, before: number): Promise<number> {
  await using store = openStore(env);
  const { problem } = await verify(store.audit);
  const why = problem === undefined ? undefined : `the log did not hold: ${problem}`;
  let removed = 0;
  for (;;) {
    const { lines = 0 } = (await store.audit.cut(before, thisProcess("command"), why)) ?? {};
    removed += lines;
    if (lines < maxCutLines) return removed;
  }
}
