/** The facts about a file that programs may see. */
import type { Stats } from "node:fs";
import type { FileStats } from "../../guest/host.ts";
import { kindOf } from "./kind.ts";

/** Undefined means a folder that exists only for programs. */
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
