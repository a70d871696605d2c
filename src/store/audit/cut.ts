/** Removes the oldest part of the audit log. The rest stays a chain, and an entry says what was removed. */
import type { Environment } from "../../config/environment.ts";
import { maxCutLines } from "../limits.ts";
import { openStore } from "../open.ts";
import { thisProcess } from "./decider.ts";
import { verify } from "./verify.ts";

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
