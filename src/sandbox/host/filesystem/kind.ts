/** The kind of a directory entry, as programs see it. */
import type { Stats } from "node:fs";
import type { FileKind } from "../../guest/host.ts";

export function kindOf(entry: Pick<Stats, "isFile" | "isDirectory" | "isSymbolicLink">): FileKind {
  if (entry.isFile()) return "file";
  if (entry.isDirectory()) return "folder";
  return entry.isSymbolicLink() ? "link" : "other";
}
