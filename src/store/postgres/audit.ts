/** The lines of the audit log, as rows that are only added: triggers refuse every other change. */
import { chained, cutEndOf, lineOf, logNotWritable } from "../audit/chain.ts";
import type { AuditEvent, Decider } from "../audit/event.ts";
import { audited } from "../audit/heard.ts";
import type { AuditLog, CutEnd, StoredLine } from "../audit/log.ts";
import { maxCutLines } from "../limits.ts";
import type { Connections } from "./connections.ts";
import { jsonOf, type Querying } from "./querying.ts";

/** Rows of a table that are read in one step, if there may be very many. */
const rowsReadAtOnce = 500;

export class PostgresAudit implements AuditLog {
  readonly #connections: Connections;

  constructor(connections: Connections) {
    this.#connections = connections;
  }

  async add(events: readonly AuditEvent[], by: Decider, at: number = Date.now()): Promise<void> {
    await this.#writing((querying) => addEvents(querying, events, by, at));
    audited(events, by, at);
  }

  requireWritable(): Promise<void> {
    return this.#writing(async (querying) => void (await lockedEnd(querying)));
  }

  async cut(before: number, by: Decider, why?: string): Promise<CutEnd | undefined> {
    const end = await this.#writing((querying) => cutLog(querying, before, by, why));
    if (end) audited([end.event], by, Date.now());
    return end;
  }

  async #writing<T>(work: (querying: Querying) => Promise<T>): Promise<T> {
    try {
      return await this.#connections.transaction(work);
    } catch (error) {
      throw logNotWritable(error);
    }
  }

  async *lines(order: "oldest first" | "newest first" = "oldest first"): AsyncIterable<StoredLine> {
    const [isAfter, direction] = order === "oldest first" ? [">", "ASC"] : ["<", "DESC"];
    for (let last: number | null = null; ; ) {
      const rows: StoredLine[] = await this.#connections.each((querying) =>
        querying.all(
          `SELECT place, line, sha256 FROM claudikins.audit WHERE $last::int IS NULL OR place ${isAfter} $last::int
           ORDER BY place ${direction} LIMIT ${rowsReadAtOnce}`,
          { last },
        ),
      );
      yield* rows;
      if (rows.length < rowsReadAtOnce) return;
      last = rows.at(-1)!.place;
    }
  }

  async lastPlace(): Promise<number> {
    const end = await this.#connections.each((querying) =>
      querying.get<{ place: number }>("SELECT place FROM claudikins.audit_end"),
    );
    return end?.place ?? 0;
  }
}

/**
 * Adds events to the log, one line for each, as a part of the caller's transaction. Other writers wait until its end: each line has the hash
 * of the line before it.
 */
export async function addEvents(
  querying: Querying,
  events: readonly AuditEvent[],
  by: Decider,
  at: number,
): Promise<void> {
  if (events.length === 0) return;
  const lastPlace = await lockedEnd(querying);
  const lines = chained(events, by, at, { newest: await newestLines(querying), lastPlace });
  await querying.run(
    `INSERT INTO claudikins.audit (place, line, sha256)
     SELECT $lastPlace::int + number, line->>'line', line->>'sha256'
     FROM json_array_elements($lines::text::json) WITH ORDINALITY AS given (line, number)`,
    { lastPlace, lines: jsonOf(lines) },
  );
  await querying.run("UPDATE claudikins.audit_end SET place = $place", { place: lastPlace + lines.length });
}

/** Removes the oldest lines, as a part of the caller's transaction. Undefined if none is. */
async function cutLog(querying: Querying, before: number, by: Decider, why?: string): Promise<CutEnd | undefined> {
  await lockedEnd(querying);
  const oldest = await querying.all<StoredLine>(
    "SELECT place, line, sha256 FROM claudikins.audit ORDER BY place LIMIT $count::int",
    { count: maxCutLines },
  );
  const end = cutEndOf(oldest, before, why);
  if (!end) return undefined;
  await addEvents(querying, [end.event], by, Date.now());
  await querying.run("ALTER TABLE claudikins.audit DISABLE TRIGGER audit_is_not_changed");
  await querying.run("DELETE FROM claudikins.audit WHERE place <= $place", { place: end.place });
  await querying.run("ALTER TABLE claudikins.audit ENABLE TRIGGER audit_is_not_changed");
  return end;
}

/** The place of the last line. The transactions of all writers get it one after the other. */
async function lockedEnd(querying: Querying): Promise<number> {
  const end = await querying.get<{ place: number }>("SELECT place FROM claudikins.audit_end FOR UPDATE");
  if (!end) throw new Error("its end is missing");
  return end.place;
}

/** The newest lines, back to the last entry. Usually the newest line is one. */
async function newestLines(querying: Querying): Promise<StoredLine[]> {
  for (let count = 1; ; count *= 10) {
    const lines = await querying.all<StoredLine>(
      "SELECT place, line, sha256 FROM claudikins.audit ORDER BY place DESC LIMIT $count::int",
      { count },
    );
    if (lines.length < count || lines.some(({ line }) => lineOf(line))) return lines;
  }
}
