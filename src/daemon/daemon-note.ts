/** Records which process holds the place of a daemon. People read this note if the daemon does not answer. */
import { writeFileSync } from "node:fs";
import { readIfThere } from "../base/files.ts";
import { parsedJson } from "../base/json-object.ts";
import type { DaemonPaths } from "./place.ts";

export interface Holder {
  pid: number;
  /** The config file; null for the demo. */
  config: string | null;
}

/** Call this with the lock of the place. A note that cannot be written is left out. */
export function noteHolder({ holder }: DaemonPaths, { pid, config }: Holder): void {
  try {
    writeFileSync(holder, JSON.stringify({ pid, config }), { mode: 0o600 });
  } catch {
    // Everything else works without it.
  }
}

/** The process in the last note. Only the lock shows whether it still holds the place. */
export function holderOf({ holder }: DaemonPaths): Holder | undefined {
  try {
    const { pid, config } = (parsedJson(readIfThere(holder) ?? "") ?? {}) as Partial<Holder>;
    return Number.isSafeInteger(pid) && pid! > 1 ? { pid: pid!, config: config ?? null } : undefined;
  } catch {
    return undefined;
  }
}
