/** Writes a file that somebody else reads as well: whole or not at all, with the rights that it had. */
import {
  chmodSync,
  chownSync,
  closeSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { ClaudikinsError, messageOf } from "../errors.ts";

let written = 0;

/** `path` is no link: what a link leads to is written, and the link stays. Throws FILE_NOT_WRITABLE. */
export function writeThrough(path: string, bytes: Uint8Array, mode: number): void {
  const temporary = `${path}.${process.pid}.${++written}.tmp`;
  try {
    const descriptor = openSync(temporary, "wx", 0o600);
    try {
      writeFileSync(descriptor, bytes);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    keepOwner(path, temporary);
    chmodSync(temporary, mode);
    renameSync(temporary, path);
  } catch (cause) {
    rmSync(temporary, { force: true });
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write ${path}: ${messageOf(cause)}`, {
      hint: "Check that you can write to its folder and that the disk is not full.",
      cause,
    });
  }
}

/** As root one may write the files of others: they stay theirs. */
function keepOwner(path: string, temporary: string): void {
  const { uid, gid } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (uid === undefined || gid === undefined || process.getuid?.() !== 0) return;
  chownSync(temporary, uid, gid);
}
