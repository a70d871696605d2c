/**
 * The hint about a newer version. The check runs in a separate process, at most once a day, and no command waits for it. A later command
 * shows the result, at most once a day.
 */

import { join } from "node:path";
import { readIfThere, writeWhenChanged } from "../../base/files.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { dayMs } from "../../base/units.ts";
import type { Environment } from "../../config/environment.ts";
import { upgradeFolder } from "../../config/locations.ts";
import { compareVersions, isVersion } from "./versions.ts";

/** Minimum time between two checks, and between two hints. */
const hintEveryMs = dayMs;

/** The result of the last check. Times are in milliseconds since 1970. */
export interface LastCheck {
  latest?: string;
  checkedAt: number;
  shownAt: number;
}

const fileOf = (env: Environment) => join(upgradeFolder(env), "latest.json");

export function readSeen(env: Environment): LastCheck {
  const nothing = { checkedAt: 0, shownAt: 0 };
  const found = parsedJson(readIfThere(fileOf(env)) ?? "");
  if (!isObject(found)) return nothing;
  const { latest, checkedAt, shownAt } = found;
  const time = (value: unknown) => (typeof value === "number" ? value : 0);
  return { ...(isVersion(latest) ? { latest } : {}), checkedAt: time(checkedAt), shownAt: time(shownAt) };
}

/** Throws FILE_NOT_WRITABLE. */
export function writeSeen(seen: LastCheck, env: Environment): void {
  writeWhenChanged(fileOf(env), `${JSON.stringify(seen)}\n`);
}

/** Notes what a check has found. A failure only means that there is no hint. */
export function noteLatest(latest: string, env: Environment, now = Date.now()): void {
  try {
    writeSeen({ ...readSeen(env), latest, checkedAt: now }, env);
  } catch {}
}

/** The steps after a command: show the newer version, start a check, both or nothing. A clock that was set back counts as a new day. */
export function nextSteps(
  { latest, checkedAt, shownAt }: LastCheck,
  version: string,
  now: number,
): { show: string | undefined; checks: boolean } {
  const isOver = (since: number) => now - since >= hintEveryMs || since > now;
  const isNewer = latest !== undefined && compareVersions(latest, version) > 0;
  return { show: isNewer && isOver(shownAt) ? latest : undefined, checks: isOver(checkedAt) };
}
