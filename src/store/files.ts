/** The files of the workspaces that replicas share. */

/** A workspace, as every replica calls it. */
export interface SharedPlace {
  /** 64 hexadecimal digits. */
  id: string;
  /** The config file. */
  config: string;
  /** The person who has the workspace. Undefined for the workspace of everybody. */
  person: string | undefined;
}

/** An entry of a workspace. Whoever can write to the database chooses its path. */
export interface FileRow {
  /** The names below the workspace, joined by `/`. */
  path: string;
  /** `removed`: it is no longer there. */
  kind: "file" | "folder" | "removed";
  /** In bytes. 0 unless it is a file. */
  size: number;
  /** In hexadecimal. Null unless it is a file. */
  sha256: string | null;
  /** Names the content. Null without one, as for an empty file. */
  content: string | null;
  /** In milliseconds since 1970, and later than every change of the path before. */
  changedAt: number;
}

/** An entry as a replica has changed it. */
export interface FileChange extends FileRow {
  /** The time of the row that was changed. Null if there was none. */
  base: number | null;
}

/** What has changed in a workspace. */
export interface FileChanges {
  /** Counts the changes of the workspace. 0 if there was none. */
  version: number;
  /** When everything was removed, with everything that replicas had then. Null if it never was. */
  clearedAt: number | null;
  rows: FileRow[];
}

/** A part of a content. Parts count from 0, and have `filePartBytes`, except the last one. */
export interface PartPlace {
  content: string;
  part: number;
}

export type StoredPart = PartPlace & { bytes: Uint8Array };

/** The size that a workspace may have. */
export interface FileRoom {
  /** Files and folders. */
  entries: number;
  bytes: number;
}

export interface FileRows {
  /** What has changed since a version; since 0, everything. */
  changes(id: string, since: number): Promise<FileChanges>;
  /** A name for a content that is about to be stored. It says where. */
  newContent(): string;
  /** Reads parts. Throws BUCKET_UNAVAILABLE. One of a content that was replaced meanwhile is missing. */
  parts(wanted: readonly PartPlace[]): Promise<StoredPart[]>;
  /** Stores parts of contents to which no row refers yet. Throws BUCKET_UNAVAILABLE. */
  addParts(parts: readonly StoredPart[]): Promise<void>;
  /**
   * Stores rows in the place of those with the same paths, all of them at once. Returns the new version and, by path, the times that the rows got.
   * `conflicts` are the paths of files that others have changed since: their rows stay as they are. Throws FILE_NOT_WRITABLE if the workspace would be larger than `room`; then nothing is stored.
   */
  commit(
    place: SharedPlace,
    rows: readonly FileChange[],
    room: FileRoom,
  ): Promise<{ version: number; changedAt: ReadonlyMap<string, number>; conflicts: string[] }>;
  /**
   * Removes everything in the workspaces of a person. Returns the number of files. Contents in a bucket that cannot be reached are removed by
   * `tidy`.
   */
  clear(person: { config: string; person: string }, now: number): Promise<number>;
  /** The people of a config whose workspaces were cleared lately, and when. */
  cleared(config: string): Promise<{ person: string; clearedAt: number }[]>;
  /** Removes what no replica needs any more. Throws BUCKET_UNAVAILABLE. */
  tidy(now: number): Promise<void>;
}
