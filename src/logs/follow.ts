/** Reads the lines that are added to a log, even if its file is renamed meanwhile. */
import { closeSync, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { systemCodeOf } from "../errors.ts";
import type { LogLine } from "./line.ts";
import { olderSuffix } from "./place.ts";
import { linesIn, statOf } from "./read-logs.ts";

const lookMs = 150;

/** Bytes of one read. */
const maxBytes = 4_194_304;

/** How far a file was read. Files are told apart by inode, because a name may be given to another file. */
interface Position {
  file: number;
  offset: number;
}

export class LogEnd {
  readonly #path: string;
  #position: Position | undefined;
  /** The previous file: a process that had it open when it was renamed may still write to it. */
  #before: Position | undefined;

  constructor(path: string) {
    this.#path = path;
    const found = statOf(path);
    if (found) this.#position = { file: found.ino, offset: 0 };
  }

  /** The lines that exist when following begins. */
  first(): LogLine[] {
    const older = this.#path + olderSuffix;
    const aside = statOf(older);
    const isAnother = aside !== undefined && aside.ino !== this.#position?.file;
    return [...read(older, aside, isAnother ? { file: aside.ino, offset: 0 } : undefined), ...this.next()];
  }

  /** The lines added since the last call. */
  next(): LogLine[] {
    const found = statOf(this.#path);
    if (found && found.ino !== this.#position?.file) {
      this.#before = this.#position;
      this.#position = { file: found.ino, offset: 0 };
    }
    const aside = this.#before && statOf(this.#path + olderSuffix);
    return [...read(this.#path + olderSuffix, aside, this.#before), ...read(this.#path, found, this.#position)];
  }
}

/** Reads whole lines. An unfinished line is read once it is complete. */
function read(path: string, found: Stats | undefined, position: Position | undefined): LogLine[] {
  if (!found || !position || found.ino !== position.file) return [];
  // The file was truncated.
  if (found.size < position.offset) position.offset = 0;
  if (found.size === position.offset) return [];
  const file = opened(path);
  if (file === undefined) return [];
  try {
    if (fstatSync(file).ino !== position.file) return [];
    const bytes = Buffer.alloc(Math.min(maxBytes, found.size - position.offset));
    const length = readSync(file, bytes, 0, bytes.length, position.offset);
    const end = bytes.subarray(0, length).lastIndexOf("\n") + 1;
    position.offset += end;
    return linesIn(bytes.toString("utf8", 0, end));
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

/** Resolves when the signal is aborted. */
export async function* follow(end: LogEnd, signal: AbortSignal): AsyncGenerator<LogLine[]> {
  while (!signal.aborted) {
    const lines = end.next();
    if (lines.length > 0) yield lines;
    else await pause(signal);
  }
}

/** Resolves when the file may have changed, or the signal is aborted. */
export function pause(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, lookMs);
  const stop = () => resolve();
  signal.addEventListener("abort", stop, { once: true });
  return promise.finally(() => {
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
  });
}
