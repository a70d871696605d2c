/** The lines of the audit log, as rows that are only added: triggers refuse every other change. */
import { eventLoopTurn } from "../../base/event-loop.ts";
import { maxCutLines } from "../limits.ts";
import { all, type Database, first, run, type Work } from "../work.ts";
import { chained, cutEndOf, lineOf, logNotWritable } from "./chain.ts";
import type { AuditEvent, Decider } from "./event.ts";
import { audited } from "./heard.ts";
import type { AuditLog, CutEnd, StoredLine } from "./log.ts";

/** Lines that are read in one step: there may be very many. */
const linesReadAtOnce = 500;

const columns = "place, line, sha256";

/** Statements for the trigger that refuses to remove lines: a cut of the log is made without it. */
export interface Protection {
  off: string;
  on: string;
}

/** What \`database\` has written must survive a loss of power. */
export function auditLog(database: Database, protection: Protection): AuditLog {
  const write = async <T>(work: () => Work<T>): Promise<T> => {
    try {
      return await database.write(work);
    } catch (error) {
      throw logNotWritable(error);
    }
  };
  return {
    async add(events, by, at = Date.now()) {
      await write(() => addEvents(events, by, at));
      audited(events, by, at);
    },
    requireWritable: async () => void (await write(lockEnd)),
    async cut(before, by, why) {
      const end = await write(() => cutLog({ before, by, why }, protection));
      if (end) audited([end.event], by, Date.now());
      return end;
    },
    async *lines(order = "oldest first") {
      const [isAfter, direction] = order === "oldest first" ? [">", "ASC"] : ["<", "DESC"];
      for (let last: number | undefined; ; ) {
        const from = last === undefined ? "" : `WHERE place ${isAfter} CAST($last AS INTEGER)`;
        const part = `SELECT ${columns} FROM claudikins.audit ${from} ORDER BY place ${direction} LIMIT ${linesReadAtOnce}`;
        const rows: StoredLine[] = await database.read(() => all<StoredLine>(part, { last }));
        yield* rows;
        if (rows.length < linesReadAtOnce) return;
        // SQLite answers at once, so nothing else would run until the end of a long log.
        await eventLoopTurn();
        last = rows.at(-1)!.place;
      }
    },
    async lastPlace() {
      const end = await database.read(() => first<{ place: number }>("SELECT place FROM claudikins.audit_end"));
      return end?.place ?? 0;
    },
  };
}

/**
 * Adds events to the log, one line for each, as a part of the caller's transaction. Other writers wait until its end: each line has the hash
 * of the line before it.
 */
export function* addEvents(events: readonly AuditEvent[], by: Decider, at: number): Work<void> {
  if (events.length === 0) return;
  const lastPlace = yield* lockEnd();
  const newest = yield* newestLines();
  const lines = chained(events, by, at, { newest, lastPlace });
  // Somebody who has added a line without the log has not noted its place.
  const from = Math.max(lastPlace, newest[0]?.place ?? 0);
  yield* run(
    `INSERT INTO claudikins.audit (${columns})
     SELECT CAST(value->>'place' AS INTEGER), value->>'line', value->>'sha256' FROM each($rows)`,
    { rows: lines.map((line, index) => ({ place: from + index + 1, ...line })) },
  );
  yield* run("UPDATE claudikins.audit_end SET place = $place", { place: from + lines.length });
}

/** Removes the oldest lines. Undefined if none is. */
function* cutLog(
  { before, by, why }: { before: number; by: Decider; why: string | undefined },
  protection: Protection,
): Work<CutEnd | undefined> {
  yield* lockEnd();
  const oldest = yield* all<StoredLine>(
    `SELECT ${columns} FROM claudikins.audit ORDER BY place LIMIT CAST($count AS INTEGER)`,
    { count: maxCutLines },
  );
  const end = cutEndOf(oldest, before, why);
  if (!end) return undefined;
  yield* addEvents([end.event], by, Date.now());
  yield* run(protection.off);
  yield* run("DELETE FROM claudikins.audit WHERE place <= $place", { place: end.place });
  yield* run(protection.on);
  return end;
}

/** The place of the last line that was ever written. The transactions of all writers get it one after the other. */
function* lockEnd(): Work<number> {
  const end = yield* first<{ place: number }>("SELECT place FROM claudikins.audit_end FOR UPDATE");
  if (!end) throw new Error("its end is missing");
  return end.place;
}

/** The newest lines, back to the last entry. Usually the newest line is one. */
function* newestLines(): Work<StoredLine[]> {
  for (let count = 1; ; count *= 10) {
    const newest = `SELECT ${columns} FROM claudikins.audit ORDER BY place DESC LIMIT CAST($count AS INTEGER)`;
    const lines = yield* all<StoredLine>(newest, { count });
    if (lines.length < count || lines.some(({ line }) => lineOf(line))) return lines;
  }
}
