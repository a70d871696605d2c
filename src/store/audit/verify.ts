/** Checks the chain of the audit log. */
import { sha256 } from "../../base/sha256.ts";
import { lineOf, noLine } from "./chain.ts";
import type { AuditLine } from "./event.ts";
import type { AuditLog } from "./log.ts";

interface Verified {
  /** The number of entries up to the first problem. */
  entries: number;
  /** The hash of the last of these. A copy of it elsewhere proves later that nothing before it has changed. */
  sha256: string;
  /** The first problem. Undefined if the chain holds. */
  problem?: string | undefined;
  /** Unusual findings that do not show a change of the log. */
  notes: string[];
  /** Whether the wanted hash was found. Undefined if none was wanted. */
  contains?: boolean | undefined;
}

/** Reads the whole log. `wanted` is the hash of a line that must be part of it. */
export async function verify(log: Pick<AuditLog, "lines" | "lastPlace">, wanted?: string): Promise<Verified> {
  // Lines that others add from here on do not matter.
  const written = await log.lastPlace();
  const notes: string[] = [];
  let entries = 0;
  let hash = noLine;
  let contains = false;
  /** The first entry of a log that was cut. Until an entry records the cut, the entries before it are missing. */
  let first: { entry: number; previous: string; isRecorded: boolean } | undefined;
  const ended = (problem?: string): Verified => ({
    ...(first && !first.isRecorded
      ? { entries: 0, sha256: noLine, problem: `entry 1 is missing: entry ${first.entry} follows entry 0` }
      : { entries, sha256: hash, ...(problem === undefined ? {} : { problem }) }),
    notes,
    ...(wanted === undefined ? {} : { contains }),
  });
  let lastPlace = 0;
  for await (const { place, line: text, sha256: stored } of log.lines()) {
    const line = lineOf(text);
    lastPlace = place;
    if (!line) return ended(`the line after entry ${entries} is not an entry`);
    if (entries === 0 && !first && line.entry > 1) {
      first = { entry: line.entry, previous: line.previous, isRecorded: false };
      entries = line.entry - 1;
      hash = line.previous;
      contains = hash === wanted;
    }
    if (line.entry !== entries + 1)
      return ended(`entry ${entries + 1} is missing: entry ${line.entry} follows entry ${entries}`);
    if (line.previous !== hash) {
      return ended(
        entries === 0 ? "entry 1 does not begin the log" : `entry ${entries} was changed, or entry ${line.entry} was`,
      );
    }
    if (sha256(text) !== stored) return ended(`entry ${line.entry} was changed: it was stored with another hash`);
    if (line.decision === "broken") return ended(`entry ${line.entry} records that ${line.why}`);
    if (first && !first.isRecorded && line.cut?.entry === first.entry - 1 && line.cut.sha256 === first.previous) {
      first.isRecorded = true;
      notes.push(cutNote(line));
    }
    entries = line.entry;
    hash = stored;
    if (hash === wanted) contains = true;
  }
  const missing = written - lastPlace;
  if (missing > 0) return ended(`entries ${entries + 1} to ${entries + missing} are missing`);
  return ended();
}

function cutNote({ entry, at, by, cut, why }: AuditLine): string {
  const day = new Date(at).toISOString().slice(0, 10);
  const before = why === undefined ? "" : `. Before, ${why}`;
  return `entry ${entry} records that ${by.user} has removed the entries up to ${cut?.entry} on ${day}${before}`;
}
