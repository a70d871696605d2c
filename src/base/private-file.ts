/** Reads files that only their owner may read and change, because they decide who may call. */
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { systemCodeOf } from "./errors.ts";

export interface PrivateFile {
  text: string;
  /** Whether it belongs to the user, and nobody else may read or change it. On Windows, the folder of the user decides that. */
  isPrivate: boolean;
}

/** Undefined if there is no file. A link is not followed: it could lead to a file of another user. Throws system errors. */
export function readPrivate(file: string): PrivateFile | undefined {
  const opened = openIfThere(file);
  if (opened === undefined) return undefined;
  try {
    const { uid, mode } = fstatSync(opened);
    const isPrivate = process.platform === "win32" || (uid === process.getuid?.() && (mode & 0o077) === 0);
    return { text: readFileSync(opened, "utf8"), isPrivate };
  } finally {
    closeSync(opened);
  }
}

function openIfThere(file: string): number | undefined {
  try {
    return openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch (cause) {
    if (systemCodeOf(cause) === "ENOENT") return undefined;
    throw cause;
  }
}
