/** Finds the log files, and reads the lines in them. */
import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import { join } from "node:path";
import { systemCodeOf } from "../errors.ts";
import { namesIn, readIfThere, removeFile } from "../files.ts";
import { withLock } from "../lock.ts";
import { type LogLine, readLine } from "./line.ts";
import { isLogName, type LogOwner, lockName, olderSuffix, readHeader } from "./place.ts";

export interface FoundLog extends LogOwner {
  path: string;
  /** The time of the last line, in milliseconds since 1970. */
  lastAt: number;
  /** Bytes of the file and of the older one. */
  bytes: number;
}

const lockWaitMs = 2_000;

/** Bytes that contain the first line. */
const headerBytes = 16_384;

/** Sorted by server. Throws FILE_NOT_FOUND if the folder cannot be read. */
export function findLogs(folder: string): FoundLog[] {
  const found = namesIn(folder)
    .filter(isLogName)
    .flatMap((name) => {
      const path = join(folder, name);
      const files = [path, path + olderSuffix].flatMap((file) => statOf(file) ?? []);
      const owner = ownerOf(path);
      const [latest] = files;
      if (!owner || !latest) return [];
      return [{ ...owner, path, lastAt: latest.mtimeMs, bytes: files.reduce((sum, { size }) => sum + size, 0) }];
    });
  return found.sort((a, b) => (a.server < b.server ? -1 : 1));
}

function ownerOf(path: string): LogOwner | undefined {
  try {
    const file = openSync(path, "r");
    try {
      const bytes = Buffer.alloc(Math.min(headerBytes, fstatSync(file).size));
      const length = readSync(file, bytes, 0, bytes.length, 0);
      return readHeader(bytes.toString("utf8", 0, length).split("\n")[0] ?? "");
    } finally {
      closeSync(file);
    }
  } catch {
    // The file was renamed in this moment, or is not readable for this user.
    return undefined;
  }
}

export function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (systemCodeOf(error) === "ENOTDIR") return undefined;
    throw error;
  }
}

/** All lines since a time, sorted by time. Empty if there is no file. Throws FILE_NOT_FOUND. */
export function readLog(path: string, since = 0): LogLine[] {
  const texts = [path + olderSuffix, path].map((file) => readIfThere(file) ?? "");
  const lines = texts.flatMap((text) => linesIn(text)).filter(({ at }) => at >= since);
  return lines.sort((a, b) => a.at - b.at);
}

/** Lines of another form are left out, such as the header and incomplete lines. */
export function linesIn(text: string): LogLine[] {
  return text.split("\n").flatMap((line) => readLine(line) ?? []);
}

/** Throws FILE_NOT_WRITABLE, CALL_TIMEOUT. */
export async function removeLogs(folder: string, paths: string[]): Promise<void> {
  if (paths.length === 0) return;
  const remove = () => {
    for (const path of paths.flatMap((each) => [each, each + olderSuffix])) removeFile(path);
  };
  await withLock(join(folder, lockName), "the logs", remove, lockWaitMs);
}
