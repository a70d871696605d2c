/** Reads and replaces files that other programs read. Every byte, the mode and the owner can be kept. */

import { createHash } from "node:crypto";
import { chmodSync, chownSync, existsSync, readFileSync, realpathSync, rmSync, statSync, writeFileSync } from "node:fs";
import { ClaudikinsError, messageOf, systemCodeOf } from "../base/errors.ts";
import { renameOver } from "../base/files.ts";
import { megabyte } from "../base/units.ts";

/** A larger file is not a settings file. */
const maxSettingsBytes = 256 * megabyte;

export interface FileText {
  /** The path without links. */
  path: string;
  bytes: Buffer;
  /** The text without its byte order mark. */
  text: string;
  hasMark: boolean;
  mode: number;
}

/** Throws FILE_NOT_FOUND. Folders and files that are not UTF-8 are refused, because they could not be written back unchanged. */
export function textOf(path: string): FileText {
  try {
    const real = realpathSync(path);
    const stat = statSync(real);
    if (!stat.isFile()) throw new Error("it is not a file");
    if (stat.size > maxSettingsBytes) throw new Error("it is too large for a settings file");
    const bytes = readFileSync(real);
    const whole = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    const hasMark = whole.startsWith("\uFEFF");
    return { path: real, bytes, text: hasMark ? whole.slice(1) : whole, hasMark, mode: stat.mode & 0o7777 };
  } catch (cause) {
    const why = systemCodeOf(cause) === "ERR_ENCODING_INVALID_ENCODED_DATA" ? "it is not UTF-8" : messageOf(cause);
    throw new ClaudikinsError("FILE_NOT_FOUND", `Cannot read ${path}: ${why}`, { cause });
  }
}

/** Like `textOf`, but a missing file is empty and has the mode 0600. */
export function textOrNothing(path: string): FileText {
  if (existsSync(path)) return textOf(path);
  return { path, bytes: Buffer.alloc(0), text: "", hasMark: false, mode: 0o600 };
}

export function bytesOf(text: string, { hasMark }: Pick<FileText, "hasMark">): Buffer {
  return Buffer.from(hasMark ? `\uFEFF${text}` : text);
}

export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

let written = 0;

/** Replaces a file atomically. `path` must not be a link: the caller resolves links, so that they stay. Throws FILE_NOT_WRITABLE. */
export function writeThrough(path: string, bytes: Uint8Array, mode: number): void {
  const temporary = `${path}.${process.pid}.${++written}.tmp`;
  try {
    writeFileSync(temporary, bytes, { flag: "wx", mode: 0o600, flush: true });
    keepOwner(path, temporary);
    chmodSync(temporary, mode);
    renameOver(temporary, path);
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
