/**
 * The audit log: lines of JSON that are only appended, in files that only their user can read. Each line has the hash of the line
 * before it, also across files, so that a line that was changed, removed or inserted later is noticed.
 */

import { chmodSync, existsSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { ClaudikinsError, messageOf } from "../../base/errors.ts";
import { withLock } from "../../base/lock.ts";
import { sha256 } from "../../base/sha256.ts";
import { auditLockMs, maxAuditFileBytes } from "../limits.ts";
import { type AuditEvent, type AuditLine, bounded, type Decider } from "./event.ts";
import {
  appendSafely,
  endOfFile,
  fileName,
  fileNames,
  headName,
  lineOf,
  lockName,
  noLine,
  readHead,
  writeHead,
} from "./files.ts";

/** Writes an event, or several at once, which costs as much as one. The lines are on the disk when it returns. */
export type Write = (events: AuditEvent | readonly AuditEvent[], by: Decider, at?: number) => void;

/**
 * Runs `work`, which may write events, while no other process writes to the log. Throws FILE_NOT_WRITABLE, CALL_TIMEOUT, and
 * errors of `work`.
 */
export function auditing<T>(folder: string, work: (write: Write) => T): Promise<T> {
  const write: Write = (events, by, at = Date.now()) => append(folder, [events].flat(), by, at);
  return withLock(join(folder, lockName), "the audit log", () => work(write), auditLockMs);
}

/** Throws FILE_NOT_WRITABLE if nothing could be recorded. For work that other programs do, and that is recorded when they have ended. */
export async function requireLog(folder: string): Promise<void> {
  await auditing(folder, () => guarded(() => appendSafely(join(folder, endOf(folder).file), "")));
}

function append(folder: string, events: readonly AuditEvent[], by: Decider, at: number): void {
  guarded(() => {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const end = endOf(folder);
    let { entry, hash } = end;
    // Without a line, there is nothing that a missing head could hide. From now on, its absence means something.
    if (hash === noLine && !existsSync(join(folder, headName))) writeHead(folder, { entry, sha256: hash });
    const lines = [...end.problems, ...events].map((each) => {
      entry += 1;
      const line: AuditLine = { entry, previous: hash, at, ...bounded(each), by };
      const text = JSON.stringify(line);
      hash = sha256(text);
      return `${text}\n`;
    });
    const file = join(folder, end.file);
    appendSafely(file, `${end.isTorn ? "\n" : ""}${lines.join("")}`);
    if (process.platform !== "win32") chmodSync(file, 0o600);
    writeHead(folder, { entry, sha256: hash });
  });
}

function guarded(work: () => void): void {
  try {
    work();
  } catch (cause) {
    // The message has no path, because code in the sandbox may read it.
    throw new ClaudikinsError("FILE_NOT_WRITABLE", `Cannot write to the audit log: ${messageOf(cause)}`, {
      hint: "Check that claudikins can write to its data folder.",
      cause,
    });
  }
}

interface End {
  /** The file that the next line belongs to. */
  file: string;
  /** The number and the hash of the last line. */
  entry: number;
  hash: string;
  /** Whether the file ends within a line. */
  isTorn: boolean;
  /** Events that say what is wrong with the end. */
  problems: AuditEvent[];
}

function endOf(folder: string): End {
  const names = fileNames(folder);
  const last = names.at(-1) ?? fileName(1);
  const isFull = existsSync(join(folder, last)) && statSync(join(folder, last)).size >= maxAuditFileBytes;
  const file = isFull ? fileName(Number.parseInt(last, 10) + 1) : last;
  const { line, torn } = lastLineOf(folder, names);
  const whole = line === undefined ? undefined : lineOf(line);
  const head = readHead(folder);
  const hash = line === undefined ? noLine : sha256(line);
  const entry = whole?.entry ?? 0;
  const problems: AuditEvent[] = [];
  if (torn !== "") problems.push({ decision: "recovered", torn: sha256(torn) });
  // A head that is one line behind is that of a process that ended just after it wrote the line.
  const isLost = head !== undefined && (head.entry > entry || (head.entry === entry && head.sha256 !== hash));
  if (isLost) {
    problems.push({
      decision: "broken",
      why: `entry ${head.entry} with the hash ${head.sha256} was written, and is missing`,
    });
  }
  if (head === undefined && line !== undefined) {
    const why = `${headName} was missing or damaged, so that entries after entry ${entry} may be missing too`;
    problems.push({ decision: "broken", why });
  }
  // A torn line belongs to its file, and so does the line after it.
  return { file: torn === "" ? file : last, entry, hash, isTorn: torn !== "", problems };
}

/** The last whole line of the log, and what follows it. */
function lastLineOf(folder: string, names: readonly string[]): { line: string | undefined; torn: string } {
  let torn = "";
  for (const name of names.toReversed()) {
    const end = endOfFile(join(folder, name));
    if (torn === "") torn = end.torn;
    if (end.line !== undefined) return { line: end.line, torn };
  }
  return { line: undefined, torn };
}
