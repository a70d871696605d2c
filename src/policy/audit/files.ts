/** The files of the audit log: numbered, each with whole lines of JSON, and the head, which names the last line. */
import { closeSync, fstatSync, fsyncSync, openSync, readSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { systemCodeOf } from "../../base/errors.ts";
import { namesIn, readIfThere } from "../../base/files.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { auditEndBytes } from "../limits.ts";
import type { AuditLine } from "./event.ts";

export const headName = "head.json";
export const lockName = ".lock";

/**
 * The last line that was written. Lines that are missing at the end of the log do not agree with it. It is written before the first line,
 * so a log with lines always has one.
 */
export interface Head {
  entry: number;
  sha256: string;
}

/** The hash before the first line. */
export const noLine = "0".repeat(64);

export function fileName(number: number): string {
  return `${String(number).padStart(6, "0")}.jsonl`;
}

/** The names of the files, in the order in which they were written. Throws FILE_NOT_FOUND if the folder cannot be read. */
export function fileNames(folder: string): string[] {
  return namesIn(folder).filter((name) => /^\d{6,}\.jsonl$/.test(name));
}

/** Undefined if there is none, or it cannot be understood. */
export function readHead(folder: string): Head | undefined {
  const head = parsedJson(readIfThere(join(folder, headName)) ?? "");
  if (!isObject(head)) return undefined;
  const { entry, sha256: digest } = head;
  return typeof entry === "number" && typeof digest === "string" ? { entry, sha256: digest } : undefined;
}

/** Replaces the head. Its bytes are on the disk before they take the old ones' place, so a loss of power leaves no empty head. */
export function writeHead(folder: string, head: Head): void {
  const temporary = join(folder, `${headName}.${process.pid}.tmp`);
  try {
    writeFileSync(temporary, `${JSON.stringify(head)}\n`, { mode: 0o600, flush: true });
    renameSync(temporary, join(folder, headName));
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** The last whole line of a file, and what follows it. Reads only the end of the file. */
export function endOfFile(path: string): { line: string | undefined; torn: string } {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return { line: undefined, torn: "" };
    throw error;
  }
  try {
    const { size } = fstatSync(fd);
    for (let length = auditEndBytes; ; length *= 4) {
      const from = Math.max(0, size - length);
      const bytes = Buffer.alloc(size - from);
      readSync(fd, bytes, 0, bytes.length, from);
      const end = bytes.lastIndexOf("\n");
      // A negative offset would count from the end.
      const before = end > 0 ? bytes.lastIndexOf("\n", end - 1) : -1;
      if (from > 0 && before < 0) continue;
      const line = end < 0 ? undefined : bytes.toString("utf8", before + 1, end);
      return { line, torn: bytes.toString("utf8", end + 1) };
    }
  } finally {
    closeSync(fd);
  }
}

/** Appends to a file, and returns when the bytes are on the disk. */
export function appendSafely(file: string, text: string): void {
  const fd = openSync(file, "a", 0o600);
  try {
    writeFileSync(fd, text);
    if (text !== "") fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** One line of a file as it was read. */
export interface ReadLine {
  file: string;
  text: string;
  /** Undefined if the text is not a line of this log. */
  line: AuditLine | undefined;
  /** Whether a line break follows. */
  isWhole: boolean;
}

/** All lines, oldest first. Throws FILE_NOT_FOUND if a file cannot be read. */
export function* readLines(folder: string): Generator<ReadLine> {
  for (const file of fileNames(folder)) {
    const texts = (readIfThere(join(folder, file)) ?? "").split("\n");
    const torn = texts.pop() ?? "";
    for (const text of texts) yield { file, text, line: lineOf(text), isWhole: true };
    if (torn !== "") yield { file, text: torn, line: lineOf(torn), isWhole: false };
  }
}

/** Undefined if the text is not a line of the log. */
export function lineOf(text: string): AuditLine | undefined {
  const value = parsedJson(text);
  if (!isObject(value)) return undefined;
  const { entry, previous, at, decision, by } = value;
  const isLine =
    typeof entry === "number" &&
    typeof previous === "string" &&
    typeof at === "number" &&
    typeof decision === "string" &&
    isObject(by);
  return isLine ? (value as unknown as AuditLine) : undefined;
}
