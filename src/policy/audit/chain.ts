/**
 * The chain of the audit log: lines of JSON that are only added. Each line has the hash of the line before it, so that a line that was
 * changed, removed or inserted later is noticed.
 */
import type { Database } from "bun:sqlite";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { isObject, parsedJson } from "../../base/json-object.ts";
import { sha256 } from "../../base/sha256.ts";
import { AuditTable } from "../../store/audit.ts";
import { type AuditEvent, type AuditLine, bounded, type Decider } from "./event.ts";

/** The hash before the first line. */
export const noLine = "0".repeat(64);

/**
 * Adds events to the log, one line for each, as a part of the caller's transaction. Says first if lines at the end were removed or
 * changed. Throws FILE_NOT_WRITABLE.
 */
export function addEvents(
  database: Database,
  events: readonly AuditEvent[],
  by: Decider,
  at: number = Date.now(),
): void {
  if (events.length === 0) return;
  try {
    const table = new AuditTable(database);
    let { entry, hash } = endOf(table);
    for (const event of [...problemsAtEnd(table), ...events]) {
      entry += 1;
      const line: AuditLine = { entry, previous: hash, at, ...bounded(event), by };
      const text = JSON.stringify(line);
      hash = sha256(text);
      table.add(text, hash);
    }
  } catch (cause) {
    throw notWritable(cause);
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

/** The number and the hash of the last entry. Other lines are skipped. */
function endOf(table: AuditTable): { entry: number; hash: string } {
  for (const { line, sha256: hash } of table.lines("newest first")) {
    const entry = lineOf(line)?.entry;
    if (entry !== undefined) return { entry, hash };
  }
  return { entry: 0, hash: noLine };
}

/** Events that say which damage the end of the log has. */
function problemsAtEnd(table: AuditTable): AuditEvent[] {
  const last = table.last();
  const place = last?.place ?? 0;
  const { lastPlace } = table;
  const problems: AuditEvent[] = [];
  if (last && sha256(last.line) !== last.sha256) {
    problems.push({ decision: "broken", why: `the entry before was changed: its hash was ${last.sha256}` });
  }
  if (lastPlace > place) {
    problems.push({ decision: "broken", why: `entries before it were removed: ${lastPlace - place}` });
  }
  return problems;
}

export function notWritable(cause: unknown): ClaudikinsError {
  if (cause instanceof ClaudikinsError) return cause;
  // The message has no path, because code in the sandbox may read it.
  return new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write to the audit log: ${messageOf(cause)}`, {
    hint: "Check that claudikins can write to its data folder.",
    cause,
  });
}
