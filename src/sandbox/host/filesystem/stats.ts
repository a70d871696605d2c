/** The facts about files that programs may see. */
import type { Stats } from "node:fs";
import type { FileKind, FileStats } from "../../guest/host.ts";

export function kindOf(entry: Pick<Stats, "isFile" | "isDirectory" | "isSymbolicLink">): FileKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}

/** Undefined means a folder that exists only for programs. */
export function describeStats(stats: Stats | undefined): FileStats {
  if (!stats) return { kind: "folder", size: 0, nlink: 1, atimeMs: 0, mtimeMs: 0, ctimeMs: 0, birthtimeMs: 0 };
  const { size, nlink, atimeMs, mtimeMs, ctimeMs, birthtimeMs } = stats;
  return { kind: kindOf(stats), size, nlink, atimeMs, mtimeMs, ctimeMs, birthtimeMs };
}
