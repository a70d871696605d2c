/** The files of a workspace as this process and the database both had them last. */
import type { Look } from "../../sandbox/host/workspace-folder.ts";
import type { FileRow } from "../../store/files.ts";
import { roundedMs } from "../limits.ts";

export interface KnownFile {
  /** How the file looked in the folder when it was the same as in the database. Empty if it never was. */
  mark: string;
  /** The last row of the database. */
  row: FileRow;
  /** The time of the row that the file was made of, if others have changed the row since. Null if there was none. */
  base?: number | null;
}

/** The time of the row that a file in the folder was made of. Null if there was none. */
export function baseOf(known: KnownFile | undefined): number | null {
  if (!known) return null;
  return known.base === undefined ? known.row.changedAt : known.base;
}

export class KnownFiles extends Map<string, KnownFile> {
  /** The last version of the workspace whose changes all are here. */
  version = 0;
  /** Whether the folder and the database were compared. */
  isComplete = false;
  /** When all files of the workspace were removed last. */
  clearedAt = 0;
  /** Number of programs that run, and may be changing files. */
  running = 0;

  /** Forgets everything, so that the folder and the database are compared again. */
  reset(): void {
    this.clear();
    this.version = 0;
    this.isComplete = false;
  }

  /** Whether an entry of the folder has what the row says. */
  isSame(look: Look | undefined, row: FileRow): boolean {
    const known = this.get(row.path);
    if (known && known.mark === look?.mark) return known.row.kind === row.kind && known.row.sha256 === row.sha256;
    if (known || look?.kind !== row.kind) return false;
    return row.kind === "folder" || (look.size === row.size && Math.abs(look.changedAt - row.changedAt) <= roundedMs);
  }

  /**
   * Whether an entry has a change that others do not have and that replaces theirs: programs that run here will store theirs later. Of
   * changes that an earlier program has left, the newest counts.
   */
  isOwn(look: Look | undefined, row: FileRow): boolean {
    const known = this.get(row.path);
    const isUnchanged = known ? known.mark === look?.mark : look === undefined;
    if (isUnchanged) return false;
    if (this.running > 0 && this.isComplete) return true;
    return look !== undefined && look.changedAt > row.changedAt + roundedMs;
  }
}
