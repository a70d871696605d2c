/** The text of a host's file as it is on disk, with what is needed to write it back as it was. */
import { createHash } from "node:crypto";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { ClaudikinsError, messageOf, systemCodeOf } from "../errors.ts";

export interface FileText {
  /** Where it really is, when the path leads there over a link. */
  path: string;
  bytes: Buffer;
  /** Without a byte order mark. */
  text: string;
  hasMark: boolean;
  mode: number;
}

/** Larger than any settings are. */
const maxBytes = 256 * 1_048_576;

/** Throws FILE_NOT_FOUND, also for what is no file or no UTF-8: what would not come back as it was is not touched. */
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

/** Also of a file that is not there: it is empty, and for its owner alone. Throws as `textOf` does. */
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
