/** Replaces a file that other programs read, atomically and with its mode and owner. */
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

/** `path` must not be a link: the caller resolves links, so that they stay. Throws FILE_NOT_WRITABLE. */
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

/** A file that root writes keeps its owner. */
function keepOwner(path: string, temporary: string): void {
  const { uid, gid } = statSync(path, { throwIfNoEntry: false }) ?? {};
  if (uid === undefined || gid === undefined || process.getuid?.() !== 0) return;
  chownSync(temporary, uid, gid);
}
