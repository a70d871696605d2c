/** The lines that are added to a log, also when its file is moved aside meanwhile. */
import { closeSync, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { systemCodeOf } from "../errors.ts";
import type { LogLine } from "./line.ts";
import { olderSuffix } from "./place.ts";
import { linesIn, statOf } from "./read-logs.ts";

const lookMs = 150;

/** No more is read at once. */
const maxBytes = 4_194_304;

/** How far a file was read. A name may be given to another file; the number is the file's own. */
interface Position {
  file: number;
  offset: number;
}

export class LogEnd {
  readonly #path: string;
  #position: Position | undefined;
  /** The one before: who had it open when it was moved aside may still write into it. */
  #before: Position | undefined;

  constructor(path: string) {
    this.#path = path;
    const found = statOf(path);
    if (found) this.#position = { file: found.ino, offset: 0 };
  }

  /** Everything that there is, to begin with. */
  first(): LogLine[] {
    const older = this.#path + olderSuffix;
    const aside = statOf(older);
    const isAnother = aside !== undefined && aside.ino !== this.#position?.file;
    return [...read(older, aside, isAnother ? { file: aside.ino, offset: 0 } : undefined), ...this.next()];
  }

  /** What was added since. */
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

/** Whole lines; what is left of one is read when the rest is there. */
function read(path: string, found: Stats | undefined, position: Position | undefined): LogLine[] {
  if (!found || !position || found.ino !== position.file) return [];
  // Somebody has emptied it.
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

/** Undefined when it was taken away in this moment. */
function opened(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if (systemCodeOf(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Until the signal comes. */
export async function* follow(end: LogEnd, signal: AbortSignal): AsyncGenerator<LogLine[]> {
  while (!signal.aborted) {
    const lines = end.next();
    if (lines.length > 0) yield lines;
    else await pause(signal);
  }
}

/** Until it is worth another look, or the signal comes. */
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
