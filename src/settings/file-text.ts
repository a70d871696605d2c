/** Reads a settings file with everything that is needed to write it back unchanged. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { ClaudikinsError, messageOf, systemCodeOf } from "../errors.ts";

export interface FileText {
  /** The path without links. */
  path: string;
  bytes: Buffer;
  /** The text without its byte order mark. */
  text: string;
  hasMark: boolean;
  mode: number;
}

const maxBytes = 256 * 1_048_576;

/** Throws FILE_NOT_FOUND. Folders and files that are not UTF-8 are refused, because they could not be written back unchanged. */
export function textOf(path: string): FileText {
  try {
    const real = realpathSync(path);
    const stat = statSync(real);
    if (!stat.isFile()) throw new Error("it is not a file");
    if (stat.size > maxBytes) throw new Error("it is too large for a settings file");
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
