/** What is told of a file: nothing of the host's users, devices and numbers. */
import type { Stats } from "node:fs";
import { type Kind, kindOf } from "./folder.ts";

export interface StatsShape {
  kind: Kind;
  size: number;
  links: number;
  accessedMs: number;
  modifiedMs: number;
  changedMs: number;
  bornMs: number;
}

/** Undefined is a folder that exists for the code alone. */
export function describeStats(stats: Stats | undefined): StatsShape {
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
