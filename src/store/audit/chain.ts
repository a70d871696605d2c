/**
 * The chain of the audit log: lines of JSON that are only added. Each line has the hash of the line before it, so that a line that was
 * changed, removed or inserted later is noticed.
 */
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import { type AuditEvent, type AuditLine, bounded, type Decider } from "./event.ts";
import type { CutEnd, StoredLine } from "./log.ts";

/** The hash before the first line. */
export const noLine = "0".repeat(64);

/** The end of the log, to which lines are added. */
export interface LogEnd {
  /** The stored lines, newest first. Only those after the last entry are read, and that entry. */
  newest: Iterable<StoredLine>;
  /** The place of the last line that was ever written. */
  lastPlace: number;
}

type NewLine = Pick<StoredLine, "line" | "sha256">;

/** The lines for events. The first ones say if lines at the end were removed or changed. Empty without events. */
export function chained(events: readonly AuditEvent[], by: Decider, at: number, end: LogEnd): NewLine[] {
  if (events.length === 0) return [];
  let { entry, hash, last } = lastEntry(end.newest);
  return [...problemsAtEnd(last, end.lastPlace), ...events].map((event) => {
    entry += 1;
    const line: AuditLine = { entry, previous: hash, at, ...bounded(event), by };
    const text = JSON.stringify(line);
    hash = sha256(text);
    return { line: text, sha256: hash };
  });
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

/** The number and the hash of the last entry, and the last line. Lines that are not entries are skipped. */
function lastEntry(newest: Iterable<StoredLine>): { entry: number; hash: string; last: StoredLine | undefined } {
  let last: StoredLine | undefined;
  for (const each of newest) {
    last ??= each;
    const entry = lineOf(each.line)?.entry;
    if (entry !== undefined) return { entry, hash: each.sha256, last };
  }
  return { entry: 0, hash: noLine, last };
}

/** Events that say which damage the end of the log has. */
function problemsAtEnd(last: StoredLine | undefined, lastPlace: number): AuditEvent[] {
  const place = last?.place ?? 0;
  const problems: AuditEvent[] = [];
  if (last && sha256(last.line) !== last.sha256) {
    problems.push({ decision: "broken", why: `the entry before was changed: its hash was ${last.sha256}` });
  }
  if (lastPlace > place) {
    problems.push({ decision: "broken", why: `entries before it were removed: ${lastPlace - place}` });
  }
  return problems;
}

/** The part of the oldest lines, given oldest first, that was written before a time. Undefined if no entry was. */
export function cutEndOf(oldest: Iterable<StoredLine>, before: number, why?: string): CutEnd | undefined {
  let end: CutEnd | undefined;
  let lines = 0;
  for (const { place, line, sha256: hash } of oldest) {
    lines += 1;
    const entry = lineOf(line);
    if (entry && entry.at >= before) break;
    if (!entry) continue;
    const event: AuditEvent = { decision: "cut", cut: { entry: entry.entry, sha256: hash }, ...(why ? { why } : {}) };
    end = { place, lines, event };
  }
  return end;
}

/** The error of a change that needs a line in the log. */
export function logNotWritable(cause: unknown): ClaudikinsError {
  if (cause instanceof ClaudikinsError) return cause;
  // The message has no path, because code in the sandbox may read it.
  return new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write to the audit log: ${messageOf(cause)}`, {
    hint: "Check that claudikins can write to its data folder.",
    cause,
  });
}
