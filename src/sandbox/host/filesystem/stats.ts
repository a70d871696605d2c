/** Of the system's facts about a file, those that the code is told. */
import type { Stats } from "node:fs";
import type { FileStats } from "../../guest/host.ts";
import { kindOf } from "./kind.ts";

/** Undefined is a folder that exists for the code alone. */
export function describeStats(stats: Stats | undefined): FileStats {
  if (!stats) return { kind: "folder", size: 0, links: 1, accessedMs: 0, modifiedMs: 0, changedMs: 0, bornMs: 0 };
  return {
    kind: kindOf(stats),
    size: stats.size,
    links: stats.nlink,
    accessedMs: stats.atimeMs,
    modifiedMs: stats.mtimeMs,
    changedMs: stats.ctimeMs,
    bornMs: stats.birthtimeMs,
  };
}
