/** Finds the log files, reads the lines in them, and follows the lines that are added. */

import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { systemCodeOf } from "../../base/errors.ts";
import { firstLineOf, namesIn, readIfThere, removeFile, statsOf } from "../../base/files.ts";
import { withLock } from "../../base/lock.ts";
import { megabyte } from "../../base/units.ts";
import { logLockWaitMs } from "../limits.ts";
import { type LogLine, readLine } from "./line.ts";
import { isLogName, type LogOwner, lockName, olderSuffix, readHeader } from "./place.ts";

/** How often a log file that is followed is looked at. */
const logFollowMs = 150;

/** Bytes of one read of a log file. */
const maxLogReadBytes = 4 * megabyte;

interface FoundLog extends LogOwner {
  path: string;
  /** The time of the last line, in milliseconds since 1970. */
  lastAt: number;
  /** Bytes of the file and of the older one. */
  bytes: number;
}

/** Sorted by server. Throws FILE_NOT_FOUND if the folder cannot be read. */
export function findLogs(folder: string): FoundLog[] {
  const found = namesIn(folder)
    .filter(isLogName)
    .flatMap((name) => {
      const path = join(folder, name);
      const files = [path, path + olderSuffix].flatMap((file) => statsOf(file) ?? []);
      const owner = readHeader(firstLineOf(path) ?? "");
      const [latest] = files;
      if (!owner || !latest) return [];
      return [{ ...owner, path, lastAt: latest.mtimeMs, bytes: files.reduce((sum, { size }) => sum + size, 0) }];
    });
  return found.sort((a, b) => (a.server < b.server ? -1 : 1));
}

/** All lines, sorted by time. Empty if there is no file. Throws FILE_NOT_FOUND. */
export function readLog(path: string): LogLine[] {
  const texts = [path + olderSuffix, path].map((file) => readIfThere(file) ?? "");
  return texts.flatMap(logLines).sort((a, b) => a.at - b.at);
}

/** Lines of another form are left out, such as the header and incomplete lines. */
export function logLines(text: string): LogLine[] {
  return text.split("\n").flatMap((line) => readLine(line) ?? []);
}

/** Throws FILE_NOT_WRITABLE, CALL_TIMEOUT. */
export async function removeLogs(folder: string, paths: string[]): Promise<void> {
  if (paths.length === 0) return;
  const remove = () => {
    for (const path of paths.flatMap((each) => [each, each + olderSuffix])) removeFile(path);
  };
  await withLock(join(folder, lockName), "the logs", remove, logLockWaitMs);
}

/** How far a file was read. Files are identified by inode, because a name may be given to another file. */
interface Position {
  file: number;
  offset: number;
}

/** Reads a log on, even if its file is renamed meanwhile. */
export class LogTail {
  readonly #path: string;
  #position: Position | undefined;
  /** The older file: a process that had it open when it was renamed may still write to it. */
  #before: Position | undefined;

  constructor(path: string) {
    this.#path = path;
    this.#position = beginningOf(path);
    this.#before = beginningOf(path + olderSuffix);
  }

  /** The whole lines that were added since the last call, at first all lines. */
  next(): string {
    const found = beginningOf(this.#path);
    if (found && found.file !== this.#position?.file) {
      this.#before = this.#position;
      this.#position = found;
    }
    return read(this.#path + olderSuffix, this.#before) + read(this.#path, this.#position);
  }
}

function beginningOf(path: string): Position | undefined {
  const found = statsOf(path);
  return found && { file: found.ino, offset: 0 };
}

/** Reads whole lines. An unfinished line is read once it is complete. */
function read(path: string, position: Position | undefined): string {
  const file = position && opened(path);
  if (file === undefined) return "";
  try {
    const { ino, size } = fstatSync(file);
    if (ino !== position?.file) return "";
    // The file was truncated.
    if (size < position.offset) position.offset = 0;
    const bytes = Buffer.alloc(Math.min(maxLogReadBytes, size - position.offset));
    const length = readSync(file, bytes, 0, bytes.length, position.offset);
    const end = bytes.subarray(0, length).lastIndexOf("\n") + 1;
    position.offset += end;
    return bytes.toString("utf8", 0, end);
  } finally {
    closeSync(file);
  }
}

/** Undefined if the file was removed in this moment. */
function opened(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Yields what is added, as whole lines, until the signal is aborted. */
export async function* followFile(end: LogTail, signal: AbortSignal): AsyncGenerator<string> {
  while (!signal.aborted) {
    const text = end.next();
    if (text !== "") yield text;
    else await setTimeout(logFollowMs, undefined, { signal }).catch(() => {});
  }
}
