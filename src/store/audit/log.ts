/** The audit log of the store: lines that are only added, and never changed or removed. Each has the hash of the line before it. */
import type { AuditEvent, Decider } from "./event.ts";

/** The end of a part that is cut from the log. */
export interface CutEnd {
  /** The place of the last line of the part. */
  place: number;
  /** The number of lines. */
  lines: number;
  event: AuditEvent;
}

export interface StoredLine {
  /** Places count from 1. */
  place: number;
  /** JSON. */
  line: string;
  /** The SHA-256 of the line when it was written, as hexadecimal. */
  sha256: string;
}

export interface AuditLog {
  /** Adds a line for each event. `at` is in milliseconds since 1970; without it, the time is now. Throws FILE_NOT_WRITABLE. */
  add(events: readonly AuditEvent[], by: Decider, at?: number): Promise<void>;
  /** Throws FILE_NOT_WRITABLE if no event could be added now. */
  requireWritable(): Promise<void>;
  /**
   * Removes the oldest lines until one whose entry was written at `before` or later, at most `maxCutLines`, and adds a line that says so. `why`
   * is what else this line says. Returns undefined if nothing was removed. Throws FILE_NOT_WRITABLE.
   */
  cut(before: number, by: Decider, why?: string): Promise<CutEnd | undefined>;
  /** All lines, read while they are asked for. */
  lines(order?: "oldest first" | "newest first"): AsyncIterable<StoredLine>;
  /** The place of the last line that was ever written, also if that line is missing. Zero if none was. */
  lastPlace(): Promise<number>;
}
